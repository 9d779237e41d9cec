// Hinge:  phi = max(0, 1 - m),  m = y z.
// With a = y alpha:  phi*(-alpha) = -a  on  a in [0, 1].  Not smooth.
// Fenchel-Young:  (1 - a)(1 - m) where m < 1,  a (m - 1) elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

struct Hinge {
  static constexpr std::string_view name = "hinge";
  static constexpr std::string_view formula = "max(0, 1 - m)";
  static constexpr Task task = Task::classification;
  static constexpr ConjugateShape conjugate_shape = ConjugateShape::parabola;
  static constexpr std::array<Field<Hinge>, 0> fields{};

  [[nodiscard]] double value(double y, double z) const { return std::max(0.0, 1.0 - y * z); }
  [[nodiscard]] double derivative(double y, double z) const { return y * z < 1.0 ? -y : 0.0; }
  [[nodiscard]] Interval dual_domain(double y) const { return y > 0 ? Interval{0.0, 1.0} : Interval{-1.0, 0.0}; }
  [[nodiscard]] double conjugate(double y, double alpha) const {
    return dual_domain(y).contains(alpha) ? -y * alpha : infinity;
  }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    const double slack = 1.0 - y * z;
    const double a = y * alpha;
    return widen(slack > 0.0 ? (1.0 - a) * slack : a * -slack, 3);
  }
  [[nodiscard]] double smoothness() const { return 0.0; }
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q) const {
    const double slack = 1.0 - y * z;
    const double a = y * alpha;
    if (q <= 0.0) return slack > 0.0 ? y : slack < 0.0 ? 0.0 : alpha;
    return y * std::clamp(a + slack / q, 0.0, 1.0);
  }
  [[nodiscard]] double clearance(double y, double alpha, double z) const {
    const double slack = 1.0 - y * z;
    const double a = y * alpha;
    return a <= 0.0 ? -slack : a >= 1.0 ? slack : -std::fabs(slack);
  }
};

static_assert(RestingLoss<Hinge>);

}  // namespace fenchel::loss
