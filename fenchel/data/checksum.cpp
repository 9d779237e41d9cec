#include "fenchel/data/checksum.hpp"

#include "fenchel/base/processor.hpp"

// Compiled in, XXH3 is about twice as fast as a call of a library that was built for the oldest processors.
#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined(__x86_64__)
extern "C" XXH64_hash_t fenchel_checksum_avx2(const void* bytes, std::size_t count);
#endif

namespace fenchel::data {

std::uint64_t checksum(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  if (has_avx2()) return fenchel_checksum_avx2(bytes.data(), bytes.size());
#endif
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace fenchel::data
