// Squared:  phi = (z - y)^2 / 2.
// phi*(-alpha) = alpha^2 / 2 - y alpha  on the whole line.  1-smooth.
// Fenchel-Young:  (y - z - alpha)^2 / 2.
#pragma once

#include <array>
#include <cmath>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

struct Squared {
  static constexpr std::string_view name = "squared";
  static constexpr std::string_view formula = "(z - y)^2 / 2";
  static constexpr Task task = Task::regression;
  static constexpr ConjugateShape conjugate_shape = ConjugateShape::parabola;
  static constexpr std::array<Field<Squared>, 0> fields{};

  [[nodiscard]] double value(double y, double z) const { return 0.5 * (z - y) * (z - y); }
  [[nodiscard]] double derivative(double y, double z) const { return z - y; }
  [[nodiscard]] double second_derivative(double /*y*/, double /*z*/) const { return 1.0; }
  [[nodiscard]] Interval dual_domain(double /*y*/) const { return {}; }
  [[nodiscard]] double conjugate(double y, double alpha) const { return alpha * (0.5 * alpha - y); }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    const double mismatch = magnitude_up(y, -z, -alpha);
    return std::fmin(infinity, widen(0.5 * mismatch * mismatch));  // fmin: sums that overflow are NaN
  }
  [[nodiscard]] double smoothness() const { return 1.0; }
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q) const {
    return alpha + (y - z - alpha) / (1.0 + q);
  }
};

static_assert(CurvedLoss<Squared> && DualStepLoss<Squared>);

}  // namespace fenchel::loss
