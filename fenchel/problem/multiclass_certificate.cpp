#include "fenchel/problem/multiclass_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/base/zeros.hpp"
#include "fenchel/problem/circulation.hpp"
#include "fenchel/problem/two_levels.hpp"

namespace fenchel::problem {
namespace {

// The margins of one row against its own class, with what they are uncertain by.
struct RowMargins {
  std::vector<double> a;
  double error = 0.0;  // see RowPoint::a_error

  explicit RowMargins(std::size_t classes) : a(classes) {}

  void take(const MulticlassPrimal& point, std::size_t i, std::size_t y) {
    const std::size_t k = a.size();
    const std::span<const double> z = std::span(point.z).subspan(i * k, k);
    risk::margins_of(z, point.b, y, a);
    error = 2 * point.z_error[i];
    if (!point.b.empty()) {  // adding the biases rounds once more on either side
      double largest = 0.0;
      for (std::size_t l = 0; l < k; ++l) largest = std::max(largest, std::fabs(z[l] + point.b[l]));
      error += 4 * unit_roundoff * largest;
    }
    error = widen(error, 4);
  }
  // How much a loss, which changes by at most the largest change of a margin, may differ from the exact one.
  [[nodiscard]] double loss_error() const {
    double largest = 0.0;
    for (const double margin : a) {
      if (!std::isfinite(margin)) return infinity;  // a maximum could hide a NaN
      largest = std::max(largest, std::fabs(margin));
    }
    return widen(error + 4 * unit_roundoff * largest, 4);
  }
};

// beta_i = scale B_i / c_i and 1 - sum beta_i, with what the operations leave open.
struct RowDuals {
  std::vector<double> beta;
  double relative_error = 0.0;
  double rest = 1.0;
  double rest_error = 0.0;

  explicit RowDuals(std::size_t classes) : beta(classes) {}

