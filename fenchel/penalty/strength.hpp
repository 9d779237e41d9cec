// One coordinate of a separable penalty,  g(w) = l1 |w| + (l2/2) w^2,  with l1, l2 >= 0 as exact doubles.
//     g*(u) = max(|u| - l1, 0)^2 / (2 l2);   for l2 = 0:  0 where |u| <= l1, else +infinity.
// Fenchel-Young  g(w) + g*(u) - w u, with s = sign(w):
//     l1 = 0:  (l2 w - u)^2 / (2 l2)
//     l2 > 0:  w = 0:       max(|u| - l1, 0)^2 / (2 l2)
//              s u >= l1:   (l2 |w| - (s u - l1))^2 / (2 l2)
//              otherwise:   |w| (l1 - s u) + l2 w^2 / 2 + max(-s u - l1, 0)^2 / (2 l2)
//     l2 = 0:  |w| (l1 - s u)
#pragma once

#include <algorithm>
#include <cmath>

#include "fenchel/base/interval.hpp"
#include "fenchel/base/rounding.hpp"

namespace fenchel::penalty {

inline double soft_threshold(double v, double t) { return v > t ? v - t : v < -t ? v + t : 0.0; }

struct Strength {
  double l1 = 0.0;
  double l2 = 0.0;

  [[nodiscard]] bool unpenalized() const { return l1 == 0.0 && l2 == 0.0; }
  [[nodiscard]] double value(double w) const { return l1 * std::fabs(w) + 0.5 * l2 * w * w; }

  [[nodiscard]] double conjugate(double u) const {
    const double excess = std::fabs(u) - l1;
    if (excess <= 0.0) return 0.0;
    return l2 > 0.0 ? 0.5 * excess * excess / l2 : infinity;
  }
  // The maximiser of w u - g(w); needs l2 > 0.
  [[nodiscard]] double conjugate_gradient(double u) const { return soft_threshold(u, l1) / l2; }

  // argmin over w of t g(w) + (w - v)^2 / 2
  [[nodiscard]] double prox(double v, double t) const { return soft_threshold(v, t * l1) / (1.0 + t * l2); }

  // The bound on |u| that dual feasibility asks for.
  [[nodiscard]] double dual_bound() const { return l2 > 0.0 ? infinity : l1; }

  // |l2 w - u|, rounded outward.
  [[nodiscard]] double distance(double w, double u) const {
    const double lw = l2 * w;
    return widen(std::fabs(lw - u)) + (unit_roundoff * std::fabs(lw) + smallest_double);
  }
  // Rounded outward: never below the exact value. For l2 = 0 it expects |u| <= l1.
  [[nodiscard]] double fenchel_young(double w, double u) const {
    if (l1 == 0.0 && l2 > 0.0) return half_square(w == 0.0 ? std::fabs(u) : distance(w, u));
    const double su = w < 0.0 ? -u : u;
    const double a = std::fabs(w);
    if (l2 == 0.0) return a == 0.0 ? 0.0 : widen(a * magnitude_up(l1, -su), 3);
    if (a == 0.0) return excess_square(std::fabs(u));
    if (su >= l1) {
      const double lw = l2 * a;
      return half_square(magnitude_up(lw, -su, l1) + unit_roundoff * lw + smallest_double);
    }
    const double below = -su > l1 ? excess_square(-su) : 0.0;
    return widen(a * magnitude_up(l1, -su) + 0.5 * a * (l2 * a + smallest_double) + below, 6);
  }

  // x^2 / (2 l2) for x >= 0, rounded outward, in an order in which the square cannot underflow before the division.
  [[nodiscard]] double half_square(double x) const {
    if (x == 0.0) return 0.0;
    // Coordinates that nothing touches have errors like that; subnormal numbers on the way would be slow.
    if (x < 0x1p-600 && l2 > 0x1p-120) return smallest_double;
    return widen(0.5 * (x * (x / l2)), 4);  // halved last: half of a subnormal number may be rounded
  }

 private:
  [[nodiscard]] double excess_square(double magnitude) const {
    return magnitude <= l1 ? 0.0 : half_square(magnitude_up(magnitude, -l1));
  }
};

}  // namespace fenchel::penalty
