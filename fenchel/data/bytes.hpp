// 64 bytes at once, compared with one character: a bit for each, the first byte's the lowest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace fenchel::data {

#ifdef __SSE2__

// What every 64-bit x86 processor has.
class Bytes64 {
 public:
  static constexpr std::size_t size = 64;

  explicit Bytes64(const char* at) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * i));
    }
  }
  [[nodiscard]] std::uint64_t equal_to(char c) const {
    const __m128i wanted = _mm_set1_epi8(c);
    return bits([&](__m128i part) { return _mm_cmpeq_epi8(part, wanted); });
  }
  // As unsigned numbers.
  [[nodiscard]] std::uint64_t at_most(char c) const {
    const __m128i most = _mm_set1_epi8(c);
    return bits([&](__m128i part) { return _mm_cmpeq_epi8(_mm_min_epu8(part, most), part); });
  }

 private:
  struct Part {
    __m128i bytes;
  };

  template <class Test>
  [[nodiscard]] std::uint64_t bits(Test&& test) const {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto some = static_cast<std::uint32_t>(_mm_movemask_epi8(test(parts_[i].bytes)));
      result |= std::uint64_t{some} << (16 * i);
    }
    return result;
  }

  std::array<Part, 4> parts_;
};

#else

class Bytes64 {
 public:
  static constexpr std::size_t size = 64;

  explicit Bytes64(const char* at) : at_(at) {}
  [[nodiscard]] std::uint64_t equal_to(char c) const {
    return bits([&](unsigned char byte) { return byte == static_cast<unsigned char>(c); });
  }
  [[nodiscard]] std::uint64_t at_most(char c) const {
    return bits([&](unsigned char byte) { return byte <= static_cast<unsigned char>(c); });
  }

 private:
  template <class Test>
  [[nodiscard]] std::uint64_t bits(Test&& test) const {
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < size; ++i) {
      result |= std::uint64_t{test(static_cast<unsigned char>(at_[i]))} << i;
    }
    return result;
  }

  const char* at_;
};

#endif

}  // namespace fenchel::data
