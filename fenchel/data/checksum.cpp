#include "fenchel/data/checksum.hpp"

#include "fenchel/base/processor.hpp"
// Compiled in, XXH3 is about twice as fast as a call of a library that was built for the oldest processors.
#include "fenchel/data/checksum_kernel.hpp"

#if defined(__x86_64__)
extern "C" XXH64_hash_t fenchel_checksum_avx2(const void* bytes, std::size_t count, FenchelLook look,
                                              void* context);
#endif

namespace fenchel::data {

namespace {

std::uint64_t xxh3(std::span<const std::byte> bytes, FenchelLook look, void* context) {
#if defined(__x86_64__)
  if (has_avx2()) return fenchel_checksum_avx2(bytes.data(), bytes.size(), look, context);
#endif
  return fenchel_xxh3(bytes.data(), bytes.size(), look, context);
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) { return xxh3(bytes, nullptr, nullptr); }

std::uint64_t checksum(std::span<const std::byte> bytes, Look look) {
  const auto show = [](void* context, std::size_t begin, std::size_t end) {
    (*static_cast<Look*>(context))(begin, end);
  };
  return xxh3(bytes, show, &look);
}

}  // namespace fenchel::data
