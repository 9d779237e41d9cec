// A strongly convex separable penalty from its dual side, as bundle methods need it: for a slope v of the risk,
//     min over w of <v, w> + Omega(w) = -Omega*(-v),  attained at w(v) = grad Omega*(-v),
//     Omega*(u) = sum_j max(|u_j| - l1_j, 0)^2 / (2 l2_j),
// which is smooth, quadratic without l1 parts and piecewise quadratic with them.
#pragma once

#include <cstddef>
#include <span>

#include "fenchel/penalty/separable.hpp"

namespace fenchel::solver {

class PenaltyDual {
 public:
  explicit PenaltyDual(const penalty::Separable& penalty) : penalty_(penalty) {}

  [[nodiscard]] const penalty::Separable& penalty() const { return penalty_; }
  [[nodiscard]] bool quadratic() const { return penalty_.base().l1 == 0.0; }
  // Omega*(-v)
  [[nodiscard]] double conjugate(std::span<const double> v) const;
  // w = w(v)
  void minimizer(std::span<const double> v, std::span<double> w) const;
  // Whether v_j is where Omega* is curved, and its curvature 1/l2_j there.
  [[nodiscard]] bool curved(std::size_t j, double v) const {
    const double l1 = penalty_[j].l1;
    return l1 == 0.0 || std::fabs(v) > l1;
  }

  // The s in [0, 1] that maximises  s rise - Omega*(-(v + s d)),  a concave function of s, given its derivative at s = 0. In
  // closed form where Omega* is quadratic, else by Newton steps inside a bracket.
  [[nodiscard]] double line_maximizer(std::span<const double> v, std::span<const double> d, double slope) const;

 private:
  penalty::Separable penalty_;
};

}  // namespace fenchel::solver
