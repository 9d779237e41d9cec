// Logistic:  phi = log(1 + exp(-m)),  m = y z.
// With a = y alpha:  phi*(-alpha) = a log a + (1 - a) log(1 - a)  on  a in [0, 1].  (1/4)-smooth.
// Fenchel-Young:  the Kullback-Leibler divergence of a from p = 1 / (1 + exp(m)), which is
//     p h((a - p) / p) + (1 - p) h((p - a) / (1 - p)),   h(t) = (1 + t) log(1 + t) - t >= 0.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::loss {

// 1 / (1 + exp(-u)), accurate in both tails.
inline double sigmoid(double u) {
  const double e = std::exp(-std::fabs(u));
  return (u < 0.0 ? e : 1.0) / (1.0 + e);
}

// Upper bounds on the divergence of Bernoulli distributions. The library's exp, log and log1p are taken to be
// within 4 ulp, that is 8 u relatively; all other constants follow from this one.
namespace divergence {

// h(t) / t^2 by its series up to t^(Last - 2).
template <int Last>
double entropy_series(double t) {
  double sum = 0.0;
  for (int k = Last; k >= 2; --k) sum = 1.0 / (k * (k - 1)) - t * sum;
  return sum;
}

// h(t) from above, for t >= -1. The series leave out less than u / 2 relatively; rounding adds less than 6 u.
inline double entropy_up(double t) {
  if (std::fabs(t) < 0x1p-10) return widen(t * t * entropy_series<7>(t), 8);
  if (std::fabs(t) < 0.125) return widen(t * t * entropy_series<17>(t), 8);
  if (t <= -1.0) return 1.0;
  const double product = (1.0 + t) * std::log1p(t);
  return (product - t) + 16 * unit_roundoff * (std::fabs(product) + std::fabs(t));
}

struct Bound {
  double divergence;
  double distance;  // |a - p| at most
};

// 0 <= m <= 690, with a + tail for a. Here p and a - p are known to a few roundoffs of p and of themselves; h takes
// their ratio pushed outward.
inline Bound moderate(double m, double a, double tail) {
  const double e = std::exp(-m);
  const double p = e / (1.0 + e);       // <= 1/2; 8 u from exp, 2 u of its own
  const double rest = 1.0 / (1.0 + e);  // 1 - p; 4 u from exp, 2 u of its own
  const double difference = sum3(a, -p, tail);
  const double uncertainty = 13 * unit_roundoff * p;
  const double distance = widen(std::fabs(difference), 2) + uncertainty;
  const double t = widen(distance / p, 16);
  const double s = widen(distance / rest, 12);
  // h falls and rises about 0, faster on the left: where the sign is in doubt, the left is the bound.
  const bool in_doubt = std::fabs(difference) <= uncertainty;
  const double at_p = entropy_up(in_doubt || difference < 0.0 ? std::max(-1.0, -t) : t);
  const double at_rest = entropy_up(in_doubt || difference > 0.0 ? std::max(-1.0, -s) : s);
  return {.divergence = widen(widen(p * at_p, 14) + widen(rest * at_rest, 10)), .distance = distance};
}

// m > 690, where p < 1e-299, with b for 1 - a:  a (m + log a) + b log b + log(1 + exp(-m)), the last term being part
// of the slack.
inline double extreme(double m, double a, double b) {
  const double first = a > 0.0 ? a * m + a * std::log(a) : 0.0;
  const double second = b <= 0.0 ? 0.0 : b * (a < 0.5 ? std::log1p(-a) : std::log(b));
  const double terms = a > 0.0 ? a * m - a * std::log(a) : 0.0;
  return std::max(0.0, first + second) + 32 * unit_roundoff * (terms - second) + 1e-290;
}

}  // namespace divergence

struct Logistic {
  static constexpr std::string_view name = "logistic";
  static constexpr std::string_view formula = "log(1 + exp(-m))";
  static constexpr Task task = Task::classification;
  static constexpr std::array<Field<Logistic>, 0> fields{};
  static constexpr bool never_zero = true;  // a computed 0 is an underflow