  void take(const MulticlassDual& dual, std::size_t i, double c) {
    const std::size_t k = beta.size();
    const double* const B = dual.beta.data() + i * k;
    CompensatedSum left;
    left.add(c);
    for (std::size_t l = 0; l < k; ++l) {
      beta[l] = dual.scale == 1.0 && c == 1.0 ? B[l] : dual.scale * B[l] / c;
      left.add(-dual.scale * B[l]);
    }
    const bool exact = dual.scale == 1.0 && c == 1.0;
    relative_error = exact ? 0.0 : 6 * unit_roundoff;
    rest = std::max(0.0, left.total() / c);
    // The compensated sum is right up to second order; a product with the scale costs a rounding of the whole.
    const auto terms = static_cast<double>(k + 2);
    rest_error = widen(4 * unit_roundoff * rest + 4 * terms * terms * unit_roundoff * unit_roundoff +
                           (dual.scale == 1.0 ? 0.0 : 4 * unit_roundoff),
                       4);
    if (left.total() == c) rest = 1.0, rest_error = 0.0;
  }
};

loss::RowPoint point_of(std::size_t y, const RowMargins& margins, const RowDuals& duals) {
  return {.y = y,
          .a = margins.a,
          .a_error = margins.error,
          .beta = duals.beta,
          .beta_error = duals.relative_error,
          .rest = duals.rest,
          .rest_error = duals.rest_error};
}

// Sums over rows in fixed blocks, each with buffers of its own.
template <class Sums, class Accumulate>
Sums row_sum(std::size_t rows, std::size_t classes, Accumulate&& accumulate) {
  constexpr std::size_t block = 512;
  return sum_of_blocks<Sums>(rows, block, [&](std::size_t begin, std::size_t end, Sums& sums) {
    RowMargins margins(classes);
    RowDuals duals(classes);
    for (std::size_t i = begin; i < end; ++i) accumulate(i, margins, duals, sums);
  });
}

TwoLevels loss_brackets(const MulticlassProblem& problem, const MulticlassPrimal& primal,
                        const MulticlassDual& dual) {
  return std::visit(
      [&](const auto& loss) {
        return row_sum<TwoLevels>(problem.rows(), problem.classes(),
                                  [&](std::size_t i, RowMargins& margins, RowDuals& duals, TwoLevels& sum) {
                                    const double c = problem.sample.weight(i);
                                    if (c == 0.0) return;
                                    const std::size_t y = problem.sample.targets[i];
                                    margins.take(primal, i, y);
                                    duals.take(dual, i, c);
                                    loss::RowPoint point = point_of(y, margins, duals);
                                    const double worst = loss.fenchel_young(point);
                                    if (worst == 0.0) return;
                                    point.a_error = point.beta_error = point.rest_error = 0.0;
                                    sum.add(c * std::min(worst, loss.fenchel_young(point)), c * worst);
                                  });
      },
      problem.loss);
}

// The brackets of a feature under an l2 penalty alone, (l2 w - u)^2 / (2 l2), summed over its classes.
void add_square_brackets(double l2, std::span<const double> w, std::span<const double> u, double scale,
                         double u_error, TwoLevels& sum) {
  double nearest = 0.0, worst = 0.0, largest = 0.0;
  for (std::size_t l = 0; l < w.size(); ++l) {
    const double scaled = scale * u[l], product = l2 * w[l], distance = std::fabs(product - scaled);
    // One rounding each in the products and the difference; a product may underflow.
    const double rounding = 8 * unit_roundoff * (std::fabs(scaled) + std::fabs(product) + distance) +
                            (w[l] != 0.0 || u[l] != 0.0 ? 4 * smallest_double : 0.0);
    const double furthest = distance + (u_error + rounding);
    nearest += distance * distance;
    worst += furthest * furthest;
    largest = std::max(largest, furthest);
  }
  if (largest == 0.0 && worst == 0.0) return;
  const auto k = static_cast<double>(w.size());
  sum.add(nearest * (0.5 / l2), widen((worst + k * smallest_double) * (0.5 / l2), k + 16));
}

TwoLevels penalty_brackets(const MulticlassProblem& problem, const MulticlassPrimal& primal,
                           const MulticlassDual& dual) {
  const std::size_t k = problem.classes();
  return block_sum<TwoLevels>(problem.dimension(), [&](std::size_t j, TwoLevels& sum) {
    const penalty::Strength g = problem.penalty[j];
    if (g.unpenalized()) return;  // u_j = 0 exactly
    if (g.l1 == 0.0 && g.l2 > 0.0) {
      const double error = dual.u_error[j] == 0.0 ? 0.0 : widen(dual.scale * dual.u_error[j], 4);
      return add_square_brackets(g.l2, std::span(primal.w).subspan(j * k, k), std::span(dual.u).subspan(j * k, k),
                                 dual.scale, error, sum);
    }
    const Interval feasible{-g.dual_bound(), g.dual_bound()};
    for (std::size_t l = 0; l < k; ++l) {
      const double w = primal.w[j * k + l];
      const double u = dual.scale * dual.u[j * k + l];
      if (w == 0.0 && u == 0.0 && dual.u_error[j] == 0.0) continue;
      const double error = widen(dual.scale * dual.u_error[j] + 8 * unit_roundoff * std::fabs(u), 4);
      sum.add(g.fenchel_young(w, feasible.clamp(u)), std::max(g.fenchel_young(w, feasible.clamp(u - error)),
                                                              g.fenchel_young(w, feasible.clamp(u + error))));
    }
  });
}

// The largest scale in [0, 1] that makes scale * (u_jl +- error) feasible for every coordinate.
double feasible_scale(const MulticlassProblem& problem, const MulticlassDual& dual) {
  const std::size_t k = problem.classes();
  double scale = 1.0;
  for (std::size_t j = 0; j < problem.dimension(); ++j) {
    const penalty::Strength g = problem.penalty[j];
    if (g.unpenalized() || g.l2 > 0.0) continue;
    for (std::size_t l = 0; l < k; ++l) {
      const double u = std::fabs(dual.u[j * k + l]);
      const double largest = widen(u + 4 * unit_roundoff * u + dual.u_error[j], 4);
      if (largest > g.l1) scale = std::min(scale, narrow(g.l1 / largest, 2));
      if (std::isnan(largest)) scale = 0.0;
    }
  }
  return scale;
}

// c_i alpha_il from B.
LargeVector signed_duals(const MulticlassProblem& problem, std::span<const double> B) {
  const std::size_t k = problem.classes();
  LargeVector alpha(B.size());
  for_each_block(problem.rows(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      CompensatedSum sum;
      for (std::size_t l = 0; l < k; ++l) {
        sum.add(B[i * k + l]);
        alpha[i * k + l] = -B[i * k + l];
      }
      alpha[i * k + problem.sample.targets[i]] = sum.total();
    }
  });
  return alpha;
}

}  // namespace

MulticlassCertifier::MulticlassCertifier(const MulticlassProblem& problem)
    : problem_(problem), map_(problem.design, problem.classes()) {
  check_arithmetic();
}

MulticlassPrimal MulticlassCertifier::primal(std::span<const double> w, std::span<const double> b) const {
  return located({w.begin(), w.end()}, b, false);
}

MulticlassPrimal MulticlassCertifier::primal_with_best_bias(std::span<const double> w,
                                                            std::span<const double> b) const {
  return located({w.begin(), w.end()}, b, problem_.free_bias);
}

MulticlassPrimal MulticlassCertifier::primal_with_best_bias(LargeVector&& w, std::span<const double> b) const {
  return located(std::move(w), b, problem_.free_bias);
}

MulticlassPrimal MulticlassCertifier::located(LargeVector w, std::span<const double> b, bool search) const {
  MulticlassPrimal point{.w = std::move(w),
                         .b = {b.begin(), b.end()},
                         .z = LargeVector(problem_.rows() * problem_.classes()),
                         .z_error = LargeVector(problem_.rows())};
  map_.margins(point.w, point.z, point.z_error);
  if (search) {
    point.b.resize(problem_.classes(), 0.0);
    point.b = risk::best_biases(problem_.loss, problem_.sample, point.z, std::move(point.b));
  }
  evaluate(point);
  return point;
}

