// The empirical risk of a scalar loss,  R(w, b) = (1/sum c) sum_i c_i phi(y_i, x_i.w + b),  as an oracle for batch
// solvers: a State is the risk's own description of a primal point, made by one pass over the data; values come
// from it without a pass, gradients with one more. A free bias is minimised out: R(w) = min_b R(w, b), which is
// convex in w and as smooth as R itself, so that no solver ever sees the bias.
//
// Smoothed at a level mu > 0 (Nesterov), phi gives way to phi_mu, whose conjugate is phi* + (mu/2) alpha^2:
//     phi_mu(z) = max over alpha of -phi*(-alpha) - alpha z - (mu/2) alpha^2,   alpha_mu(z) = the maximiser = -phi_mu'(z),
//     R_mu <= R <= R_mu + mu D,   D = the largest (1/sum c) sum_i (c_i/2) alpha_i^2,
// which is (1/mu)-smooth in z. Under a free bias, minimising R_mu over b makes alpha the projection onto the box and
// sum c alpha = 0 (minimax). Rows may have levels of their own, mu s_i in place of mu (Levels).
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

// The level of smoothing of each row, mu s_i. The factors s_i > 0 are relative: where they have the mean sum_i c_i s_i / sum c = 1,
// smoothing costs no more than with one level mu for all.
struct Levels {
  double mu = 0.0;
  std::span<const double> factors = {};  // empty: all 1

  [[nodiscard]] double factor(std::size_t i) const { return factors.empty() ? 1.0 : factors[i]; }
  [[nodiscard]] double operator[](std::size_t i) const { return mu * factor(i); }
};

// A minimiser b of sum_i c_i phi(y_i, z_i + b), searched from `start`; the best point found where none exists. Exact, in
// linear time, for losses that are piecewise linear.
double best_bias(const loss::Any& loss, const Sample& sample, std::span<const double> z, double start);
// The same for phi_mu, mu > 0.
double best_smoothed_bias(const loss::Any& loss, const Sample& sample, std::span<const double> z,
                          const Levels& levels, double start);

class Pointwise {
 public:
  struct State {
    std::vector<double> z;  // x_i . w, without the bias
    double b = 0.0;
  };

  Pointwise(const data::Design& design, const Sample& sample, const loss::Any& loss, bool free_bias);

  [[nodiscard]] std::size_t dimension() const { return map_.cols(); }
  // From now on everything below is about R_mu; states from before have to be settled again. Refuses mu = 0. Factors are for
  // losses that are not smooth by themselves, and have to outlive the risk.
  void smooth(const Levels& levels);
  [[nodiscard]] double smoothing() const { return levels_.mu; }
  // gamma such that the loss in use is (1/gamma)-smooth in z, or 1/(gamma s_i) where rows have levels of their own.
  [[nodiscard]] double smoothness() const { return loss::smoothness(loss_) + levels_.mu; }
  // The state of w; one pass. `bias_hint` is where the search for the free bias starts.
  void locate(std::span<const double> w, double bias_hint, State& state) const;
  // The state of a + t (b - a), without a pass.
  void extrapolate(const State& a, const State& b, double t, State& result) const;
  // Only z = X w; one pass.
  void margins(std::span<const double> w, std::vector<double>& z) const;
  // Finds the free bias of a state whose z is in place, from the one it has.
  void settle(State& state) const;
  [[nodiscard]] double value(const State& state) const;
  // R itself whatever the smoothing, at the state's own bias: an upper bound on min_b R(w, b).
  [[nodiscard]] double unsmoothed_value(const State& state) const;
  // gradient = dR/dw at the state; one pass. Keeps the dual vector alpha_i = -phi'(z_i + b), or alpha_mu(z_i + b),
  // that goes with it, and returns the value.
  double gradient(const State& state, std::span<double> gradient);
  // locate() and gradient() at once, with the same gradient: one pass where there is no free bias to be found in between.
  // Returns the passes.
  double locate_with_gradient(std::span<const double> w, double bias_hint, State& state,
                              std::span<double> gradient);
  [[nodiscard]] std::span<const double> dual() const { return alpha_; }

  // A cut: R(v) >= <slope, v> + offset for every v, with equality at the state but for rounding. One pass; returns the
  // offset -(1/sum c) sum_i c_i phi*(-alpha_i), which is exact whatever rounding did to z and b. With a free bias, rows
  // at a kink of the loss get the alpha in between that makes sum c alpha = 0.
  double subgradient(const State& state, std::span<double> slope);
  // The offset that belongs to the dual vector of the last gradient, whose slope makes a cut with it: without a free bias,
  // and without smoothing.
  [[nodiscard]] double offset() const;

 private:
  // alpha and -c alpha / sum c of row i, whose score is z.
  template <class L>
  void set_dual(const L& loss, std::size_t i, double z);
  void balance(const State& state);  // moves alpha_ inside the subdifferentials to sum c alpha = 0
  data::LinearMap map_;
  Sample sample_;
  loss::Any loss_;
  bool free_bias_;
  Levels levels_;
  std::vector<double> alpha_;
  std::vector<double> scaled_;  // -c_i alpha_i / sum c
};

template <class L>
void Pointwise::set_dual(const L& loss, std::size_t i, double z) {
  const double y = sample_.targets[i];
  const double slope = levels_.mu > 0.0 ? -loss.dual_step(y, 0.0, z, levels_[i]) : loss.derivative(y, z);
  alpha_[i] = loss::project_dual(loss, y, -slope);
  scaled_[i] = sample_.weight(i) / sample_.weight_sum * -alpha_[i];
}

}  // namespace fenchel::risk
