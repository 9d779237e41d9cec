// The checksum of the binary data format: XXH3 with 64 bits and without a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fenchel/base/parallel.hpp"

namespace fenchel::data {

// Is told a part [begin, end) of what is summed up.
using Look = FunctionRef<void(std::size_t begin, std::size_t end)>;

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);
// The same, in pieces of a few kilobytes that are looked at in turn while they are at hand: checks of a piece run while the
// memory brings the next one.
[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes, Look look);

template <class T>
[[nodiscard]] std::uint64_t checksum_of(std::span<const T> numbers) {
  return checksum(std::as_bytes(numbers));
}
// `look` is told numbers, not bytes.
template <class T, class LookAtNumbers>
[[nodiscard]] std::uint64_t checksum_of(std::span<const T> numbers, LookAtNumbers look) {
  static_assert(4096 % sizeof(T) == 0);  // pieces hold whole numbers
  return checksum(std::as_bytes(numbers),
                  [&](std::size_t begin, std::size_t end) { look(begin / sizeof(T), end / sizeof(T)); });
}

}  // namespace fenchel::data
