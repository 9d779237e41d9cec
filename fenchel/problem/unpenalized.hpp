// Unpenalised columns U (penalty factor 0, penalty `none`, lambda = 0) ask for X_U' beta = 0, which doubles cannot hold in
// general. It is enough to prove that an exactly feasible vector beta + delta exists and to bound |delta_i|: with
// H = diag(room of beta_i) and M = X_U' H X_U positive definite, delta = -H X_U y, M y = X_U' beta, is one, and
// |delta_i| <= H_i ||x_i,U|| ||X_U' beta|| / lambda_min(M). The bound stays in the box while ||x_i,U|| ||y|| <= 1.
// The smallest eigenvalue is bounded below by a Cholesky factorisation of M - tau I that succeeds (Rump).
// A free bias counts as one more such column of ones.
//
// Columns that depend linearly on others (all indicators of a category next to a bias, say) make M singular. Their
// constraints follow from the others' where the dependence is exact: it is found numerically, rounded to small
// integers, and checked in exact arithmetic on every row before a column is dropped.
#pragma once

#include <cstddef>
#include <span>

#include <Eigen/Core>

#include "fenchel/problem/problem.hpp"

namespace fenchel::problem {

struct DualPoint;

class UnpenalizedColumns {
 public:
  using Columns = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  explicit UnpenalizedColumns(const Problem& problem);

  // Whether the problem has such columns at all.
  [[nodiscard]] bool any() const { return !columns_.empty(); }
  // Bounds delta for the given beta and fills point.slack; false where the proof fails.
  [[nodiscard]] bool verify(const Problem& problem, DualPoint& point) const;
  // Moves beta towards feasibility and proves it; falls back on beta = 0, which is feasible for every loss.
  void repair(const Problem& problem, DualPoint& point) const;

 private:
  std::vector<std::size_t> columns_;
  Columns matrix_;           // independent columns, each scaled by a power of two to a largest entry in [1, 2)
  bool manageable_ = false;  // whether a proof is affordable
};

}  // namespace fenchel::problem
