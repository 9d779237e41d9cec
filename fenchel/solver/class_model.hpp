// The rows' part of what `newton` minimises over all classes,  sum_i s_i psi_i(z_i)  with shares s_i = c_i / sum c; the counterpart of
// row_model.hpp for k scores a row.
//
// Smooth losses: psi = phi. The multiclass hinge: the proximal point smoothing about a dual vector,
//     psi(a) = max over t of  -phi*(t) + t.a - (q/2) (||t - center||^2 + (sum t - sum center)^2),
// whose gradient t is the loss's dual step. Second derivatives are weights as in loss/spread.hpp. Numbers of a row lie side by
// side, padded to `stride`.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/problem/multiclass.hpp"

namespace fenchel::solver {

class ClassModel {
 public:
  ClassModel(const problem::MulticlassProblem& problem, std::size_t stride);

  [[nodiscard]] bool smooth() const { return smooth_; }
  [[nodiscard]] bool sparse() const { return sparse_; }  // whether most duals are 0

  // The centre and the width q of the smoothing; nothing for smooth losses.
  void center(std::span<const double> beta, double q);
  [[nodiscard]] double q() const { return q_; }
  // Weights h are kept without this factor.
  [[nodiscard]] double scale() const { return smooth_ ? 1.0 : 1.0 / q_; }

  // Sums at a point, in plain arithmetic.
  struct Sums {
    double risk = 0.0;      // sum s phi(z), never smoothed
    double brackets = 0.0;  // sum s [phi + phi* - beta.a]
    double weight = 0.0;    // sum of the weights h, infinite ones left out
    void add(const Sums& other) {
      risk += other.risk;
      brackets += other.brackets;
      weight += other.weight;
    }
  };
  // Everything at scores z, a row: the duals beta, the slopes s_i psi'_i with respect to the scores, and the weights s_i h / scale().
  // The brackets are 0 for smooth losses.
  Sums locate(std::span<const double> z, std::span<double> beta, std::span<double> slope,
              std::span<double> h) const;
  // Weights of a function that lies above every psi_i, and touches it anywhere.
  void majorize(std::span<double> h) const;

  // First and second derivative of t -> sum_i s_i psi_i(z_i + t dz_i).
  struct Slope {
    double first = 0.0;
    double second = 0.0;
    void add(const Slope& other) {
      first += other.first;
      second += other.second;
    }
  };
  [[nodiscard]] Slope along(std::span<const double> z, std::span<const double> dz, double t) const;

  // Adds t s_i H_i dz_i to the slopes, the duals changing with them.
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
  bool smooth_;
  bool sparse_;
  std::vector<double> center_;
  double q_ = 0.0;
};

}  // namespace fenchel::solver
