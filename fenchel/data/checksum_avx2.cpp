// XXH3 once more, for processors with AVX2. Nothing but C may be included here: what the compiler emits for an inline
// function of C++ might be the copy that the linker keeps for everybody.
#ifdef __AVX2__
#include "fenchel/data/checksum_kernel.hpp"

extern "C" XXH64_hash_t fenchel_checksum_avx2(const void* bytes, size_t count, FenchelLook look, void* context) {
  return fenchel_xxh3(bytes, count, look, context);
}
#endif
