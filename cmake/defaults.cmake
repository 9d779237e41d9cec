# How everything is compiled unless the caller says otherwise.

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CCACHE ccache)
  if(CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  endif()
endif()

# Certificates rest on IEEE arithmetic, and the same seed must give the same bits with every compiler: never
# -ffast-math, and no fusing of a*b + c behind our back.
set(FENCHEL_ARITHMETIC -ffp-contract=off)
if(FENCHEL_NATIVE)
  list(APPEND FENCHEL_ARITHMETIC -march=native)
endif()
