#include "fenchel/problem/certificate.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <utility>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/base/zeros.hpp"
#include "fenchel/problem/constraint_brackets.hpp"
#include "fenchel/problem/feasibility.hpp"
#include "fenchel/problem/two_levels.hpp"

namespace fenchel::problem {
namespace {

struct Uncertain {
  double value = 0.0;
  double error = 0.0;

  [[nodiscard]] Interval range() const { return {value - error, value + error}; }
};

// alpha_i = scale beta_i / c_i, with what the products and the slack leave open.
Uncertain dual_entry(const DualPoint& dual, double weight, std::size_t i) {
  if (dual.scale == 1.0 && weight == 1.0 && dual.slack.empty()) return {.value = dual.beta[i], .error = 0.0};
  const double slack = dual.slack.empty() ? 0.0 : dual.slack[i];
  if (dual.beta[i] == 0.0 && slack == 0.0) return {};
  const double alpha = dual.scale * dual.beta[i] / weight;
  // The products before the division may lose what is below the smallest double.
  const double error = 4 * unit_roundoff * std::fabs(alpha) + (dual.scale * slack + 2 * smallest_double) / weight;
  return {.value = alpha, .error = widen(error, 8)};
}

// Whether a bracket is exactly 0: alpha = 0 and the loss at its minimum 0 all over the range of z. Rounding outward would
// make it positive, and an optimum of 0 would never meet a relative tolerance.
template <class L>
bool exactly_zero(const L& loss, double y, Uncertain z, Uncertain alpha) {
  if constexpr (requires { L::never_zero; }) return false;
  if (alpha.value != 0.0 || alpha.error != 0.0 || !std::isfinite(z.value) || !std::isfinite(z.error)) return false;
  const Interval range = z.range();
  return loss.value(y, range.low) == 0.0 && loss.derivative(y, range.low) == 0.0 &&
         loss.value(y, range.high) == 0.0 && loss.derivative(y, range.high) == 0.0;
}

// A bracket, and its worst where both points are uncertain.
template <class L>
loss::Nearby bracket(const L& loss, double y, Uncertain z, Uncertain alpha) {
  if (!std::isfinite(z.value) || !std::isfinite(z.error))
    return {infinity, infinity};  // a maximum could hide a NaN
  const Interval domain = loss.dual_domain(y);
  if constexpr (loss::NearbyLoss<L>) {
    if (alpha.error == 0.0) return loss.fenchel_young_near(y, z.value, z.error, domain.clamp(alpha.value));
  }
  const Interval zs = z.range();
  const Interval alphas{domain.clamp(alpha.range().low), domain.clamp(alpha.range().high)};
  double worst = std::max(loss.fenchel_young(y, zs.low, alphas.low), loss.fenchel_young(y, zs.high, alphas.low));
  if (alphas.low != alphas.high) {
    worst =
        std::max({worst, loss.fenchel_young(y, zs.low, alphas.high), loss.fenchel_young(y, zs.high, alphas.high)});
  }
  return {.at = loss.fenchel_young(y, z.value, domain.clamp(alpha.value)), .most = worst};
}

// The loss where z is uncertain.
template <class L>
loss::Nearby loss_near(const L& loss, double y, double z, double error) {
  if constexpr (loss::NearbyLoss<L>) {
    if (std::isfinite(z)) return loss.value_near(y, z, error);
  }
  return {.at = std::isfinite(z) ? loss.value(y, z) : infinity,
          .most = std::max(loss.value(y, z - error), loss.value(y, z + error))};
}

TwoLevels loss_brackets(const Problem& problem, const PrimalPoint& primal, const DualPoint& dual) {
  return std::visit(
      [&](const auto& loss) {
        return block_sum<TwoLevels>(problem.rows(), [&](std::size_t i, TwoLevels& sum) {
          const double c = problem.sample.weight(i);
          if (c == 0.0) return;
          const double y = problem.sample.targets[i];
          const Uncertain z{.value = primal.z[i], .error = primal.z_error[i]};
          const Uncertain alpha = dual_entry(dual, c, i);
          if (exactly_zero(loss, y, z, alpha)) return;
          const loss::Nearby term = bracket(loss, y, z, alpha);
          sum.add(c * term.at, c * term.most);
        });
      },
      problem.loss);
}

TwoLevels penalty_brackets(const Problem& problem, const PrimalPoint& primal, const DualPoint& dual) {
  if (const auto& constraint = problem.penalty.constraint()) {
    return constraint_brackets(*constraint, primal.w, dual.u, dual.u_error);
  }
  const auto slope = [&](std::size_t j) -> Uncertain {
    const double u = dual.scale * dual.u[j];
    return {.value = u, .error = widen(dual.scale * dual.u_error[j] + 2 * unit_roundoff * std::fabs(u), 4)};
  };
  const auto exactly_zero = [&](std::size_t j) {
    return primal.w[j] == 0.0 && dual.scale * dual.u[j] == 0.0 && dual.u_error[j] == 0.0;
  };
  if (const penalty::Strength g = problem.penalty.base(); problem.penalty.uniform() && g.l1 == 0.0 && g.l2 > 0.0) {
    // The bracket is the square of a distance, to which the error of u is added: much less work than the corners below.
    return block_sum<TwoLevels>(problem.dimension(), [&, g](std::size_t j, TwoLevels& sum) {
      if (exactly_zero(j)) return;
      const Uncertain u = slope(j);
      const double distance = g.distance(primal.w[j], u.value);
      sum.add(g.half_square(distance), g.half_square(widen(distance + u.error)));
    });
  }
  return block_sum<TwoLevels>(problem.dimension(), [&](std::size_t j, TwoLevels& sum) {
    const penalty::Strength g = problem.penalty[j];
    if (g.unpenalized()) return;  // u_j = 0 exactly
    if (exactly_zero(j)) return;
    const Interval feasible{-g.dual_bound(), g.dual_bound()};
    const Uncertain entry = slope(j);
    const double u = entry.value;
    const double low = feasible.clamp(entry.range().low), high = feasible.clamp(entry.range().high);
    sum.add(g.fenchel_young(primal.w[j], feasible.clamp(u)),
            std::max(g.fenchel_young(primal.w[j], low), g.fenchel_young(primal.w[j], high)));
  });
}

// The largest scale in [0, 1] that makes scale * (u_j +- error_j) feasible for every coordinate.
double feasible_scale(const Problem& problem, const DualPoint& dual) {
  double scale = 1.0;
  for (std::size_t j = 0; j < dual.u.size(); ++j) {
    const penalty::Strength g = problem.penalty[j];
    if (g.unpenalized() || g.l2 > 0.0) continue;
    const double largest = widen(std::fabs(dual.u[j]) + dual.u_error[j], 2);
    if (largest > g.l1) scale = std::min(scale, narrow(g.l1 / largest, 2));
    if (std::isnan(largest)) scale = 0.0;
  }
  return scale;
}

}  // namespace

double Certificate::relative_gap() const {
  if (gap == 0.0) return 0.0;
  return gap / std::max(std::fabs(primal), std::fabs(dual));
}

void check_arithmetic() {
  // Another library of the process may have changed how doubles are rounded; then no bound of ours holds.
  const volatile double smallest_normal = std::numeric_limits<double>::min();
  const volatile double half = smallest_normal / 2;
  if (std::fegetround() != FE_TONEAREST || half == 0.0) {
    throw Error(
        Fault::failure,
        "this process does not round to nearest, or flushes small numbers to zero: no gap can be certified");
  }
}

Certificate certificate_of(double primal, double primal_low, const TwoLevels& losses, const TwoLevels& penalties,
                           double weight_sum) {
  Certificate result{.primal = primal};
  const double nearest = losses.nearest.total() / weight_sum + penalties.nearest.total();
  const bool zero = losses.terms == 0.0 && penalties.terms == 0.0;  // every bracket is exactly 0
  const double worst =
      zero ? 0.0
           : widen(widen(losses.bound() / weight_sum, sum_roundings) + widen(penalties.bound(), sum_roundings));
  if (!std::isfinite(worst) || !std::isfinite(primal) || !std::isfinite(primal_low)) return result;
  result.gap = worst;
  result.rounding = worst - nearest;
  // D = P - (exact gap) >= (lower bound on P) - gap.
  const double dual_value = primal_low - worst;
  result.dual = dual_value - 2 * unit_roundoff * std::fabs(dual_value) - smallest_double;
  return result;
}

Certifier::Certifier(const Problem& problem) : problem_(problem), map_(problem.design), unpenalized_(problem) {
  check_arithmetic();
}

PrimalPoint Certifier::primal(std::span<const double> w, double b) const { return located(w, b, BiasSearch::none); }

PrimalPoint Certifier::primal_with_best_bias(std::span<const double> w, double b) const {
  const BiasSearch search = problem_.free_bias ? BiasSearch::best : BiasSearch::none;
  if (!problem_.penalty.constraint()) return located(w, b, search);
  std::vector<double> inside(w.begin(), w.end());
  penalty::enter(*problem_.penalty.constraint(), inside);
  return located(inside, b, search);
}

PrimalPoint Certifier::located(std::span<const double> w, double b, BiasSearch search) const {
  PrimalPoint point{.w = {w.begin(), w.end()},
                    .b = b,
                    .z = LargeVector(problem_.rows()),
                    .z_error = LargeVector(problem_.rows())};
  map_.margins(w, point.z, point.z_error);
  if (search == BiasSearch::best) point.b = risk::best_bias(problem_.loss, problem_.sample, point.z, b);
  add_bias(point);
  evaluate(point);
  return point;
}

void Certifier::add_bias(PrimalPoint& point) const {
  if (point.b == 0.0) return;
  for_each_block(point.z.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const bool exact = point.z[i] == 0.0 && point.z_error[i] == 0.0;  // then the sum is b itself
      point.z[i] += point.b;
      if (!exact) point.z_error[i] = widen(point.z_error[i] + 2 * unit_roundoff * std::fabs(point.z[i]), 2);
    }
  });
}

