// The problem that was asked:  P(w, b) = (1/sum c) sum_i c_i phi(y_i, x_i.w + b) + sum_j g_j(w_j),
// with g_j = l1_j |w_j| + (l2_j/2) w_j^2, or without g_j and with w in a convex set K. A regularized bias is a constant column of the design; a free bias is b.
// Everything here is a view or a value: a Problem is cheap to copy, and owns no data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fenchel/data/linear_map.hpp"
#include "fenchel/loss/any.hpp"
#include "fenchel/penalty/regularizer.hpp"
#include "fenchel/risk/pointwise.hpp"

namespace fenchel::problem {

struct Problem {
  data::Design design;
  risk::Sample sample;
  loss::Any loss;
  penalty::Regularizer penalty;
  bool free_bias = false;

  [[nodiscard]] std::size_t rows() const { return design.rows(); }
  [[nodiscard]] std::size_t dimension() const { return design.cols(); }
};

// What a solver offers: a primal point and, if it has one, a dual vector. Views into the solver.
struct Candidate {
  std::span<const double> w;
  double b = 0.0;
  std::span<const double> alpha;              // empty: the certificate takes alpha_i = -phi'(z_i)
  std::span<const std::uint32_t> place = {};  // of every row's number in alpha; empty: one a row, in their order
};

}  // namespace fenchel::problem
