// Quantile (pinball):  phi = tau r where r >= 0,  (1 - tau) |r| elsewhere,  r = y - z.
// phi*(-alpha) = -y alpha  on  [-(1 - tau), tau].  Not smooth.
// Fenchel-Young:  r (tau - alpha) where r >= 0,  |r| ((1 - tau) + alpha) elsewhere.
#pragma once

#include <array>
#include <cmath>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

struct Quantile {
  double tau = 0.5;

  static constexpr std::string_view name = "quantile";
  static constexpr std::string_view formula = "tau r if r >= 0, else (tau - 1) r, r = y - z";
  static constexpr Task task = Task::regression;
  static constexpr ConjugateShape conjugate_shape = ConjugateShape::parabola;
  static constexpr std::array<Field<Quantile>, 1> fields{
      {{"tau", &Quantile::tau, 0.0, 1.0, true, "the quantile to estimate; 0.5 is the median"}}};

  [[nodiscard]] double value(double y, double z) const { return y >= z ? tau * (y - z) : (1.0 - tau) * (z - y); }
  [[nodiscard]] double derivative(double y, double z) const {
    return z < y ? -tau : z > y ? complement_down() : 0.0;
  }
  [[nodiscard]] Interval dual_domain(double /*y*/) const { return {-complement_down(), tau}; }
  [[nodiscard]] double conjugate(double y, double alpha) const {
    return dual_domain(y).contains(alpha) ? -y * alpha : infinity;
  }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    const double slope = y >= z ? tau - alpha : magnitude_up(1.0, -tau, alpha);
    return std::fmin(infinity, widen(std::fabs(y - z) * slope, 3));  // fmin: zero times an overflow is NaN
  }
  [[nodiscard]] double smoothness() const { return 0.0; }
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q) const {
    if (q <= 0.0) return y == z ? alpha : -derivative(y, z);
    return dual_domain(y).clamp(alpha + (y - z) / q);
  }
  [[nodiscard]] double clearance(double y, double alpha, double z) const {
    return clearance_in(dual_domain(y), alpha, y - z);
  }

 private:
  // 1 - tau, rounded toward zero so that the dual domain never exceeds the exact one.
  [[nodiscard]] double complement_down() const {
    const TwoSum rest = two_sum(1.0, -tau);
    return rest.error < 0.0 ? std::nextafter(rest.sum, 0.0) : rest.sum;
  }
};

static_assert(RestingLoss<Quantile>);

}  // namespace fenchel::loss
