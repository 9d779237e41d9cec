# All tests run under ctest. Labels: `unit` (C++, one binary), `script` (Python), `install`, and `full` for what is
# too long for every day.

find_package(GTest REQUIRED)
include(GoogleTest)

# --- C++: tests/<room>/*_test.cpp, helpers in tests/support/ ---
file(GLOB_RECURSE all_unit_sources CONFIGURE_DEPENDS tests/*_test.cpp)
set(unit_sources ${all_unit_sources})
set(FENCHEL_TESTS_MATCHING "" CACHE STRING "Build only the C++ test files that contain this word; empty: all")
set(FENCHEL_TESTS_IN "" CACHE STRING "Build only the C++ tests of these rooms, as a regular expression; empty: all")
if(FENCHEL_TESTS_IN)
  list(FILTER unit_sources INCLUDE REGEX "/tests/(${FENCHEL_TESTS_IN})/")
endif()
if(FENCHEL_TESTS_MATCHING)
  foreach(source IN LISTS unit_sources)
    file(STRINGS ${source} hits REGEX ${FENCHEL_TESTS_MATCHING} LIMIT_COUNT 1)
    if(NOT hits)
      list(REMOVE_ITEM unit_sources ${source})
    endif()
  endforeach()
endif()
add_executable(fenchel_tests ${unit_sources})
target_include_directories(fenchel_tests PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(fenchel_tests PRIVATE FENCHEL_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden")
target_link_libraries(fenchel_tests PRIVATE fenchel fenchel_warnings GTest::gtest_main)
if(FENCHEL_PRECOMPILE)
  # Most tests state a problem and ask solvers: what that takes of our own headers is parsed once, too.
  target_precompile_headers(fenchel_tests PRIVATE <gtest/gtest.h> <filesystem> <fstream> <sstream> ${FENCHEL_SLOW_HEADERS}
    tests/support/golden.hpp tests/support/setup.hpp fenchel/registry/fit.hpp fenchel/registry/solvers.hpp)
endif()
# Tests are compiled more often than they run. What the headers have every file instantiate takes most of the time: two
# dozen files share it, and must use different names for their helpers; the tests of file formats, whose helpers have the same
# ones, have a namespace each, and share apart. Who shares does not depend on the selection above: names that do not clash
# among all tests do not clash in a part of them.
target_compile_options(fenchel_tests PRIVATE -O0)
set_target_properties(fenchel_tests PROPERTIES UNITY_BUILD_MODE GROUP)
file(GLOB format_sources CONFIGURE_DEPENDS tests/data/*_test.cpp)
list(FILTER format_sources INCLUDE REGEX "/(csv|list|matrix_market|npy|reader|scales|summary|svmlight)[a-z_]*_test")
list(REMOVE_ITEM all_unit_sources ${format_sources})
function(share name size)
  set(place 0)
  foreach(source IN LISTS ARGN)
    math(EXPR group "${place} / ${size}")
    math(EXPR place "${place} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
endfunction()
share(tests 24 ${all_unit_sources})
share(formats 5 ${format_sources})

# Test suites whose name ends in `Slow` wait for a full run and never run sanitized. Discovery at test time keeps the
# build from running what it builds.
set(discovery WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
set(FENCHEL_TEST_SHARDS 0 CACHE STRING "Run the C++ tests in so many processes; 0: one a test, which is slow to start sanitized")
set(FENCHEL_TESTS_WITHOUT "" CACHE STRING "Patterns of C++ tests, with colons between them, that shards leave out")
if(FENCHEL_TEST_SHARDS)
  math(EXPR last_shard "${FENCHEL_TEST_SHARDS} - 1")
  foreach(shard RANGE ${last_shard})
    add_test(NAME unit_shard_${shard} COMMAND fenchel_tests "--gtest_filter=-*Slow.*:${FENCHEL_TESTS_WITHOUT}" --gtest_brief=1
      WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(unit_shard_${shard} PROPERTIES LABELS unit COST 100 TIMEOUT 1200
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${FENCHEL_TEST_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
else()
  gtest_discover_tests(fenchel_tests ${discovery} TEST_FILTER "-*Slow.*" PROPERTIES LABELS unit TIMEOUT 300)
  gtest_discover_tests(fenchel_tests ${discovery} TEST_FILTER "*Slow.*" PROPERTIES LABELS full TIMEOUT 1800)
endif()

# --- Python: every tests/*/test_*.py is one test; exit code 77 says "skipped" ---
# The system's interpreter first: that is where the packages of `./dev setup` go.
find_program(FENCHEL_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(FENCHEL_PYTHON python3 REQUIRED)
file(GLOB scripts CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} tests/*/test_*.py)
foreach(script IN LISTS scripts)
  string(REGEX REPLACE "^tests/(.*)\\.py$" "\\1" name ${script})
  add_test(NAME ${name} COMMAND ${FENCHEL_PYTHON} tests/run_script.py ${script} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(environment FENCHEL_SOURCE_DIR=${PROJECT_SOURCE_DIR} PYTHONDONTWRITEBYTECODE=1)
  if(TARGET fenchel_cli)
    list(APPEND environment FENCHEL_CLI=$<TARGET_FILE:fenchel_cli>)
  endif()
  set(labels script)
  set(timeout 600)
  if(name MATCHES "_full$")
    list(APPEND labels full)
    set(timeout 7200)
  endif()
  # COST: the longest start first, so that no core waits for them in the end.
  set_tests_properties(${name} PROPERTIES COST 100
    ENVIRONMENT "${environment}" LABELS "${labels}" SKIP_RETURN_CODE 77 TIMEOUT ${timeout})
endforeach()

add_test(NAME ladder COMMAND ${FENCHEL_PYTHON} tools/check_ladder.py WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(ladder PROPERTIES LABELS script)

# --- The installed tree, used by a stranger ---
add_test(NAME consumer COMMAND ${CMAKE_COMMAND}
  -D build=${PROJECT_BINARY_DIR} -D compiler=${CMAKE_CXX_COMPILER} -D generator=${CMAKE_GENERATOR}
  -P ${PROJECT_SOURCE_DIR}/tests/consumer/check.cmake)
set_tests_properties(consumer PROPERTIES LABELS install TIMEOUT 300 COST 100)
