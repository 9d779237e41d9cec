// Sums over vectors that hold `stride` numbers a feature, with the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/base/sum.hpp"

namespace fenchel::solver {

// Calls work(begin, end) for blocks of [0, count) and adds up what it returns, in order.
template <class Work>
double sum_blocks(std::size_t count, Work&& work) {
  std::vector<double> parts((count + rows_in_block - 1) / rows_in_block);
  for_each_block(count,
                 [&](std::size_t begin, std::size_t end) { parts[begin / rows_in_block] = work(begin, end); });
  double sum = 0.0;
  for (const double part : parts) sum += part;
  return sum;
}

inline double inner_product(std::span<const double> a, std::span<const double> b) {
  return sum_blocks(a.size(), [&](std::size_t begin, std::size_t end) {
    double sums[4] = {};  // an addition has to wait for the last one into the same place
    std::size_t e = begin;
    for (; e + 4 <= end; e += 4) {
      for (std::size_t l = 0; l < 4; ++l) sums[l] += a[e + l] * b[e + l];
    }
    for (; e < end; ++e) sums[0] += a[e] * b[e];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  });
}

// sum_j weight(j) |v_j|^2
template <class Weight>
double weighted_square(std::span<const double> v, std::size_t stride, Weight&& weight) {
  return sum_blocks(v.size() / stride, [&](std::size_t begin, std::size_t end) {
    double sum = 0.0;
    for (std::size_t j = begin; j < end; ++j) {
      double square = 0.0;
      for (std::size_t e = j * stride; e < (j + 1) * stride; ++e) square += v[e] * v[e];
      sum += weight(j) * square;
    }
    return sum;
  });
}

}  // namespace fenchel::solver
