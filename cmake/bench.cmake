# Micro-benchmarks: bench/*_bench.cpp in one binary.

find_package(benchmark REQUIRED)
file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS bench/*_bench.cpp)
if(bench_sources)
  add_executable(fenchel_bench ${bench_sources})
  target_include_directories(fenchel_bench PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fenchel_bench PRIVATE fenchel fenchel_warnings benchmark::benchmark_main)
endif()
