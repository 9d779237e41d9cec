# Installs a build into a fresh prefix, then builds and runs the consumer through find_package and through pkg-config.
#   cmake -D build=DIR -D compiler=CXX -D generator=NAME -P check.cmake

set(source ${CMAKE_CURRENT_LIST_DIR})
set(scratch ${build}/consumer)
set(prefix ${scratch}/prefix)
file(REMOVE_RECURSE ${scratch})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})

# Through find_package.
run(${CMAKE_COMMAND} -S ${source} -B ${scratch}/cmake -G ${generator}
    -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${scratch}/cmake)
run(${scratch}/cmake/consumer)

# Through pkg-config.
file(GLOB_RECURSE pc ${prefix}/fenchel.pc)
cmake_path(GET pc PARENT_PATH pc_dir)
set(ENV{PKG_CONFIG_PATH} ${pc_dir}:$ENV{PKG_CONFIG_PATH})
execute_process(COMMAND pkg-config --cflags --libs fenchel
  OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${compiler} -std=c++20 ${source}/main.cpp -o ${scratch}/through-pkg-config ${flags})
run(${scratch}/through-pkg-config)

if(EXISTS ${build}/fenchel)
  run(${prefix}/bin/fenchel --version)
endif()
