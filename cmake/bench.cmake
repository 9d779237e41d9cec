# Programs that the scripts in bench/ run to measure inside a process: every bench/NAME.cpp is one.

add_custom_target(bench_programs DEPENDS fenchel_cli)  # all that a script needs
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.cpp)
foreach(source IN LISTS bench_sources)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE fenchel fenchel_warnings)
  add_dependencies(bench_programs ${name})
endforeach()

# It takes the options of `fenchel train`.
target_sources(fit_probe PRIVATE cli/arguments.cpp cli/choices.cpp cli/options.cpp)
target_link_libraries(fit_probe PRIVATE CLI11::CLI11)

find_library(liblinear linear REQUIRED)
target_link_libraries(liblinear_probe PRIVATE ${liblinear})
