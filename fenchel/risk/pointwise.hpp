// The empirical risk of a scalar loss,  R(w, b) = (1/sum c) sum_i c_i phi(y_i, x_i.w + b),  as an oracle for batch
// solvers: a State is the risk's own description of a primal point, made by one pass over the data; values come
// from it without a pass, gradients with one more. A free bias is minimised out: R(w) = min_b R(w, b), which is
// convex in w and as smooth as R itself, so that no solver ever sees the bias.
#pragma once

#include <span>
#include <vector>

#include "fenchel/data/linear_map.hpp"
#include "fenchel/loss/any.hpp"

namespace fenchel::risk {

// One target a row and, where they are not all 1, one weight c_i >= 0 a row.
struct Sample {
  std::span<const double> targets;
  std::span<const double> weights;  // empty: all 1
  double weight_sum = 0.0;

  [[nodiscard]] double weight(std::size_t i) const { return weights.empty() ? 1.0 : weights[i]; }
};

// A minimiser b of sum_i c_i phi(y_i, z_i + b), searched from `start`; the best point found where none exists.
double best_bias(const loss::Any& loss, const Sample& sample, std::span<const double> z, double start);

class Pointwise {
 public:
  struct State {
    std::vector<double> z;  // x_i . w, without the bias
    double b = 0.0;
  };

  Pointwise(const data::Design& design, const Sample& sample, const loss::Any& loss, bool free_bias);

  [[nodiscard]] std::size_t dimension() const { return map_.cols(); }
  // The state of w; one pass. `bias_hint` is where the search for the free bias starts.
  void locate(std::span<const double> w, double bias_hint, State& state) const;
  // The state of a + t (b - a), without a pass.
  void extrapolate(const State& a, const State& b, double t, State& result) const;
  [[nodiscard]] double value(const State& state) const;
  // gradient = dR/dw at the state; one pass. Keeps the dual vector alpha_i = -phi'(z_i + b) that goes with it.
  void gradient(const State& state, std::span<double> gradient);
  // locate() and gradient() at once, with the same results: one pass where there is no free bias to be found in between.
  // Returns the passes.
  double locate_with_gradient(std::span<const double> w, double bias_hint, State& state,
                              std::span<double> gradient);
  [[nodiscard]] std::span<const double> dual() const { return alpha_; }

  // A cut: R(v) >= <slope, v> + offset for every v, with equality at the state but for rounding. One pass; returns the
  // offset -(1/sum c) sum_i c_i phi*(-alpha_i), which is exact whatever rounding did to z and b. With a free bias, rows
  // at a kink of the loss get the alpha in between that makes sum c alpha = 0.
  double subgradient(const State& state, std::span<double> slope);

 private:
  // alpha and -c alpha / sum c of rows [begin, end).
  void fill_dual(const State& state, std::size_t begin, std::size_t end);
  void balance(const State& state);  // moves alpha_ inside the subdifferentials to sum c alpha = 0

  data::LinearMap map_;
  Sample sample_;
  loss::Any loss_;
  bool free_bias_;
  std::vector<double> alpha_;
  std::vector<double> scaled_;  // -c_i alpha_i / sum c
};

}  // namespace fenchel::risk
