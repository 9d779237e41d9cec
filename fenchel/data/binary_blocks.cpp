#include "fenchel/data/binary_blocks.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "fenchel/base/processor.hpp"

namespace fenchel::data {

namespace {

// The bodies have no branches, so that compilers make vector instructions of them: those of the oldest processors and,
// where the processor has them, wider ones.
template <class Value>
[[gnu::always_inline]] inline bool fine(const Value* values, std::size_t count, Zeros zeros) {
  using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(Value) - 1);
  constexpr Bits one_exponent = std::bit_cast<Bits>(std::numeric_limits<Value>::min());
  const Bits least = zeros == Zeros::wrong ? 1 : 0;
  Bits wrong = 0;  // in the highest bit
  for (std::size_t k = 0; k < count; ++k) {
    const Bits magnitude = __builtin_bit_cast(Bits, values[k]) & ~sign;
    wrong |= (magnitude - least) | (magnitude + one_exponent);
  }
  return (wrong & sign) == 0;
}

[[gnu::always_inline]] inline bool ordered(const std::uint64_t* numbers, std::size_t count) {
  std::uint64_t wrong = 0;  // in the highest bit
  for (std::size_t k = 1; k < count; ++k) wrong |= (numbers[k] - numbers[k - 1]) | numbers[k] | numbers[k - 1];
  return wrong >> 63 == 0;
}

[[gnu::always_inline]] inline std::uint64_t descents(const std::uint32_t* numbers, std::size_t count) {
  constexpr std::size_t piece = std::size_t{1} << 16;  // so that 32 bits count them, which is faster
  std::uint64_t total = 0;
  for (std::size_t start = 1; start < count; start += piece) {
    std::uint32_t here = 0;
    const std::size_t end = count < start + piece ? count : start + piece;
    for (std::size_t k = start; k < end; ++k) here += static_cast<std::uint32_t>(numbers[k - 1] >= numbers[k]);
    total += here;
  }
  return total;
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] bool wide_fine(const double* values, std::size_t count, Zeros zeros) {
  return fine(values, count, zeros);
}
[[gnu::target("avx2")]] bool wide_fine(const float* values, std::size_t count, Zeros zeros) {
  return fine(values, count, zeros);
}
[[gnu::target("avx2")]] std::uint64_t wide_descents(const std::uint32_t* numbers, std::size_t count) {
  return descents(numbers, count);
}
[[gnu::target("avx2")]] bool wide_ordered(const std::uint64_t* numbers, std::size_t count) {
  return ordered(numbers, count);
}
#else
constexpr auto wide_fine = [](const auto* values, std::size_t count, Zeros zeros) {
  return fine(values, count, zeros);
};
constexpr auto wide_descents = descents;
constexpr auto wide_ordered = ordered;
#endif

}  // namespace

bool all_fine(std::span<const double> values, Zeros zeros) {
  return has_avx2() ? wide_fine(values.data(), values.size(), zeros) : fine(values.data(), values.size(), zeros);
}
bool all_fine(std::span<const float> values, Zeros zeros) {
  return has_avx2() ? wide_fine(values.data(), values.size(), zeros) : fine(values.data(), values.size(), zeros);
}

bool ascending(std::span<const std::uint64_t> numbers) {
  return has_avx2() ? wide_ordered(numbers.data(), numbers.size()) : ordered(numbers.data(), numbers.size());
}

std::uint64_t descents_in(std::span<const std::uint32_t> numbers) {
  return has_avx2() ? wide_descents(numbers.data(), numbers.size()) : descents(numbers.data(), numbers.size());
}

}  // namespace fenchel::data
