// Epsilon-insensitive:  phi = max(0, |r| - epsilon),  r = z - y.
// phi*(-alpha) = epsilon |alpha| - y alpha  on  [-1, 1].  Not smooth.
// Fenchel-Young, with b = |alpha| and e = |r| - epsilon:
//     e (1 - b) where e > 0 and alpha opposes r,   e + b (epsilon + |r|) where it does not,
//     b (epsilon + sign(alpha) r) where e <= 0.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

// Where a score lies relative to the tube [y - epsilon, y + epsilon]. The three-term sums have a relative error of
// two roundoffs and so their exact sign (either sum3's second sum is exact, or it is no smaller than half its
// terms); beyond the doubles they are infinite.
struct Tube {
  double y;
  double z;
  double epsilon;

  [[nodiscard]] double side() const { return z > y ? 1.0 : z < y ? -1.0 : 0.0; }
  [[nodiscard]] double distance() const { return std::fabs(z - y); }
  [[nodiscard]] double excess() const { return std::fmin(infinity, sum3(side() * z, -side() * y, -epsilon)); }
  // epsilon + sign r, at least zero inside the tube.
  [[nodiscard]] double room(double sign) const { return std::fmin(infinity, sum3(sign * z, -sign * y, epsilon)); }
  // The maximiser over t of (y - z)(t - alpha) - epsilon |t| - (curvature / 2) t^2 - (q / 2)(t - alpha)^2.
  [[nodiscard]] double step(double alpha, double q, double curvature) const {
    const double pull = (y - z) + q * alpha;
    return std::copysign(std::max(0.0, std::fabs(pull) - epsilon), pull) / (q + curvature);
  }
  // alpha = 0 is held back by the tube, all others by `bound` (infinite without one).
  [[nodiscard]] double clearance(double alpha, double curvature, double bound) const {
    if (alpha == 0.0) return epsilon - distance();
    const double pull = (y - z) - std::copysign(epsilon, alpha) - curvature * alpha;
    return clearance_in({-bound, bound}, alpha, pull);
  }
};

struct EpsilonInsensitive {
  double epsilon = 0.1;

  static constexpr std::string_view name = "epsilon-insensitive";
  static constexpr std::string_view formula = "max(0, |z - y| - epsilon)";
  static constexpr Task task = Task::regression;
  static constexpr ConjugateShape conjugate_shape = ConjugateShape::two_parabolas;
  static constexpr std::array<Field<EpsilonInsensitive>, 1> fields{
      {{"epsilon", &EpsilonInsensitive::epsilon, 0.0, std::numeric_limits<double>::max(), false,
        "residuals up to this size cost nothing"}}};

  [[nodiscard]] double value(double y, double z) const { return std::max(0.0, Tube{y, z, epsilon}.excess()); }
  [[nodiscard]] double derivative(double y, double z) const {
    const Tube tube{y, z, epsilon};
    return tube.excess() > 0.0 ? tube.side() : 0.0;
  }
  [[nodiscard]] Interval dual_domain(double /*y*/) const { return {-1.0, 1.0}; }
  [[nodiscard]] double conjugate(double y, double alpha) const {
    return dual_domain(y).contains(alpha) ? epsilon * std::fabs(alpha) - y * alpha : infinity;
  }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    return std::fmin(infinity, bound({y, z, epsilon}, alpha));  // fmin: zero times an overflow is NaN
  }
  [[nodiscard]] double smoothness() const { return 0.0; }
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q) const {
    if (q <= 0.0) return -derivative(y, z);
    return dual_domain(y).clamp(Tube{y, z, epsilon}.step(alpha, q, 0.0));
  }
  [[nodiscard]] double clearance(double y, double alpha, double z) const {
    return Tube{y, z, epsilon}.clearance(alpha, 0.0, 1.0);
  }

 private:
  [[nodiscard]] static double bound(const Tube& tube, double alpha) {
    const double b = std::fabs(alpha);
    const double excess = tube.excess();
    if (excess <= 0.0) return widen(b * tube.room(std::copysign(1.0, alpha)), 3);
    if (alpha * tube.side() <= 0.0) return widen(excess * (1.0 - b), 4);
    return widen(excess + widen(b * (tube.epsilon + tube.distance()), 3), 3);
  }
};

static_assert(RestingLoss<EpsilonInsensitive>);

}  // namespace fenchel::loss
