# Defines xxHash::xxhash, the name that upstream's package uses.
include(${CMAKE_CURRENT_LIST_DIR}/find_plain_library.cmake)
find_plain_library(xxHash xxHash::xxhash xxhash.h xxhash)
