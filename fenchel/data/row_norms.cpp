#include "fenchel/data/row_norms.hpp"

#include <array>
#include <cstdint>

#include "fenchel/base/processor.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fenchel::data {

namespace {

// Four sums, entry k of a whole four in sum k modulo 4 and what is left over in the first one.
template <class Value>
double square_norm(std::span<const Value> values) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  const std::size_t n = values.size();
  const auto square = [&](std::size_t k) {
    const auto x = static_cast<double>(values[k]);
    return x * x;
  };
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    s0 += square(k);
    s1 += square(k + 1);
    s2 += square(k + 2);
    s3 += square(k + 3);
  }
  for (; k < n; ++k) s0 += square(k);
  return (s0 + s1) + (s2 + s3);
}

template <class Rows>
void plain_norms(const Rows& rows, std::size_t begin, std::size_t end, double constant, std::span<double> norms) {
  for (std::size_t i = begin; i < end; ++i) norms[i] = square_norm(rows.row(i).values) + constant;
}

#if defined(__x86_64__)
[[gnu::target("avx2"), gnu::always_inline]] inline __m256d four(const double* x) { return _mm256_loadu_pd(x); }
[[gnu::target("avx2"), gnu::always_inline]] inline __m256d four(const float* x) {
  return _mm256_cvtps_pd(_mm_loadu_ps(x));
}

// The first `count` < 4 entries, and zeros; nothing behind them is touched.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256d some(const double* x, std::size_t count) {
  alignas(32) static constexpr std::array<std::int64_t, 8> mask{-1, -1, -1, -1};
  return _mm256_maskload_pd(x, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&mask[4 - count])));
}
[[gnu::target("avx2"), gnu::always_inline]] inline __m256d some(const float* x, std::size_t count) {
  alignas(16) static constexpr std::array<std::int32_t, 8> mask{-1, -1, -1, -1};
  return _mm256_cvtps_pd(_mm_maskload_ps(x, _mm_loadu_si128(reinterpret_cast<const __m128i*>(&mask[4 - count]))));
}

// What is left over costs the same whether it is one entry, three or none: where rows are short, guessing how many there are
// took most of the time. Adding the square of a zero changes no bit of a sum of squares.
template <class Value>
[[gnu::target("avx2")]] void wide_norms(const CsrRows<Value>& rows, std::size_t begin, std::size_t end,
                                        double constant, std::span<double> norms) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::span<const Value> values = rows.row(i).values;
    const Value* const at = values.data();
    const std::size_t whole = values.size() / 4 * 4;
    __m256d sums = _mm256_setzero_pd();
    for (std::size_t k = 0; k < whole; k += 4) {
      const __m256d x = four(at + k);
      sums = _mm256_add_pd(sums, _mm256_mul_pd(x, x));
    }
    const __m256d x = some(at + whole, values.size() - whole);
    const __m256d left = _mm256_mul_pd(x, x);
    const double s0 = ((sums[0] + left[0]) + left[1]) + left[2];
    norms[i] = ((s0 + sums[1]) + (sums[2] + sums[3])) + constant;
  }
}
#endif

template <class Value>
void sparse_norms(const CsrRows<Value>& rows, std::size_t begin, std::size_t end, double constant,
                  std::span<double> norms) {
#if defined(__x86_64__)
  if (has_avx2()) return wide_norms(rows, begin, end, constant, norms);
#endif
  plain_norms(rows, begin, end, constant, norms);
}

}  // namespace

void square_norms(const CsrRows<double>& rows, std::size_t begin, std::size_t end, double constant,
                  std::span<double> norms) {
  sparse_norms(rows, begin, end, constant, norms);
}
void square_norms(const CsrRows<float>& rows, std::size_t begin, std::size_t end, double constant,
                  std::span<double> norms) {
  sparse_norms(rows, begin, end, constant, norms);
}
void square_norms(const DenseRows<double>& rows, std::size_t begin, std::size_t end, double constant,
                  std::span<double> norms) {
  plain_norms(rows, begin, end, constant, norms);
}
void square_norms(const DenseRows<float>& rows, std::size_t begin, std::size_t end, double constant,
                  std::span<double> norms) {
  plain_norms(rows, begin, end, constant, norms);
}

}  // namespace fenchel::data
