// Squared epsilon-insensitive:  phi = max(0, |r| - epsilon)^2,  r = z - y.
// phi*(-alpha) = alpha^2 / 4 + epsilon |alpha| - y alpha  on the whole line.  2-smooth.
// Fenchel-Young, with b = |alpha| and e = |r| - epsilon:
//     (e - b/2)^2 where e > 0 and alpha opposes r,   e^2 + b (b/4 + epsilon + |r|) where it does not,
//     b (b/4 + epsilon + sign(alpha) r) where e <= 0.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/epsilon_insensitive.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

struct SquaredEpsilonInsensitive {
  double epsilon = 0.1;

  static constexpr std::string_view name = "squared-epsilon-insensitive";
  static constexpr std::string_view formula = "max(0, |z - y| - epsilon)^2";
  static constexpr Task task = Task::regression;
  static constexpr ConjugateShape conjugate_shape = ConjugateShape::two_parabolas;
  static constexpr std::array<Field<SquaredEpsilonInsensitive>, 1> fields{
      {{"epsilon", &SquaredEpsilonInsensitive::epsilon, 0.0, std::numeric_limits<double>::max(), false,
        "residuals up to this size cost nothing"}}};

  [[nodiscard]] double value(double y, double z) const {
    const double excess = std::max(0.0, Tube{y, z, epsilon}.excess());
    return excess * excess;
  }
  [[nodiscard]] double derivative(double y, double z) const {
    const Tube tube{y, z, epsilon};
    const double excess = tube.excess();
    return excess > 0.0 ? 2.0 * tube.side() * excess : 0.0;
  }
  [[nodiscard]] double second_derivative(double y, double z) const {
    return Tube{y, z, epsilon}.excess() >= 0.0 ? 2.0 : 0.0;
  }
  [[nodiscard]] Interval dual_domain(double /*y*/) const { return {}; }
  [[nodiscard]] double conjugate(double y, double alpha) const {
    return alpha * (0.25 * alpha - y) + epsilon * std::fabs(alpha);
  }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    return std::fmin(infinity, bound({y, z, epsilon}, alpha));  // fmin: what overflows on the way is NaN
  }
  [[nodiscard]] double smoothness() const { return 0.5; }
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q) const {
    return Tube{y, z, epsilon}.step(alpha, q, 0.5);
  }
  [[nodiscard]] double clearance(double y, double alpha, double z) const {
    return Tube{y, z, epsilon}.clearance(alpha, 0.5, infinity);
  }

 private:
  [[nodiscard]] static double bound(const Tube& tube, double alpha) {
    const double b = std::fabs(alpha);
    const double excess = tube.excess();
    if (excess <= 0.0) return widen(b * (0.25 * b + tube.room(std::copysign(1.0, alpha))), 4);
    if (alpha * tube.side() <= 0.0) {
      const double gap = mismatch(tube, 0.5 * b);
      return widen(gap * gap);
    }
    return widen(widen(excess * excess, 5) + widen(b * (0.25 * b + (tube.epsilon + tube.distance())), 4));
  }
  // An upper bound on | |r| - epsilon - h |. All rounding errors of the three sums are kept; adding those three up
  // costs at most 6 u^2 of the four terms together.
  [[nodiscard]] static double mismatch(const Tube& tube, double h) {
    const TwoSum first = two_sum(tube.side() * tube.z, -tube.side() * tube.y);
    const TwoSum second = two_sum(first.sum, -tube.epsilon);
    const TwoSum third = two_sum(second.sum, -h);
    const double sum = third.sum + ((first.error + second.error) + third.error);
    const double terms = std::fabs(tube.z) + std::fabs(tube.y) + tube.epsilon + h;
    return widen(std::fabs(sum), 2) + 8 * unit_roundoff * unit_roundoff * terms;
  }
};

static_assert(CurvedLoss<SquaredEpsilonInsensitive> && RestingLoss<SquaredEpsilonInsensitive>);

}  // namespace fenchel::loss