void MulticlassCertifier::evaluate(MulticlassPrimal& point) const {
  const auto roundings = static_cast<double>(2 * problem_.classes() + 32);
  const TwoLevels risk = std::visit(
      [&](const auto& loss) {
        return row_sum<TwoLevels>(problem_.rows(), problem_.classes(),
                                  [&](std::size_t i, RowMargins& margins, RowDuals& /*duals*/, TwoLevels& sum) {
                                    const double c = problem_.sample.weight(i);
                                    if (c == 0.0) return;
                                    margins.take(point, i, problem_.sample.targets[i]);
                                    const double error = margins.loss_error();
                                    const double value = std::isfinite(error)
                                                             ? loss.value(problem_.sample.targets[i], margins.a)
                                                             : infinity;
                                    sum.add(c * value, c * (error + 2 * roundings * unit_roundoff * value));
                                  });
      },
      problem_.loss);
  const std::size_t k = problem_.classes();
  const double penalty = block_sum<CompensatedSum>(problem_.dimension(), [&](std::size_t j, CompensatedSum& sum) {
                           const penalty::Strength g = problem_.penalty[j];
                           for (std::size_t l = 0; l < k; ++l) sum.add(g.value(point.w[j * k + l]));
                         }).total();
  point.value = risk.nearest.total() / problem_.sample.weight_sum + penalty;
  point.value_low =
      narrow(point.value, sum_roundings) - widen(risk.bound() / problem_.sample.weight_sum, sum_roundings);
}

MulticlassDual MulticlassCertifier::dual(std::span<const double> beta) const {
  MulticlassDual point{.beta = weighted_duals(problem_, beta)};
  // Unpenalised columns need u_j = 0, which only the zero vector is known to give.
  if (problem_.penalty.has_unpenalized()) std::fill(point.beta.begin(), point.beta.end(), 0.0);
  if (problem_.free_bias) make_circulation(problem_, point.beta);
  evaluate(point);
  return point;
}

MulticlassDual MulticlassCertifier::dual_of(const MulticlassPrimal& point) const {
  const std::size_t k = problem_.classes();
  std::vector<double> beta(point.z.size());
  std::visit(
      [&](const auto& loss) {
        for_each_block(problem_.rows(), [&](std::size_t begin, std::size_t end) {
          RowMargins margins(k);
          for (std::size_t i = begin; i < end; ++i) {
            margins.take(point, i, problem_.sample.targets[i]);
            loss.dual(problem_.sample.targets[i], margins.a, std::span(beta).subspan(i * k, k));
          }
        });
      },
      problem_.loss);
  return dual(beta);
}

MulticlassDual MulticlassCertifier::dual_as_given(std::vector<double> B) const {
  MulticlassDual point{.beta = std::move(B)};
  bool feasible =
      point.beta.size() == problem_.rows() * problem_.classes() && exactly_feasible(problem_, point.beta);
  if (feasible && problem_.penalty.has_unpenalized()) {
    feasible = all_zero(point.beta);
  }
  if (feasible) {
    evaluate(point);
  } else {
    point.value = -infinity;
  }
  return point;
}

void MulticlassCertifier::evaluate(MulticlassDual& point) const {
  const double sum = problem_.sample.weight_sum;
  const std::size_t k = problem_.classes();
  {
    const LargeVector alpha = signed_duals(problem_, point.beta);
    point.u.resize(problem_.dimension() * k);
    point.u_error.resize(problem_.dimension());
    map_.adjoint(alpha, point.u, point.u_error);
  }
  for_each_block(point.u.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) point.u[e] /= sum;
  });
  for (double& error : point.u_error) {
    if (error != 0.0) error = widen(error / sum, 8);
  }
  point.scale = feasible_scale(problem_, point);
  const double conjugates = std::visit(
      [&](const auto& loss) {
        return row_sum<CompensatedSum>(
                   problem_.rows(), k,
                   [&](std::size_t i, RowMargins& /*margins*/, RowDuals& duals, CompensatedSum& s) {
                     const double c = problem_.sample.weight(i);
                     if (c == 0.0) return;
                     duals.take(point, i, c);
                     s.add(c * loss.conjugate(problem_.sample.targets[i], duals.beta));
                   })
            .total();
      },
      problem_.loss);
  const double penalty = block_sum<CompensatedSum>(problem_.dimension(), [&](std::size_t j, CompensatedSum& s) {
                           const penalty::Strength g = problem_.penalty[j];
                           if (g.l2 == 0.0) return;
                           for (std::size_t l = 0; l < k; ++l) s.add(g.conjugate(point.scale * point.u[j * k + l]));
                         }).total();
  point.value = -conjugates / sum - penalty;
}

Certificate MulticlassCertifier::pair(const MulticlassPrimal& primal, const MulticlassDual& dual) const {
  if (dual.value == -infinity) return {.primal = primal.value};
  return certificate_of(primal.value, primal.value_low, loss_brackets(problem_, primal, dual),
                        penalty_brackets(problem_, primal, dual), problem_.sample.weight_sum);
}

}  // namespace fenchel::problem
