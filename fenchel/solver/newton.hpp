// Newton's method for any scalar loss under an l2 penalty. With v = (w, b) and Lambda = diag(l2_j), 0 for a free bias, it minimises
//     F(v) = 1/2 v' Lambda v + sum_i s_i psi_i(z_i),    z = X w + b,    s_i = c_i / sum c,
// by steps  (Lambda + X' S psi'' X) d = -grad F  and a search along d that needs no pass.
//
// Smooth losses: psi = phi, semismooth where phi'' jumps. Others: a proximal point method on the dual (the augmented
// Lagrangian of the primal; Li, Sun and Toh, "A highly efficient semismooth Newton augmented Lagrangian method for
// solving Lasso problems", is the same idea): psi is phi smoothed about the dual vector a with width q (row_model.hpp). Where
// the step's own error has become smaller than what the smoothing costs, a moves to the present dual vector and q
// shrinks. Only rows inside the smoothed corner have a second derivative, so that the systems are cheap.
//
// The dual point is alpha = -psi'(z). For smooth losses the linearised one, alpha - phi'' X d, is offered where it is
// better: it satisfies X'S alpha = Lambda w up to the residual of the linear system, so that its gap does not suffer from
// the condition of Lambda.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/data/linear_map.hpp"
#include "fenchel/solver/normal_system.hpp"
#include "fenchel/solver/row_model.hpp"
#include "fenchel/solver/row_sums.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class Newton final : public Solver {
 public:
  static constexpr std::string_view name = "newton";
  static constexpr std::string_view summary = "Newton's method, semismooth and proximal for losses with corners";
  static constexpr std::array<std::string_view, 0> takes{};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);

  Newton(const problem::Problem& problem, const Start& start, Conduct conduct);  // draws nothing at random

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  double begin();  // the first margins and gradient; returns the passes it took, as others below do
  void start_smoothing();
  void rest();  // gives back what the next step finds anew
  void wake();
  void locate();              // everything that follows from the margins
  double refresh_gradient();  // from the dual vector
  void settle_bias();         // minimises over the free bias alone
  double find_direction();
  std::span<const double> curvatures();  // of the rows, for the matrix of the next step
  double look_ahead();                   // sees to it that the working rows allow for the step, and computes dz_
  double choose_working(double radius);  // the rows that may matter within that distance
  [[nodiscard]] double search();         // how far to go
  double go(double t);
  void assess();  // the gap that may be claimed here
  double assess_linearized();
  double sharpen();  // moves the centre of the smoothing
  // What the gap owes to X'S alpha not being Lambda v.
  [[nodiscard]] double mismatch(std::span<const double> difference) const;
  [[nodiscard]] bool all_working() const { return working_.rows.size() == weighted_; }
  void take_everybody();  // as working rows
  [[nodiscard]] bool step_was_short() const;
  [[nodiscard]] double distance() const;  // from where the working rows were chosen

  problem::Problem problem_;
  data::Design design_;  // with a free bias as one more, constant column
  data::LinearMap map_;
  RowModel rows_;
  RowSums sums_;
  NormalSystem system_;
  std::vector<double> dual_start_;

  std::vector<double> ridge_;   // Lambda
  std::vector<double> metric_;  // the same, with the curvature of the rows for a free bias
  std::vector<double> v_;       // w and, with a free bias, b

  // Rows whose dual variable cannot change while v stays within `radius_` of `reference_` are left out of everything.
  std::size_t weighted_ = 0;  // rows of positive weight: all others never take part
  RowSums::Cut working_;
  std::vector<float> norms_;  // ||x_i|| or a little more; empty: not needed yet
  std::vector<double> reference_;
  double radius_ = infinity;
  double outside_risk_ = 0.0;  // of the others, where they were left out
  double outside_dual_ = 0.0;  // their part of sum s alpha
  int patience_ = 0;           // steps until leaving rows out is tried again

  // One number a row; those of rows that are left out hold still.
  std::vector<double> z_, dz_, alpha_, weights_;
  std::vector<double> linear_alpha_;  // for smooth losses only
  std::vector<double> changes_;       // of s alpha, since induced_ was computed; in between, anything
  bool changing_ = false;             // whether there are any
  std::span<const double>
      offered_;  // the dual vector that the estimate is about: one of those above, or the centre
  RowModel::Sums at_z_;

  std::vector<double> induced_;  // X'S alpha_, but for the changes
  int updates_ = 0;              // of it since it was computed from nothing
  std::vector<double> gradient_, direction_, residual_;
  double least_q_ = 0.0;  // how narrow the smoothing may become
  double last_mismatch_ = infinity;
  double last_length_ = 1.0;  // of the last step, relative to the direction
  double forcing_ = 0.1;
  bool begun_ = false;
  bool thin_ = true;         // whether a sample of the rows will do for the matrix
  bool linearized_ = false;  // whether linear_alpha_ belongs to z_
  Estimate estimate_;
  bool stationary_ = false;
};

}  // namespace fenchel::solver
