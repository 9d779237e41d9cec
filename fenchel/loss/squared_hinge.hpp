// Squared hinge:  phi = max(0, 1 - m)^2,  m = y z.
// With a = y alpha:  phi*(-alpha) = a^2 / 4 - a  on  a >= 0.  2-smooth.
// Fenchel-Young:  ((1 - m) - a/2)^2 where m <= 1,  a (a/4 + (m - 1)) elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

struct SquaredHinge {
  static constexpr std::string_view name = "squared-hinge";
  static constexpr std::string_view formula = "max(0, 1 - m)^2";
  static constexpr Task task = Task::classification;
  static constexpr ConjugateShape conjugate_shape = ConjugateShape::parabola;
  static constexpr std::array<Field<SquaredHinge>, 0> fields{};

  [[nodiscard]] double value(double y, double z) const {
    const double slack = std::max(0.0, 1.0 - y * z);
    return slack * slack;
  }
  [[nodiscard]] double derivative(double y, double z) const { return -2.0 * y * std::max(0.0, 1.0 - y * z); }
  [[nodiscard]] double second_derivative(double y, double z) const { return y * z < 1.0 ? 2.0 : 0.0; }
  [[nodiscard]] Interval dual_domain(double y) const {
    return y > 0 ? Interval{0.0, infinity} : Interval{-infinity, 0.0};
  }
  [[nodiscard]] double conjugate(double y, double alpha) const {
    const double a = y * alpha;
    return a >= 0.0 ? a * (0.25 * a - 1.0) : infinity;
  }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    const double m = y * z;
    const double a = y * alpha;
    if (m > 1.0) return widen(a * (0.25 * a + (m - 1.0)), 3);
    const double mismatch = magnitude_up(1.0, -m, -0.5 * a);
    return std::fmin(infinity, widen(mismatch * mismatch));  // fmin: sums that overflow are NaN
  }
  [[nodiscard]] double smoothness() const { return 0.5; }
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q) const {
    const double a = y * alpha;
    return y * std::max(0.0, a + ((1.0 - y * z) - 0.5 * a) / (q + 0.5));
  }
  [[nodiscard]] double clearance(double y, double alpha, double z) const {
    const double a = y * alpha;
    const double pull = (1.0 - y * z) - 0.5 * a;
    return a <= 0.0 ? -pull : -std::fabs(pull);
  }
};

static_assert(CurvedLoss<SquaredHinge> && RestingLoss<SquaredHinge>);

}  // namespace fenchel::loss