  [[nodiscard]] double value(double y, double z) const {
    const double m = y * z;
    return std::max(0.0, -m) + std::log1p(std::exp(-std::fabs(m)));
  }
  [[nodiscard]] double derivative(double y, double z) const { return -y * sigmoid(-y * z); }
  [[nodiscard]] double second_derivative(double y, double z) const { return sigmoid(y * z) * sigmoid(-y * z); }
  [[nodiscard]] Interval dual_domain(double y) const { return y > 0 ? Interval{0.0, 1.0} : Interval{-1.0, 0.0}; }
  [[nodiscard]] double conjugate(double y, double alpha) const {
    const double a = y * alpha;
    if (!dual_domain(y).contains(alpha)) return infinity;
    return a <= 0.0 || a >= 1.0 ? 0.0 : a * std::log(a) + (1.0 - a) * std::log1p(-a);
  }
  [[nodiscard]] double fenchel_young(double y, double z, double alpha) const {
    return fenchel_young_and_distance(y, z, alpha).divergence;
  }
  // Near z the divergence D has D' = a - p up to its sign, |D'| <= 1 and D'' <= 1/4; phi has |phi'| = p <= phi, and in a
  // hundredth p grows by less than 2 %.
  [[nodiscard]] Nearby fenchel_young_near(double y, double z, double error, double alpha) const {
    const divergence::Bound here = fenchel_young_and_distance(y, z, alpha);
    return {.at = here.divergence,
            .most = widen(here.divergence + error * std::min(1.0, here.distance + 0.125 * error), 8)};
  }
  [[nodiscard]] Nearby value_near(double y, double z, double error) const {
    const double here = value(y, z);
    constexpr double large_for_p = 0.01,
                     small_for_value = 1e-290;  // where the value is no longer exact to some roundoffs
    if (error > large_for_p || here < small_for_value) {
      return {.at = here, .most = std::max(value(y, z - error), value(y, z + error))};
    }
    return {.at = here, .most = here + 1.02 * error * std::min(here, 1.0)};
  }
  [[nodiscard]] double smoothness() const { return 4.0; }
  // Safeguarded Newton for the logit u of the new a, the root of the increasing h(u) = u + m + q (sigmoid(u) - a), until
  // |h| is at most `tolerance` or rounding. Steps that leave the bracket, or are not half the one before, give way to
  // bisection: else they may cycle.
  [[nodiscard]] double dual_step(double y, double alpha, double z, double q, double tolerance = 0.0) const {
    const double m = y * z;
    const double a = y * alpha;
    double low = -m - q * (1.0 - a);
    double high = -m + q * a;
    double u = std::clamp(starting_logit(a, m, q), low, high);
    double last_step = high - low;
    for (int iteration = 0; iteration < 200; ++iteration) {
      const double e = std::exp(-std::fabs(u));
      const double p = (u < 0.0 ? e : 1.0) / (1.0 + e);
      const double h = u + m + q * (p - a);
      const double rounding = 4.5e-16 * (std::fabs(u) + std::fabs(m) + q * std::max(p, a));
      if (std::fabs(h) <= std::max(rounding, tolerance)) return y * p;
      (h < 0.0 ? low : high) = u;
      const double step = h / (1.0 + q * e / ((1.0 + e) * (1.0 + e)));
      double next = u - step;
      const bool newton = next > low && next < high && std::fabs(step) <= 0.5 * std::fabs(last_step);
      if (!newton) next = 0.5 * low + 0.5 * high;
      last_step = next - u;
      u = next;
      if (std::fabs(last_step) <= 2.3e-16 * std::max(1.0, std::fabs(u))) break;
    }
    return y * sigmoid(u);
  }

 private:
  static divergence::Bound fenchel_young_and_distance(double y, double z, double alpha) {
    const double m = y * z;
    const double a = y * alpha;
    const TwoSum b = two_sum(1.0, -a);  // 1 - a, exactly
    const bool mirrored = m < 0.0;      // (a, m) and (1 - a, -m) have the same divergence
    if (std::fabs(m) > 690.0) {
      // |a - p| <= max(a, p), and p is next to nothing.
      return {.divergence = mirrored ? divergence::extreme(-m, b.sum, a) : divergence::extreme(m, a, b.sum),
              .distance = std::max(mirrored ? b.sum : a, 1e-299)};
    }
    return mirrored ? divergence::moderate(-m, b.sum, b.error) : divergence::moderate(m, a, 0.0);
  }
  // Where curvature is small the root is near -m, else near the old logit, which costs two logarithms.
  static double starting_logit(double a, double m, double q) {
    constexpr double small_curvature = 4.0;  // h' is then between 1 and 2
    if (q <= small_curvature) return -m;
    return a > 0.0 && a < 1.0 ? std::log(a) - std::log1p(-a) : 0.0;
  }
};

static_assert(CurvedLoss<Logistic> && DualStepLoss<Logistic> && NearbyLoss<Logistic>);

}  // namespace fenchel::loss
