// The rows' part of what `newton` minimises over all classes,  sum_i s_i phi_i(z_i)  with shares s_i = c_i / sum c; the counterpart of
// row_model.hpp for k scores a row. Losses whose duals are mostly 0 are smoothed about a dual vector c,
//     psi(z) = max over t of  t.a - phi*(t) - (q/2) (||t - c||^2 + (sum t - sum c)^2),
// whose gradient is the loss's dual step. Second derivatives are weights as in loss/spread.hpp. Numbers of a row lie side by side, padded
// to `stride`; rows without a weight are left alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/base/line_slope.hpp"
#include "fenchel/problem/multiclass.hpp"
#include "fenchel/solver/best_multiple.hpp"

namespace fenchel::solver {

class ClassModel {
 public:
  ClassModel(const problem::MulticlassProblem& problem, std::size_t stride);

  [[nodiscard]] bool smoothed() const { return smoothed_; }
  // The centre c and the width q of the smoothing.
  void center(std::span<const double> beta, double q);
  [[nodiscard]] double q() const { return q_; }

  struct Sums {
    double risk = 0.0;      // sum s phi(z), never smoothed
    double brackets = 0.0;  // sum s [phi + phi* - beta.a], where the loss is smoothed
    void add(const Sums& other) {
      risk += other.risk;
      brackets += other.brackets;
    }
  };
  // Everything at scores z, a row: the duals beta, the slopes s_i psi'_i with respect to the scores, and the weights s_i h.
  Sums locate(std::span<const double> z, std::span<double> beta, std::span<double> slope,
              std::span<double> h) const;

  // First and second derivative of t -> sum_i s_i phi_i(z_i + t dz_i).
  [[nodiscard]] LineSlope along(std::span<const double> z, std::span<const double> dz, double t) const;

  // The multiple t of a point with scores z that minimises  sum_i s_i phi_i(t z_i) + t^2 penalty,  phi never smoothed, and the minimum.
  [[nodiscard]] Multiple best_multiple(std::span<const double> z, double penalty) const;

  // The duals whose slopes have changed by t s_i H_i dz_i.
  void linearize(std::span<const double> dz, double t, std::span<const double> h, std::span<const double> beta,
                 std::span<double> result) const;
  // Moves duals into their set, and returns sum s [phi + phi* - beta.a]; `moved` is what that did to the slopes.
  double admit(std::span<const double> z, std::span<double> beta, std::span<double> moved) const;

 private:
  // sum_i s_i phi_i(t z_i) and its derivative in t.
  [[nodiscard]] Ray along_ray(std::span<const double> z, double t) const;
  // max over l != y of z_l - z_y, a row
  [[nodiscard]] std::vector<double> largest_margins(std::span<const double> z) const;
  template <class Total, class Visit>
  Total sum_rows(Visit&& visit) const;
  // The gradient beta at the row's margins, and the weights of the second derivative.
  template <class L>
  void differentiate(const L& loss, std::size_t i, std::span<const double> margins, std::span<double> beta,
                     std::span<double> weights, std::span<double> scratch) const;

  loss::AnyVector loss_;
  risk::ClassSample sample_;
  std::size_t stride_;
  bool smoothed_;
  std::vector<double> center_;
  double q_ = 0.0;
};

}  // namespace fenchel::solver
