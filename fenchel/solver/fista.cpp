#include "fenchel/solver/fista.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/solver/metric.hpp"

namespace fenchel::solver {
namespace {

constexpr double growth = 2.0;
constexpr double decay = 0.9;
// Differences of risks below this share of the risk are rounding, not descent.
constexpr double resolution = 1e-13;

// sigma(-gradient) + <w, gradient>; w may lie outside the set by what momentum adds.
double constraint_gap(const penalty::Constraint& constraint, std::span<const double> w,
                      std::span<const double> gradient) {
  std::vector<double> u(gradient.begin(), gradient.end());
  double product = 0.0;
  for (std::size_t j = 0; j < u.size(); ++j) {
    product += w[j] * u[j];
    u[j] = -u[j];
  }
  return std::fabs(penalty::support(constraint, u) + product);
}

}  // namespace

std::optional<std::string_view> Fista::missing(const loss::Any& loss, const penalty::Separable& /*penalty*/) {
  if (!(loss::smoothness(loss) > 0.0)) return "a smooth loss";
  return std::nullopt;
}

Fista::Fista(const problem::Problem& problem, const Start& start, Conduct /*conduct*/)
    : problem_(problem),
      risk_(problem.design, problem.sample, problem.loss, problem.free_bias),
      metric_(metric_of(problem.penalty)),
      mu_(least_curvature(problem.penalty, metric_)),
      L_(std::max(0.1 * mean_square_norm(problem, metric_) / loss::smoothness(problem.loss), 1e-300)),
      x_(start.w.begin(), start.w.end()),
      gradient_(problem.dimension()) {
  x_.resize(problem.dimension(), 0.0);
  if (const auto& constraint = problem.penalty.constraint()) penalty::project(*constraint, x_);
  y_ = x_;
  next_ = x_;
  risk_.locate(x_, start.b, at_x_);
  at_y_ = at_x_;
}

double Fista::step() {
  const double risk_at_y = risk_.gradient(at_y_, gradient_);
  estimate_ = estimate_at_y(risk_at_y);
  const int passes = 1 + backtrack(risk_at_y);
  extrapolate();
  return passes;
}

Estimate Fista::estimate_at_y(double risk_at_y) const {
  if (const auto& constraint = problem_.penalty.constraint())
    return {.gap = constraint_gap(*constraint, y_, gradient_), .primal = risk_at_y, .scatter = 1.1};
  return {.gap = gradient_gap(problem_.penalty, risk_at_y, y_, gradient_),
          .primal = risk_at_y + problem_.penalty.value(y_),
          .scatter = 1.1};
}

int Fista::backtrack(double risk_at_y) {
  if (settled_) L_ *= decay;
  int passes = 0;
  for (bool first = true;; first = false) {
    for (std::size_t j = 0; j < next_.size(); ++j) {
      const double t = 1.0 / (L_ * metric(j));
      next_[j] = problem_.penalty[j].prox(y_[j] - t * gradient_[j], t);
    }
    if (const auto& constraint = problem_.penalty.constraint()) penalty::project(*constraint, next_);
    risk_.locate(next_, at_y_.b, at_next_);
    ++passes;
    double slope = 0.0, square = 0.0;
    for (std::size_t j = 0; j < next_.size(); ++j) {
      const double move = next_[j] - y_[j];
      slope += gradient_[j] * move;
      square += metric(j) * move * move;
    }
    const double model = 0.5 * L_ * square;
    const double floor = resolution * std::fabs(risk_at_y);
    if (risk_.value(at_next_) - risk_at_y - slope <= model + floor || !std::isfinite(L_)) {
      settled_ = first && model > 100 * floor;  // never lower L on the word of rounding errors
      return passes;
    }
    L_ *= growth;
  }
}

void Fista::extrapolate() {
  double uphill = 0.0;
  for (std::size_t j = 0; j < x_.size(); ++j) uphill += metric(j) * (y_[j] - next_[j]) * (next_[j] - x_[j]);
  if (uphill > 0.0) a_ = 1.0;
  const double q = mu_ / (L_ + mu_);
  const double square = a_ * a_;
  const double half = 0.5 * (square - q);
  const double next_a = std::sqrt(half * half + square) - half;
  const double momentum = a_ * (1.0 - a_) / (square + next_a);
  a_ = next_a;

  stationary_ = next_ == x_ && next_ == y_;
  for (std::size_t j = 0; j < x_.size(); ++j) y_[j] = next_[j] + momentum * (next_[j] - x_[j]);
  risk_.extrapolate(at_x_, at_next_, 1.0 + momentum, at_y_);
  std::swap(x_, next_);
  std::swap(at_x_, at_next_);
}

}  // namespace fenchel::solver
