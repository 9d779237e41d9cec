// The bundle method for regularized risk minimization (BMRM), for any convex risk and any strongly convex separable
// penalty. Cuts <a_i, w> + b_i of the risk give the model  J_t(w) = max_i <a_i, w> + b_i + Omega(w)  below the objective J;
// its minimiser is where the next cut is taken. The minimum is found in the dual, over the simplex:
//     D_t(theta) = <b, theta> - Omega*(-A theta),   w = grad Omega*(-A theta).
// D_t(theta) bounds J from below for every theta of the simplex, so an inexact solution costs nothing but time. Without l1
// parts this is one quadratic problem; with them it is piecewise quadratic and solved by Newton steps, each of which is such a
// problem, with an exact line search.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/base/interval.hpp"
#include "fenchel/solver/cut_oracle.hpp"
#include "fenchel/solver/penalty_dual.hpp"

namespace fenchel::solver {

class Bundle {
 public:
  Bundle(const penalty::Separable& penalty, std::span<const double> start);

  // Takes one more cut, where the model has its minimum, and minimises the model again.
  void step(CutOracle& oracle);

  [[nodiscard]] double best() const { return best_; }        // the least J met
  [[nodiscard]] double lower() const { return lower_; }      // no J is below
  [[nodiscard]] bool improved() const { return improved_; }  // whether the last step met the best point
  [[nodiscard]] std::span<const double> best_point() const { return best_w_; }
  [[nodiscard]] std::span<const double> point() const { return w_; }        // where the next cut will be
  [[nodiscard]] std::span<const double> weights() const { return theta_; }  // theta, one a cut
  // The places of cuts that the last step dropped, in growing order, as they were before it; the new cut is the last.
  [[nodiscard]] std::span<const std::size_t> dropped() const { return dropped_; }
  // Whether the next cut would be the same as the last.
  [[nodiscard]] bool stationary() const { return stationary_; }

 private:
  void append(std::vector<double> slope, double offset);
  void minimize_model();
  double solve_quadratic(double tolerance);
  double solve_piecewise(double tolerance);
  void curve();  // the matrix for the coordinates that are curved at v_
  void combine(std::span<const double> theta, std::span<double> v) const;
  [[nodiscard]] std::vector<double> derivatives() const;  // of D_t
  void drop_idle();

  PenaltyDual penalty_;
  std::vector<std::vector<double>> slopes_;
  std::vector<double> offsets_;
  std::vector<double> theta_;
  std::vector<int> idle_;       // steps since theta_i > 0
  std::vector<double> matrix_;  // sum over curved j of a_ij a_kj / l2_j
  std::vector<unsigned char> curved_;
  std::vector<double> v_, w_, best_w_;
  double best_ = infinity;
  double lower_ = -infinity;
  bool improved_ = false;
  bool stationary_ = false;
  std::vector<std::size_t> dropped_;
};

}  // namespace fenchel::solver
