# One set that g++ and clang++ both know, so that clang-tidy can read g++'s compile commands.

add_library(fenchel_warnings INTERFACE)
target_compile_options(fenchel_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Wunused
  -Woverloaded-virtual
  $<$<BOOL:${FENCHEL_WERROR}>:-Werror>)
