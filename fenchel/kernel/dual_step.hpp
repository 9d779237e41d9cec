// The five ways of Prox-SDCA (Shalev-Shwartz and Zhang, Figure 1) to choose a new dual variable for one row. With
// u = -phi'(z), d = u - alpha and curvature q, the dual objective changes by
//     -phi*(-t) + phi*(-alpha) - z (t - alpha) - (q/2) (t - alpha)^2     when alpha becomes t.
// Every option increases it and stays inside the domain.
#pragma once

#include <algorithm>

#include "fenchel/loss/loss.hpp"

namespace fenchel::kernel {

enum class StepOption {
  exact = 1,         // I:   the maximiser over t
  segment = 2,       // II:  the maximiser between alpha and u
  bound = 3,         // III: a closed form on the segment from smoothness
  common_bound = 4,  // IV:  the same with the largest curvature in place of the row's
  constant = 5       // V:   a constant share of d, for smooth losses
};

struct StepRule {
  StepOption option = StepOption::exact;
  double tolerance = 0.0;          // on the optimality of steps that iterate, in units of z; 0: as exact as can be
  double largest_curvature = 0.0;  // for options IV and V
  double smoothing = 0.0;          // g: the loss is replaced by the one whose conjugate is phi*(-t) + (g/2) t^2
};

template <loss::DualStepLoss L>
double exact_step(const L& loss, double y, double alpha, double z, double q, double tolerance) {
  if constexpr (requires { loss.dual_step(y, alpha, z, q, tolerance); }) {
    return loss.dual_step(y, alpha, z, q, tolerance);
  } else {
    return loss.dual_step(y, alpha, z, q);
  }
}

// The maximiser for the loss or, under smoothing, its replacement: (g/2) t^2 + (q/2) (t - alpha)^2 is, up to a constant,
// one square about q alpha / (q + g).
template <loss::DualStepLoss L>
double best_step(const StepRule& rule, const L& loss, double y, double alpha, double z, double q) {
  if (rule.smoothing == 0.0) return exact_step(loss, y, alpha, z, q, rule.tolerance);
  const double sum = q + rule.smoothing;
  return exact_step(loss, y, alpha * (q / sum), z, sum, rule.tolerance);
}

// The Fenchel-Young term of the loss with smoothing g > 0: that of the loss itself less what it is at u, the point where
// the term of the smooth one vanishes.
template <loss::DualStepLoss L>
double smooth_term(double g, const L& loss, double y, double z, double alpha, double u) {
  const double difference = loss.fenchel_young(y, z, alpha) - loss.fenchel_young(y, z, u);
  return std::max(0.0, difference - 0.5 * g * (u - alpha) * (alpha + u));
}
template <loss::DualStepLoss L>
[[gnu::noinline]] double smooth_term(double g, const L& loss, double y, double z, double alpha) {
  return smooth_term(g, loss, y, z, alpha, exact_step(loss, y, 0.0, z, g, 0.0));
}

// Every option, and smoothing. Not inlined: one copy a loss instead of one a sweep keeps the library quick to compile.
template <loss::DualStepLoss L>
[[gnu::noinline]] double any_step(const StepRule& rule, const L& loss, double y, double alpha, double z, double q) {
  if (rule.option == StepOption::exact) return best_step(rule, loss, y, alpha, z, q);
  const double g = rule.smoothing;
  const double u = g > 0.0 ? exact_step(loss, y, 0.0, z, g, 0.0) : -loss.derivative(y, z);
  const double d = u - alpha;
  if (d == 0.0) return alpha;
  const double gamma = loss.smoothness() + g;
  const auto moved = [&](double share) {
    return share >= 1.0 ? u : std::clamp(alpha + share * d, std::min(alpha, u), std::max(alpha, u));
  };
  const auto bounded = [&](double curvature) {
    const double term = g > 0.0 ? smooth_term(g, loss, y, z, alpha, u) : loss.fenchel_young(y, z, alpha);
    return moved((term / (d * d) + 0.5 * gamma) / (gamma + curvature));
  };
  switch (rule.option) {
    case StepOption::exact: break;
    case StepOption::segment:
      // The objective is concave in t: its maximiser on a segment is the nearest point to its maximiser.
      return std::clamp(best_step(rule, loss, y, alpha, z, q), std::min(alpha, u), std::max(alpha, u));
    case StepOption::bound: return bounded(q);
    case StepOption::common_bound: return bounded(rule.largest_curvature);
    case StepOption::constant: return moved(gamma / (gamma + rule.largest_curvature));
  }
  return alpha;
}

template <loss::DualStepLoss L>
double dual_step(const StepRule& rule, const L& loss, double y, double alpha, double z, double q) {
  if (rule.option == StepOption::exact && rule.smoothing == 0.0) {
    return exact_step(loss, y, alpha, z, q, rule.tolerance);
  }
  return any_step(rule, loss, y, alpha, z, q);
}

}  // namespace fenchel::kernel
