# Programs that the scripts in bench/ run to measure inside a process: every bench/NAME.cpp is one.

file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.cpp)
foreach(source IN LISTS bench_sources)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE fenchel fenchel_warnings)
endforeach()
