#include "fenchel/data/checksum.hpp"

// Compiled in, XXH3 is about twice as fast as a call of a library that was built for the oldest processors.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fenchel::data {

std::uint64_t checksum(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace fenchel::data