PrimalPoint Certifier::stretched(const PrimalPoint& point, double factor) const {
  if (problem_.penalty.constraint()) return point;
  constexpr double near_underflow = 0x1p-900;  // below, rounding a weight is no relative error
  PrimalPoint result = point;
  for (double& w : result.w) {
    if (w != 0.0 && std::fabs(w) < near_underflow) return point;
    w *= factor;
  }
  result.b *= factor;
  for (std::size_t i = 0; i < result.z.size(); ++i) {
    result.z[i] *= factor;
    // Rounding the weights adds less than z_error itself, which holds at least three roundings of every product.
    result.z_error[i] = widen(
        2 * factor * point.z_error[i] + 4 * unit_roundoff * (std::fabs(result.z[i]) + std::fabs(result.b)), 4);
  }
  evaluate(result);
  return result;
}

// By convexity, a value at the centre of an interval lies at most as far
// above the values inside as the larger end lies above it; that bounds P from below.
void Certifier::evaluate(PrimalPoint& point) const {
  const TwoLevels risk = std::visit(
      [&](const auto& loss) {
        return block_sum<TwoLevels>(point.z.size(), [&](std::size_t i, TwoLevels& sum) {
          const double c = problem_.sample.weight(i);
          if (c == 0.0) return;
          const double y = problem_.sample.targets[i];
          const auto [value, ends] = loss_near(loss, y, point.z[i], point.z_error[i]);
          sum.add(c * value,
                  c * (std::max(0.0, ends - value) + 2 * sum_roundings * unit_roundoff * (value + ends)));
        });
      },
      problem_.loss);
  const double penalty = block_sum<CompensatedSum>(point.w.size(), [&](std::size_t j, CompensatedSum& sum) {
                           sum.add(problem_.penalty[j].value(point.w[j]));
                         }).total();
  point.value = risk.nearest.total() / problem_.sample.weight_sum + penalty;
  point.value_low =
      narrow(point.value, sum_roundings) - widen(risk.bound() / problem_.sample.weight_sum, sum_roundings);
  const auto& constraint = problem_.penalty.constraint();
  if (constraint && !penalty::contains(*constraint, point.w)) point.value = infinity;
}

