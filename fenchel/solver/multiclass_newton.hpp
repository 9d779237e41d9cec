// Newton's method for losses of all classes under an l2 penalty: newton.hpp with k numbers side by side in place of one.
// With V = (W, b) and Lambda = diag(l2_j), 0 for free biases, it minimises
//     F(V) = 1/2 <V, Lambda V> + sum_i s_i phi_i(z_i),    Z = X W + b,    s_i = c_i / sum c,
// by steps  H D = -grad F  within a radius (class_system.hpp) and a search along D that needs no pass.
//
// The dual point is beta = phi'(z) or, where it is better, the linearised one, beta + t H_i dz_i: it induces Lambda V up to the
// residual of the linear system.
//
// Losses whose duals are mostly 0 have corners, or second derivatives too many of which come and go with every step: as in
// newton.hpp they are smoothed about a dual vector, which moves on, while the smoothing becomes narrower, where the step's own error
// is smaller than what the smoothing costs. What is offered then is the best multiple of V: where the classes can be separated at
// almost no loss, V itself misses most margins by a little, and pays for it at every row.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fenchel/solver/class_model.hpp"
#include "fenchel/solver/class_sums.hpp"
#include "fenchel/solver/class_system.hpp"
#include "fenchel/solver/multiclass_solver.hpp"

namespace fenchel::solver {

class MulticlassNewton final : public MulticlassSolver {
 public:
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::AnyVector& loss, const penalty::Separable& penalty);

  MulticlassNewton(const problem::MulticlassProblem& problem, const MulticlassStart& start,
                   Conduct conduct);  // draws nothing at random

  double step() override;
  [[nodiscard]] problem::MulticlassCandidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  double begin();   // the first scores and gradient; returns the passes it took, as others below do
  double locate();  // everything that follows from the scores
  double find_direction();
  [[nodiscard]] double search() const;  // how far to go
  double go(double t);
  double assess();  // the gap that may be claimed here
  double assess_linearized();
  void start_smoothing();
  void scale_offer();  // finds the best multiple of V
  double sharpen();    // moves the centre of the smoothing
  // What the gap owes to the induced vector not being Lambda V.
  [[nodiscard]] double mismatch(std::span<const double> difference) const;
  [[nodiscard]] double penalty_of(std::span<const double> v) const;

  problem::MulticlassProblem problem_;
  data::Design design_;  // with free biases as one more, constant column
  ClassSums sums_;
  ClassModel rows_;
  ClassSystem system_;
  std::size_t stride_;

  std::vector<double> ridge_;   // Lambda, one number a feature
  std::vector<double> metric_;  // the same, with the curvature of the rows for free biases
  std::vector<double> v_, gradient_, direction_, residual_;

  // k numbers a row.
  std::vector<double> z_, dz_, beta_, slope_, h_;
  std::vector<double> linear_;   // the linearised duals
  std::vector<double> offered_;  // the duals that the estimate is about
  ClassModel::Sums at_z_;
  std::vector<double> dual_start_;
  double scale_ = 1.0;    // of the V that is offered
  double least_q_ = 0.0;  // how narrow the smoothing may become

  double last_mismatch_ = infinity;
  ClassSystem::Solution solution_;  // of the last system
  double radius_ = infinity;        // of the next one
  double forcing_ = 0.1;
  bool begun_ = false;
  std::vector<double> w_, b_, offer_;  // the last candidate, without padding
  Estimate estimate_;
  bool stationary_ = false;
};

}  // namespace fenchel::solver
