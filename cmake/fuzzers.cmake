# Every tests/fuzz/NAME.cpp is a libFuzzer target `fuzz_NAME` and a test that runs it for FENCHEL_FUZZ_SECONDS.
# What it learns stays in the build tree; tests/fuzz/corpus/NAME/ holds the inputs it starts from, if any.

if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  message(FATAL_ERROR "fuzzers need clang++: use `cmake --preset asan`")
endif()
set(FENCHEL_FUZZ_SECONDS 10 CACHE STRING "How long a test run fuzzes each target")
math(EXPR timeout "${FENCHEL_FUZZ_SECONDS} + 120")

file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*.cpp)
add_custom_target(fuzzers)
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM name)
  string(REGEX REPLACE "^fuzz_|_fuzz$" "" name ${name})
  add_executable(fuzz_${name} ${source})
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fuzz_${name} PRIVATE fenchel fenchel_warnings)
  add_dependencies(fuzzers fuzz_${name})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)

  set(corpus ${PROJECT_BINARY_DIR}/corpus/${name})
  file(MAKE_DIRECTORY ${corpus} ${PROJECT_BINARY_DIR}/crashes ${PROJECT_BINARY_DIR}/fuzz-logs)
  set(seeds ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(NOT IS_DIRECTORY ${seeds})
    set(seeds)
  endif()
  # What it says goes into a log, from which bench/data.py takes the number of executions.
  set(log ${PROJECT_BINARY_DIR}/fuzz-logs/${name}.log)
  add_test(NAME fuzz_${name} COMMAND sh -c "\"$0\" \"$@\" >${log} 2>&1 || { cat ${log}; exit 1; }"
    $<TARGET_FILE:fuzz_${name}> ${corpus} ${seeds}
    -max_total_time=${FENCHEL_FUZZ_SECONDS} -timeout=20 -print_final_stats=1
    -artifact_prefix=${PROJECT_BINARY_DIR}/crashes/${name}-)
  set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT ${timeout})
endforeach()