DualPoint Certifier::dual(std::span<const double> alpha, std::span<const std::uint32_t> place) const {
  DualPoint point{.beta = weighted_dual(problem_, alpha, place)};
  const bool feasible = all_zero(point.beta);
  if (!feasible && unpenalized_.any()) {
    unpenalized_.repair(problem_, point);
  } else if (!feasible && problem_.free_bias) {
    zero_sum(problem_, point.beta);
  }
  evaluate(point);
  return point;
}

DualPoint Certifier::dual_of(const PrimalPoint& point) const {
  std::vector<double> alpha(point.z.size());
  std::visit(
      [&](const auto& loss) {
        for_each_block(alpha.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            alpha[i] = -loss.derivative(problem_.sample.targets[i], point.z[i]);
          }
        });
      },
      problem_.loss);
  return dual(alpha);
}

DualPoint Certifier::dual_as_given(std::vector<double> beta) const {
  DualPoint point{.beta = std::move(beta)};
  if (point.beta.size() != problem_.rows()) {
    point.value = -infinity;
    return point;
  }
  const bool feasible =
      unpenalized_.any() ? unpenalized_.verify(problem_, point) : exactly_feasible(problem_, point.beta);
  evaluate(point);
  if (!feasible) point.value = -infinity;
  return point;
}

