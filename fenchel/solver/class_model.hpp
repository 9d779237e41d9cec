// The rows' part of what `newton` minimises over all classes,  sum_i s_i phi_i(z_i)  with shares s_i = c_i / sum c; the counterpart of
// row_model.hpp for k scores a row. Second derivatives are weights as in loss/spread.hpp. Numbers of a row lie side by side, padded
// to `stride`; rows without a weight are left alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/base/line_slope.hpp"
#include "fenchel/problem/multiclass.hpp"

namespace fenchel::solver {

class ClassModel {
 public:
  ClassModel(const problem::MulticlassProblem& problem, std::size_t stride);

  // Everything at scores z, a row: the duals beta, the slopes s_i phi'_i with respect to the scores, and the weights s_i h. Returns
  // the risk,  sum s phi(z).
  double locate(std::span<const double> z, std::span<double> beta, std::span<double> slope,
                std::span<double> h) const;

  // First and second derivative of t -> sum_i s_i phi_i(z_i + t dz_i).
  [[nodiscard]] LineSlope along(std::span<const double> z, std::span<const double> dz, double t) const;

  // The duals whose slopes have changed by t s_i H_i dz_i.
  void linearize(std::span<const double> dz, double t, std::span<const double> h, std::span<const double> beta,
                 std::span<double> result) const;
  // Moves duals into their set, and returns sum s [phi + phi* - beta.a]; `moved` is what that did to the slopes.
  double admit(std::span<const double> z, std::span<double> beta, std::span<double> moved) const;

 private:
  template <class Sums, class Visit>
  Sums sum_rows(Visit&& visit) const;

  loss::AnyVector loss_;
  risk::ClassSample sample_;
  std::size_t stride_;
};

}  // namespace fenchel::solver
