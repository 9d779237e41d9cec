// The checksum of the binary data format: XXH3 with 64 bits and without a seed.
#pragma once

#include <cstdint>
#include <span>

namespace fenchel::data {

[[nodiscard]] std::uint64_t checksum(std::span<const std::byte> bytes);

template <class T>
[[nodiscard]] std::uint64_t checksum_of(std::span<const T> numbers) {
  return checksum(std::as_bytes(numbers));
}

}  // namespace fenchel::data