void Certifier::evaluate(DualPoint& point) const {
  const double sum = problem_.sample.weight_sum;
  const bool zero = all_zero(point.beta);
  point.u.resize(problem_.dimension());
  point.u_error.resize(problem_.dimension());
  map_.adjoint(point.beta, point.u, point.u_error);
  std::vector<double> spread(point.slack.empty() ? 0 : problem_.dimension());
  if (!point.slack.empty()) {
    std::vector<double> ignored(problem_.dimension());
    map_.adjoint(point.slack, ignored, spread);
  }
  for_each_block(point.u.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const double slack = spread.empty() ? 0.0 : spread[j] + map_.adjoint_error(spread[j]);
      const double error = map_.adjoint_error(point.u_error[j]) + slack;
      point.u[j] /= sum;
      point.u_error[j] = zero ? 0.0 : widen(error / sum + 4 * unit_roundoff * std::fabs(point.u[j]), 8);
    }
  });
  point.scale = feasible_scale(problem_, point);
  const double conjugates = std::visit(
      [&](const auto& loss) {
        return block_sum<CompensatedSum>(point.beta.size(),
                                         [&](std::size_t i, CompensatedSum& s) {
                                           const double c = problem_.sample.weight(i);
                                           if (c == 0.0) return;
                                           const double y = problem_.sample.targets[i];
                                           const Interval alpha = dual_entry(point, c, i).range();
                                           const Interval domain = loss.dual_domain(y);
                                           double worst = loss.conjugate(y, domain.clamp(alpha.low));
                                           if (alpha.high != alpha.low) {
                                             worst = std::max(worst, loss.conjugate(y, domain.clamp(alpha.high)));
                                           }
                                           s.add(c * worst);
                                         })
            .total();
      },
      problem_.loss);
  // The value ranks dual points; claims come from brackets, in which the errors of u count even where u is 0.
  const double penalty = block_sum<CompensatedSum>(point.u.size(), [&](std::size_t j, CompensatedSum& s) {
                           const penalty::Strength g = problem_.penalty[j];
                           if (g.l2 > 0.0 && point.u[j] != 0.0)
                             s.add(g.conjugate(point.scale * (std::fabs(point.u[j]) + point.u_error[j])));
                         }).total();
  const auto& constraint = problem_.penalty.constraint();
  point.value = -conjugates / sum - (constraint ? penalty::support(*constraint, point.u) : penalty);
}

Certificate Certifier::pair(const PrimalPoint& primal, const DualPoint& dual) const {
  if (dual.value == -infinity) return {.primal = primal.value};
  return certificate_of(primal.value, primal.value_low, loss_brackets(problem_, primal, dual),
                        penalty_brackets(problem_, primal, dual), problem_.sample.weight_sum);
}

}  // namespace fenchel::problem
