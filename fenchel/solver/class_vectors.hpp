// Sums over vectors that hold `stride` numbers a feature, with the same bits for any number of threads.
#pragma once

#include <cstddef>
#include <span>

#include "fenchel/base/sum.hpp"
#include "fenchel/base/sum_in_parts.hpp"

namespace fenchel::solver {

inline double inner_product(std::span<const double> a, std::span<const double> b) {
  return sum_of_blocks<double>(a.size(), rows_in_block, [&](std::size_t begin, std::size_t end, double& sum) {
    sum = product_in_parts(a.subspan(begin, end - begin), b.subspan(begin, end - begin));
  });
}

// sum_j weight(j) |v_j|^2
template <class Weight>
double weighted_square(std::span<const double> v, std::size_t stride, Weight&& weight) {
  return sum_of_blocks<double>(v.size() / stride, rows_in_block,
                               [&](std::size_t begin, std::size_t end, double& sum) {
                                 for (std::size_t j = begin; j < end; ++j) {
                                   double square = 0.0;
                                   for (std::size_t e = j * stride; e < (j + 1) * stride; ++e)
                                     square += v[e] * v[e];
                                   sum += weight(j) * square;
                                 }
                               });
}

}  // namespace fenchel::solver
