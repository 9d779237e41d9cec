// The empirical risk of a multiclass loss,  R(W, b) = (1/sum c) sum_i c_i phi(y_i, W'x_i + b),  as an oracle for batch solvers in the
// manner of pointwise.hpp: W is one vector of features x classes numbers, and free biases are minimised out.
//
// Smoothed at a level mu > 0, the multiclass hinge gives way to the smooth multiclass hinge with gamma = mu, whose conjugate is
// phi* + (mu/2) ||beta||^2, so that  R_mu <= R <= R_mu + mu/2. The other multiclass losses are smooth as they are.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/data/class_map.hpp"
#include "fenchel/loss/any_vector.hpp"
#include "fenchel/risk/class_bias.hpp"

namespace fenchel::risk {

class ClassRisk {
 public:
  struct State {
    std::vector<double> z;  // x_i . w_l, without the biases; the k numbers of a row side by side
    std::vector<double> b;  // k; empty without free biases
  };

  ClassRisk(const data::Design& design, const ClassSample& sample, const loss::AnyVector& loss, bool free_bias);

  // From now on everything below is about R_mu; states from before have to be settled again. Refuses mu = 0, and
  // losses that are smooth.
  void smooth(double mu);
  [[nodiscard]] double smoothing() const { return mu_; }
  // gamma such that the loss in use is (1/gamma)-smooth in the scores of a row.
  [[nodiscard]] double smoothness() const { return loss::smoothness(used_, sample_.classes); }

  // As in Pointwise.
  void locate(std::span<const double> w, std::vector<double> bias_hint, State& state) const;
  void extrapolate(const State& a, const State& b, double t, State& result) const;
  void margins(std::span<const double> w, std::vector<double>& z) const;
  void settle(State& state) const;
  [[nodiscard]] double value(const State& state) const;
  [[nodiscard]] double unsmoothed_value(const State& state) const;
  double gradient(const State& state, std::span<double> gradient);
  // What the duals that a state has are worth to R itself, whatever the smoothing.
  struct DualQuality {
    double shortfall =
        0.0;  // R less the cut that they make, at this state: the mean of phi(a) + phi*(beta) - beta.a
    double imbalance = 0.0;  // the largest |sum_i c_i alpha_il| / sum c, 0 at the best biases
  };
  [[nodiscard]] DualQuality dual_quality(const State& state) const;
  // The offset -(1/sum c) sum_i c_i phi*(beta_i) that makes a cut of R itself, whatever the smoothing, with the last gradient:
  // exactly without free biases, and as nearly as the duals balance with them.
  [[nodiscard]] double offset() const;
  // The duals beta that belong to the last gradient, as the certificate takes them; 0 for the row's own class.
  [[nodiscard]] std::span<const double> dual() const { return beta_; }

 private:
  data::ClassMap map_;
  ClassSample sample_;
  loss::AnyVector loss_;
  loss::AnyVector used_;  // the loss, or the smoothed one
  bool free_bias_;
  double mu_ = 0.0;
  std::vector<double> beta_;
  std::vector<double> scaled_;  // c_i / sum c times the derivatives of phi with respect to the scores
};

}  // namespace fenchel::risk
