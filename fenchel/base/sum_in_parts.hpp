// Plain sums over stretches of vectors, in several parts: an addition has to wait for the last one into the same part. The compiler
// makes of them what instructions for several numbers there are.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>

namespace fenchel {
namespace detail {

template <class Term>
[[gnu::always_inline]] inline double sum_in_parts(std::span<const double> a, std::span<const double> b,
                                                  Term&& term) {
  assert(a.size() == b.size());
  constexpr std::size_t parts = 4;
  double sums[parts] = {};
  std::size_t j = 0;
  for (; j + parts <= a.size(); j += parts) {
    for (std::size_t l = 0; l < parts; ++l) sums[l] += term(a[j + l], b[j + l]);
  }
  for (; j < a.size(); ++j) sums[0] += term(a[j], b[j]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace detail

// a.b
inline double product_in_parts(std::span<const double> a, std::span<const double> b) {
  return detail::sum_in_parts(a, b, [](double x, double y) { return x * y; });
}

// ||a - b||^2
inline double distance_in_parts(std::span<const double> a, std::span<const double> b) {
  return detail::sum_in_parts(a, b, [](double x, double y) { return (x - y) * (x - y); });
}

}  // namespace fenchel
