// The product of one row with a dense vector: the innermost loop of everything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

// Four independent partial sums hide the latency of the addition; their order is fixed, and value_at(k) says what entry k is.
template <class ValueAt>
[[gnu::always_inline]] inline double dot(std::span<const std::uint32_t> column, const double* w,
                                         ValueAt&& value_at) {
  double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
  const std::size_t n = column.size();
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4) {
    s0 += value_at(k) * w[column[k]];
    s1 += value_at(k + 1) * w[column[k + 1]];
    s2 += value_at(k + 2) * w[column[k + 2]];
    s3 += value_at(k + 3) * w[column[k + 3]];
  }
  for (; k < n; ++k) s0 += value_at(k) * w[column[k]];
  return (s0 + s1) + (s2 + s3);
}

// A uniform row gives the same bits either way.
template <class Value>
[[gnu::always_inline]] inline double dot(const SparseRow<Value>& row, const double* w) {
  return row.with_values([&](const auto& value_at) { return dot(row.columns, w, value_at); });
}

// meanwhile(j) is called before entries j to j + 7 are used.
template <class Value, class Meanwhile>
[[gnu::always_inline]] inline double dot(const DenseRow<Value>& row, const double* w, Meanwhile&& meanwhile) {
  constexpr std::size_t lanes = 8;
  double s[lanes] = {};
  const std::size_t n = row.values.size();
  const Value* value = row.values.data();
  std::size_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    meanwhile(j);
    for (std::size_t l = 0; l < lanes; ++l) s[l] += static_cast<double>(value[j + l]) * w[j + l];
  }
  for (; j < n; ++j) s[0] += static_cast<double>(value[j]) * w[j];
  return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

template <class Value>
double dot(const DenseRow<Value>& row, const double* w) {
  return dot(row, w, [](std::size_t /*j*/) {});
}

}  // namespace fenchel::data
