#include "fenchel/solver/fista.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/solver/metric.hpp"

namespace fenchel::solver {
namespace {

constexpr double curvature_growth = 2.0;
constexpr double decay = 0.9;
// Differences of risks below this share of the risk are rounding, not descent.
constexpr double resolution = 1e-13;

}  // namespace

template <class Kind>
std::optional<std::string_view> FistaOf<Kind>::missing(const typename Kind::Loss& loss,
                                                       const penalty::Separable& penalty) {
  if (!Kind::smooth(loss)) return "a smooth loss";
  return Kind::unproved(penalty);
}

template <class Kind>
FistaOf<Kind>::FistaOf(const Problem& problem, const Start& start, Conduct /*conduct*/)
    : risk_(problem.design, problem.sample, problem.loss, problem.free_bias),
      penalty_(Kind::penalty(problem)),
      metric_(metric_of(penalty_)),
      mu_(least_curvature(penalty_, metric_)),
      L_(std::max(0.1 * mean_square_norm(problem, metric_of(problem.penalty)) / risk_.smoothness(), 1e-300)),
      x_(start.w.begin(), start.w.end()) {
  x_.resize(problem.dimension() * Kind::width(problem), 0.0);
  if (const auto& constraint = penalty_.constraint()) penalty::project(*constraint, x_);
  gradient_.resize(x_.size());
  y_ = x_;
  next_ = x_;
  risk_.locate(x_, Kind::bias(problem, start), at_x_);
  at_y_ = at_x_;
}

template <class Kind>
double FistaOf<Kind>::step() {
  const double risk_at_y = risk_.gradient(at_y_, gradient_);
  estimate_ = estimate_at_y(risk_at_y);
  const int passes = 1 + backtrack(risk_at_y);
  extrapolate();
  return passes;
}

template <class Kind>
Estimate FistaOf<Kind>::estimate_at_y(double risk_at_y) const {
  return {.gap = gradient_gap(penalty_, risk_at_y, y_, gradient_),
          .primal = risk_at_y + penalty_.value(y_),
          .scatter = 1.1};
}

template <class Kind>
int FistaOf<Kind>::backtrack(double risk_at_y) {
  if (settled_) L_ *= decay;
  int passes = 0;
  for (bool first = true;; first = false) {
    for (std::size_t j = 0; j < next_.size(); ++j) {
      const double t = 1.0 / (L_ * metric(j));
      next_[j] = penalty_[j].prox(y_[j] - t * gradient_[j], t);
    }
    if (const auto& constraint = penalty_.constraint()) penalty::project(*constraint, next_);
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
    L_ *= curvature_growth;
  }
}

template <class Kind>
void FistaOf<Kind>::extrapolate() {
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

template class FistaOf<OneOutput>;
template class FistaOf<AllClasses>;

}  // namespace fenchel::solver
