// Huber:  phi = r^2 / 2 where |r| <= delta,  delta |r| - delta^2 / 2 elsewhere,  r = z - y.
// phi*(-alpha) = alpha^2 / 2 - y alpha  on  [-delta, delta].  1-smooth.
// Fenchel-Young:  (r + alpha)^2 / 2 where |r| <= delta,  c ((|r| - delta) + c/2) with c = delta + alpha sign(r)
// elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

struct Huber {
  double delta = 1.0;

  static constexpr std::string_view name = "huber";
  static constexpr std::string_view formula = "r^2/2 if |r| <= delta, else delta |r| - delta^2/2, r = z - y";
  static constexpr Task task = Task::regression;
  static constexpr ConjugateShape conjugate_shape = ConjugateShape::parabola;
  static constexpr std::array<Field<Huber>, 1> fields{
      {{"delta", &Huber::delta, 0.0, infinity, true, "residual beyond which the loss grows linearly"}}};

  [[nodiscard]] double value(double y, double z) const {
    const double distance = std::fabs(z - y);
    return distance > delta ? delta * (distance - 0.5 * delta) : 0.5 * distance * distance;
  }
  [[nodiscard]] double derivative(double y, double z) const { return std::clamp(z - y, -delta, delta); }
  [[nodiscard]] double second_derivative(double y, double z) const { return std::fabs(z - y) <= delta ? 1.0 : 0.0; }
  [[nodiscard]] Interval dual_domain(double /*y*/) const { return {-delta, delta}; }
  [[nodiscard]] double conjugate(double y, double alpha) const {
    return dual_domain(y).contains(alpha) ? alpha * (0.5 * alpha - y) : infinity;
  }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    return std::fmin(infinity, bound(y, z, alpha));  // fmin: what overflows on the way is NaN
  }
  [[nodiscard]] double smoothness() const { return 1.0; }
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q) const {
    return dual_domain(y).clamp(alpha + (y - z - alpha) / (1.0 + q));
  }
  [[nodiscard]] double clearance(double y, double alpha, double z) const {
    return clearance_in(dual_domain(y), alpha, y - z - alpha);
  }

 private:
  // A residual that only rounding brought down to delta may take the first form: the parabola bounds the loss
  // everywhere.
  [[nodiscard]] double bound(double y, double z, double alpha) const {
    if (std::fabs(z - y) <= delta) {
      const double mismatch = magnitude_up(z, -y, alpha);
      return widen(0.5 * mismatch * mismatch);
    }
    const double sign = z > y ? 1.0 : -1.0;
    const double c = delta + alpha * sign;
    return widen(c * widen(magnitude_up(sign * z, -sign * y, -delta) + 0.5 * c, 2), 2);
  }
};

static_assert(CurvedLoss<Huber> && RestingLoss<Huber>);

}  // namespace fenchel::loss
