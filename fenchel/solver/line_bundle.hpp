// BMRM with line search (bmrm-ls): of all cuts only their average <v, w> + beta is kept. A new cut (a, b') at w = w(v) enters
// with the weight eta in [0, 1] that maximises the lower bound
//     D(eta) = (1 - eta) beta + eta b' - Omega*(-((1 - eta) v + eta a)),
// whose derivative at 0 is the current gap J(w) - D, less what the cut falls short of the risk at w. For a plain l2 penalty eta = min(1, lambda (J(w) - D) / ||a - v||^2).
// The lower bound never falls; J does not fall in every step.
#pragma once

#include <span>
#include <vector>

#include "fenchel/base/interval.hpp"
#include "fenchel/solver/cut_oracle.hpp"
#include "fenchel/solver/penalty_dual.hpp"

namespace fenchel::solver {

class LineBundle {
 public:
  LineBundle(const penalty::Separable& penalty, std::span<const double> start);

  // Takes a cut at point(); returns its weight eta in the new average, which is 1 in the first step.
  double step(CutOracle& oracle);

  [[nodiscard]] double best() const { return best_; }
  [[nodiscard]] double lower() const { return lower_; }
  [[nodiscard]] bool improved() const { return improved_; }
  [[nodiscard]] std::span<const double> best_point() const { return best_w_; }
  [[nodiscard]] std::span<const double> point() const { return w_; }

 private:
  PenaltyDual penalty_;
  std::vector<double> v_, w_, best_w_, slope_;
  double offset_ = 0.0;  // beta
  double best_ = infinity;
  double lower_ = -infinity;
  bool improved_ = false;
};

}  // namespace fenchel::solver
