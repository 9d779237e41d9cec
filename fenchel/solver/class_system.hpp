// The linear systems of a Newton step over all classes,  H D = R  with  H D = Lambda D + sum_i x_i (s_i H_i (x_i'D)),  where
// Lambda is diagonal and the k x k matrices s_i H_i are given by weights (loss/spread.hpp).
//
// Conjugate gradients, one product with X and one with X' an iteration. They are
// preconditioned by the diagonal of H or, where columns are few and the diagonal has needed many iterations, by the k
// diagonal blocks of H, one a class, factorised. These are kept as long as they serve.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/base/dense.hpp"
#include "fenchel/problem/multiclass.hpp"
#include "fenchel/solver/class_sums.hpp"
#include "fenchel/solver/row_sums.hpp"

namespace fenchel::solver {

class ClassSystem {
 public:
  ClassSystem(const problem::MulticlassProblem& problem, const data::Design& design, const ClassSums& sums);

  // Takes the weights as they are now; `ridge` has one number a feature. Returns the passes this took.
  double assemble(std::span<const double> ridge, std::span<const double> h);

  // D with  sum_j |residual_j|^2 / metric_j <= forcing^2 sum_j |rhs_j|^2 / metric_j,  residual = rhs - H D, or as good as can be had
  // within a radius.
  struct Solution {
    double passes = 0.0;
    double length = 0.0;  // of D, in the norm of the preconditioner, which is the radius's
    bool inside = true;   // the radius
  };
  Solution solve(std::span<const double> rhs, std::span<const double> metric, double forcing, double radius,
                 std::span<double> D, std::span<double> residual);

 private:
  void product(std::span<const double> v, std::span<double> result);
  void take_diagonal();
  [[nodiscard]] double block_work() const;  // of forming and factorising the blocks
  void factorize_blocks();
  void precondition(std::span<const double> r, std::span<double> result);

  risk::ClassSample sample_;
  ClassSums sums_;                   // of the rows with weights
  std::vector<std::uint32_t> rows_;  // all that count
  RowSums row_sums_;
  std::vector<double> ridge_;
  std::span<const double> h_;
  std::vector<double> image_;     // of a direction, row by row; at first the diagonals of s_i H_i
  std::vector<double> diagonal_;  // of H
  std::vector<dense::Cholesky> blocks_;
  double work_since_ = 0.0;  // multiplications of the iterations since the blocks were made
  std::vector<double> p_, product_, preconditioned_;
};

}  // namespace fenchel::solver
