// The multiclass problem:  P(W, b) = (1/sum c) sum_i c_i phi(y_i, W'x_i + b) + sum_l sum_j g_j(w_jl),  one weight vector w_l and
// one bias b_l a class l, and a loss that sees all k scores of a row. Views and values, as in problem.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/loss/any_vector.hpp"
#include "fenchel/penalty/separable.hpp"
#include "fenchel/risk/class_bias.hpp"

namespace fenchel::problem {

struct MulticlassProblem {
  data::Design design;
  risk::ClassSample sample;
  loss::AnyVector loss;
  penalty::Separable penalty;  // of every class
  bool free_bias = false;

  [[nodiscard]] std::size_t rows() const { return design.rows(); }
  [[nodiscard]] std::size_t dimension() const { return design.cols(); }
  [[nodiscard]] std::size_t classes() const { return sample.classes; }
};

// What a solver offers. Views into the solver, or into what it made for this offer alone.
struct MulticlassCandidate {
  std::span<const double> w;  // the k numbers of a feature side by side
  std::span<const double> b;  // k; empty: zeros
  std::span<const double>
      beta;  // the k numbers of a row side by side; empty: the certificate takes the loss's gradient
  std::unique_ptr<LargeVector> own{};  // holds w where the solver does not; whoever needs a copy may take it

  [[nodiscard]] LargeVector take_weights() && {
    const std::span<const double> from = std::exchange(w, {});
    if (own) return std::move(*own);
    LargeVector copy(from.size());
    for_each_block(from.size(), [&](std::size_t begin, std::size_t end) {
      std::copy_n(from.data() + begin, end - begin, copy.data() + begin);
    });
    return copy;
  }
};

}  // namespace fenchel::problem
