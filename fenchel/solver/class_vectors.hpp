// Sums over vectors that hold `stride` numbers a feature, with the same bits for any number of threads.
#pragma once

#include <cstddef>
#include <span>

#include "fenchel/base/sum.hpp"
#include "fenchel/base/sum_in_parts.hpp"

namespace fenchel::solver {

inline double inner_product(std::span<const double> a, std::span<const double> b) {
  return sum_of_blocks(a.size(), [&](std::size_t begin, std::size_t end) {
    return product_in_parts(a.subspan(begin, end - begin), b.subspan(begin, end - begin));
  });
}

// sum_j weight(j) |v_j|^2
template <class Weight>
double weighted_square(std::span<const double> v, std::size_t stride, Weight&& weight) {
  return sum_of_blocks(v.size() / stride, [&](std::size_t begin, std::size_t end) {
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
