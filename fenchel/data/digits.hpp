// Decimal digits eight at a time, for text that may be read eight bytes beyond where one stands.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fenchel::data {

// Eight characters, the first one in the lowest byte, with '0' ... '9' turned into 0 ... 9.
class EightDigits {
 public:
  // However many there are, from the first on.
  explicit EightDigits(const char* at)
      : digits_(load(at)), count_(static_cast<std::size_t>(std::countr_zero(strange())) / 8) {
    if (count_ > 0) digits_ <<= 64 - 8 * count_;  // zeros in front
  }
  // The first `count`, which is 1 ... 8, whether they are digits or not.
  EightDigits(const char* at, std::size_t count) : digits_(load(at) << (64 - 8 * count)), count_(count) {}

  [[nodiscard]] std::size_t count() const { return count_; }
  // The high bit of bytes that are no digits. A carry can only spoil bytes behind the first of them, so that it is
  // right about the first, and about whether there are any.
  [[nodiscard]] std::uint64_t strange() const {
    return ((digits_ + 0x7676767676767676) | digits_) & 0x8080808080808080;
  }
  // The number that the digits are.
  [[nodiscard]] std::uint64_t number() const {
    const std::uint64_t d = digits_ * 10 + (digits_ >> 8);  // pairs, in every other byte
    constexpr std::uint64_t mask = 0x000000FF000000FF;
    return ((d & mask) * 0x000F424000000064 + ((d >> 16) & mask) * 0x0000271000000001) >> 32;
  }

 private:
  static std::uint64_t load(const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    return word ^ 0x3030303030303030;
  }

  std::uint64_t digits_;
  std::size_t count_;
};

inline constexpr std::array<double, 17> powers_of_ten{1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                                      1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};
inline constexpr std::array<std::uint64_t, 9> integer_powers_of_ten{1,      10,      100,      1000,     10000,
                                                                    100000, 1000000, 10000000, 100000000};

struct QuickNumber {
  double value = 0.0;
  const char* end = nullptr;  // null: not of the simple form, ask parse_number
};

// A number of the form [-]DDD[.ddd] with at most 7 digits before and 15 behind the point and no exponent, rounded
// correctly: an integer and a power of ten that are both exact in a double have a quotient that is rounded once.
inline QuickNumber quick_number(const char* at) {
  const bool negative = *at == '-';
  at += negative ? 1 : 0;
  const EightDigits whole(at);
  if (whole.count() - 1 > 6) return {};  // none (wraps around), or eight and perhaps more
  std::uint64_t mantissa = whole.number();
  at += whole.count();
  std::size_t places = 0;
  if (*at == '.') {
    const EightDigits front(at + 1);
    if (front.count() == 0) return {};
    places = front.count();
    mantissa = mantissa * integer_powers_of_ten[places] + front.number();
    at += 1 + places;
    if (places == 8) {
      const EightDigits back(at);
      if (back.count() == 8) return {};
      if (back.count() > 0) {
        mantissa = mantissa * integer_powers_of_ten[back.count()] + back.number();
        places += back.count();
        at += back.count();
        // Up to 7 + 15 digits: the product may even have wrapped around.
        if (whole.count() + places > 19 || mantissa > (std::uint64_t{1} << 53)) return {};
      }
    }
  }
  if ((*at | 0x20) == 'e') return {};
  const double magnitude = static_cast<double>(mantissa) / powers_of_ten[places];
  return {negative ? -magnitude : magnitude, at};
}

}  // namespace fenchel::data
