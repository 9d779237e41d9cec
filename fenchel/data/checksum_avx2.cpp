// XXH3 once more, for processors with AVX2. Nothing but C may be included here: what the compiler emits for an inline
// function of C++ might be the copy that the linker keeps for everybody.
#ifdef __AVX2__
#define XXH_INLINE_ALL
#define XXH_PREFETCH_DIST 2048  // bytes; a fifth faster on data from memory than its own 384
#include <xxhash.h>

extern "C" XXH64_hash_t fenchel_checksum_avx2(const void* bytes, size_t count) { return XXH3_64bits(bytes, count); }
#endif
