// Absolute:  phi = |r|,  r = z - y.
// phi*(-alpha) = -y alpha  on  [-1, 1].  Not smooth.
// Fenchel-Young:  |r| (1 + alpha sign(r)).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

struct Absolute {
  static constexpr std::string_view name = "absolute";
  static constexpr std::string_view formula = "|z - y|";
  static constexpr Task task = Task::regression;
  static constexpr ConjugateShape conjugate_shape = ConjugateShape::parabola;
  static constexpr std::array<Field<Absolute>, 0> fields{};

  [[nodiscard]] double value(double y, double z) const { return std::fabs(z - y); }
  [[nodiscard]] double derivative(double y, double z) const { return z > y ? 1.0 : z < y ? -1.0 : 0.0; }
  [[nodiscard]] Interval dual_domain(double /*y*/) const { return {-1.0, 1.0}; }
  [[nodiscard]] double conjugate(double y, double alpha) const {
    return dual_domain(y).contains(alpha) ? -y * alpha : infinity;
  }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    const double bound = widen(std::fabs(z - y) * (1.0 + alpha * derivative(y, z)), 3);
    return std::fmin(infinity, bound);  // fmin: zero times an overflow is NaN
  }
  [[nodiscard]] double smoothness() const { return 0.0; }
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q) const {
    if (q <= 0.0) return y == z ? alpha : -derivative(y, z);
    return dual_domain(y).clamp(alpha + (y - z) / q);
  }
  [[nodiscard]] double clearance(double y, double alpha, double z) const {
    return clearance_in(dual_domain(y), alpha, y - z);
  }
};

static_assert(RestingLoss<Absolute>);

}  // namespace fenchel::loss
