// XXH3 as compiled into the file that includes this, for the instructions that file may use; so nothing here may be seen by
// the linker.
#pragma once

// Where XXH3 fetches ahead of its own small buffer, nothing is read behind it; compilers see an index too large.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
#define XXH_INLINE_ALL
#define XXH_PREFETCH_DIST 2048  // bytes; with AVX2 a fifth faster on data from memory than its own 384
#include <stddef.h>             // NOLINT(modernize-deprecated-headers): C alone, see checksum_avx2.cpp
#include <xxhash.h>

// Told a part [begin, end) of the bytes.
using FenchelLook = void (*)(void* context, size_t begin, size_t end);

// The checksum of all bytes; every piece is shown, unless `look` is null, right after it was summed up.
static inline XXH64_hash_t fenchel_xxh3(const void* bytes, size_t count, FenchelLook look, void* context) {
  if (look == nullptr) return XXH3_64bits(bytes, count);
  constexpr size_t in_a_piece = 4096;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (size_t begin = 0; begin < count; begin += in_a_piece) {
    const size_t end = count - begin < in_a_piece ? count : begin + in_a_piece;
    XXH3_64bits_update(&state, static_cast<const char*>(bytes) + begin, end - begin);
    look(context, begin, end);
  }
  return XXH3_64bits_digest(&state);
}
#pragma GCC diagnostic pop
