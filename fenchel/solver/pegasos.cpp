#include "fenchel/solver/pegasos.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/data/residence.hpp"

namespace fenchel::solver {
namespace {

// Subgradients are met all through an epoch, at weights that differ from those in the end.
constexpr double pegasos_scatter = 3.0;

double largest_dual(const loss::Any& loss, double y) {
  return std::visit(
      [&](const auto& l) {
        const Interval domain = l.dual_domain(y);
        return std::max(std::fabs(domain.low), std::fabs(domain.high));
      },
      loss);
}

// c_i / mean c, over the rows with c_i > 0.
std::vector<double> row_factors(const risk::Sample& sample) {
  std::vector<double> factors(sample.targets.size());
  double count = 0.0;
  for (std::size_t i = 0; i < factors.size(); ++i) count += sample.weight(i) > 0.0 ? 1.0 : 0.0;
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = count * sample.weight(i) / sample.weight_sum;
  return factors;
}

}  // namespace

std::optional<std::string_view> Pegasos::missing(const loss::Any& loss, const penalty::Separable& penalty) {
  if (!std::isfinite(largest_dual(loss, 1.0))) return "a loss with bounded subgradients";
  if (!(penalty.strong_convexity() > 0.0) || penalty.base().l1 > 0.0) return "an l2 penalty on every feature";
  return std::nullopt;
}

Pegasos::Pegasos(const problem::Problem& problem, const Start& /*start*/, const Conduct& conduct)
    : problem_(problem),
      factors_(row_factors(problem.sample)),
      sum_(problem.dimension(), 0.0),
      alpha_(problem.rows(), 0.0),
      w_(problem.dimension(), 0.0),
      visits_(problem.design.matrix, factors_, {}, conduct) {
  if (!problem.penalty.uniform()) {
    inverse_l2_.resize(problem.dimension());
    for (std::size_t j = 0; j < inverse_l2_.size(); ++j) inverse_l2_[j] = 1.0 / problem.penalty[j].l2;
  }
  bias_.largest = 0.0;
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    bias_.largest = std::max(bias_.largest, factors_[i] * largest_dual(problem.loss, problem.sample.targets[i]));
  }
  state_ = {.order = {},
            .targets = problem_.sample.targets,
            .factors = factors_,
            .alpha = alpha_,
            .epoch = 0.0,
            .batch = std::min(conduct.batch, problem.rows()),
            .constant = problem.design.constant,
            .bias = problem.free_bias ? &bias_ : nullptr};
}

double Pegasos::weight(std::size_t j) const {
  const double inverse = inverse_l2_.empty() ? 1.0 / problem_.penalty.base().l2 : inverse_l2_[j];
  return inverse * sum_[j] / state_.visited;
}

void Pegasos::visit(std::span<const std::uint32_t> order) {
  state_.order = order;
  const auto row_visit = std::visit([](const auto& loss) { return kernel::SubgradientVisit(loss); }, problem_.loss);
  const kernel::SubgradientReport report = std::visit(
      [&](const auto& rows) {
        if (inverse_l2_.empty()) {
          kernel::EvenSum link{.s = sum_, .inverse_l2 = 1.0 / problem_.penalty.base().l2};
          return kernel::subgradient_sweep(rows, row_visit, link, state_);
        }
        kernel::UnevenSum link{.s = sum_, .inverse_l2 = inverse_l2_};
        return kernel::subgradient_sweep(rows, row_visit, link, state_);
      },
      problem_.design.matrix);
  seen_.losses += report.losses;
  seen_.terms += report.terms;
}

double Pegasos::step() {
  visits_.draw();
  state_.epoch += 1.0;
  seen_ = {};
  const std::span<const std::uint32_t> order = visits_.order();
  const std::span<const RowVisits::Window> windows = visits_.windows();
  if (windows.empty()) visit(order);
  std::size_t begin = 0;
  for (std::size_t k = 0; k < windows.size(); ++k) {
    // The disk reads the next window while this one is worked on.
    if (k + 1 < windows.size()) data::will_need(problem_.design.matrix, windows[k + 1].first, windows[k + 1].last);
    visit(order.subspan(begin, windows[k].end - begin));
    begin = windows[k].end;
  }
  for (std::size_t j = 0; j < w_.size(); ++j) w_[j] = weight(j);
  const auto count = static_cast<double>(order.size());
  estimate_ = {.gap = std::fabs(seen_.terms) / count,
               .primal = seen_.losses / count + problem_.penalty.value(w_),
               .scatter = pegasos_scatter};
  return 1.0;
}

problem::Candidate Pegasos::candidate() {
  return {.w = w_, .b = problem_.free_bias ? bias_.bet() : 0.0, .alpha = alpha_};
}

}  // namespace fenchel::solver
