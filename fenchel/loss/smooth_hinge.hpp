// Smooth hinge, with m = y z:  phi = 0 where m >= 1,  (1 - m)^2 / (2 gamma) between,  1 - m - gamma/2 where m <= 1
// - gamma. With a = y alpha:  phi*(-alpha) = gamma a^2 / 2 - a  on  a in [0, 1].  (1/gamma)-smooth. Fenchel-Young,
// in the same three ranges:
//     a ((m - 1) + gamma a / 2),   ((1 - m) - gamma a)^2 / (2 gamma),   (1 - a) ((1 - m - gamma) + gamma (1 - a) /
//     2).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

struct SmoothHinge {
  double gamma = 1.0;

  static constexpr std::string_view name = "smooth-hinge";
  static constexpr std::string_view formula =
      "0 if m >= 1; 1 - m - gamma/2 if m <= 1 - gamma; (1 - m)^2/(2 gamma) between";
  static constexpr Task task = Task::classification;
  static constexpr ConjugateShape conjugate_shape = ConjugateShape::parabola;
  static constexpr std::array<Field<SmoothHinge>, 1> fields{
      {{"gamma", &SmoothHinge::gamma, 0.0, infinity, true,
        "width of the quadratic piece; towards 0 it is the hinge"}}};

  [[nodiscard]] double value(double y, double z) const {
    const double slack = 1.0 - y * z;
    if (slack <= 0.0) return 0.0;
    const double excess = beyond_quadratic(y * z);
    return excess >= 0.0 ? excess + 0.5 * gamma : 0.5 * slack * (slack / gamma);
  }
  [[nodiscard]] double derivative(double y, double z) const {
    return -y * std::clamp((1.0 - y * z) / gamma, 0.0, 1.0);
  }
  [[nodiscard]] double second_derivative(double y, double z) const {
    return y * z < 1.0 && beyond_quadratic(y * z) < 0.0 ? 1.0 / gamma : 0.0;
  }
  [[nodiscard]] Interval dual_domain(double y) const { return y > 0 ? Interval{0.0, 1.0} : Interval{-1.0, 0.0}; }
  [[nodiscard]] double conjugate(double y, double alpha) const {
    const double a = y * alpha;
    return dual_domain(y).contains(alpha) ? a * (0.5 * gamma * a - 1.0) : infinity;
  }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    const double a = y * alpha;
    return std::fmin(infinity, bound(y * z, a, 1.0 - a));  // fmin: what overflows on the way is NaN
  }
  [[nodiscard]] double smoothness() const { return gamma; }
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q) const {
    const double a = y * alpha;
    return y * std::clamp(a + ((1.0 - y * z) - gamma * a) / (q + gamma), 0.0, 1.0);
  }
  [[nodiscard]] double clearance(double y, double alpha, double z) const {
    const double a = y * alpha;
    const double pull = (1.0 - y * z) - gamma * a;
    return a <= 0.0 ? -pull : a >= 1.0 ? pull : -std::fabs(pull);
  }

 private:
  [[nodiscard]] double bound(double m, double a, double b) const {
    if (m >= 1.0) return widen(a * widen((m - 1.0) + 0.5 * gamma * a, 2));
    const double excess = beyond_quadratic(m);
    if (excess >= 0.0) return widen(b * widen(excess + 0.5 * gamma * b, 4), 2);
    const double mismatch = quadratic_mismatch(m, a);
    return widen(0.5 * mismatch * widen(mismatch / gamma));
  }
  // 1 - m - gamma, with its exact sign: sum3 of three doubles has no cancellation left (either the second sum is
  // exact, or it is no smaller than half its terms).
  [[nodiscard]] double beyond_quadratic(double m) const { return sum3(1.0, -m, -gamma); }
  // An upper bound on |1 - m - gamma a|. The product is split into two doubles; the sum of the three large
  // terms is then known to two of its roundoffs, and so is what remains of it.
  [[nodiscard]] double quadratic_mismatch(double m, double a) const {
    const double product = gamma * a;
    const double tail = std::fma(gamma, a, -product);
    const double head = sum3(1.0, -m, -product);
    return widen(std::fabs(head - tail), 2) + widen(4 * unit_roundoff * std::fabs(head), 2);
  }
};

static_assert(CurvedLoss<SmoothHinge> && RestingLoss<SmoothHinge>);

}  // namespace fenchel::loss
