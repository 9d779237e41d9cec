#include "fenchel/solver/accelerated_sdca.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/solver/sdca.hpp"

namespace fenchel::solver {
namespace {

constexpr int practical_sweeps = 5;  // a subproblem (Remark 1 of the paper)
constexpr int most_sweeps = 1000;    // a subproblem, where it is solved to a tolerance
// Of losses that are not smooth: at first relative to the loss at w = 0, later by this factor less each time.
constexpr double first_smoothing = 0.1;
constexpr double smoothing_factor = 0.25;

double largest_curvature(const problem::Problem& problem) {
  const std::vector<double> norms = data::LinearMap(problem.design).row_square_norms({});
  double largest = 0.0;
  for (std::size_t i = 0; i < norms.size(); ++i) largest = std::max(largest, problem.sample.weight(i) * norms[i]);
  return largest / problem.sample.weight_sum;
}

double loss_at_zero(const problem::Problem& problem) {
  return std::visit(
      [&](const auto& loss) {
        double sum = 0.0;
        for (std::size_t i = 0; i < problem.rows(); ++i) {
          sum += problem.sample.weight(i) * loss.value(problem.sample.targets[i], 0.0);
        }
        return sum / problem.sample.weight_sum;
      },
      problem.loss);
}

}  // namespace

Acceleration Acceleration::of(double lambda, double gamma, double curvature) {
  const double kappa = std::max(0.0, curvature / gamma - lambda);
  const double mu = 0.5 * lambda;
  const double eta = std::sqrt(mu / (mu + kappa));
  return {.kappa = kappa, .eta = eta, .beta = (1.0 - eta) / (1.0 + eta)};
}

std::optional<std::string_view> AcceleratedSdca::missing(const loss::Any& loss, const penalty::Separable& penalty) {
  return Sdca::missing(loss, penalty);
}

bool AcceleratedSdca::pays(const problem::Problem& problem) {
  const double gamma = loss::smoothness(problem.loss);
  return gamma > 0.0 && largest_curvature(problem) > 10.0 * gamma * problem.penalty.strong_convexity();
}

AcceleratedSdca::AcceleratedSdca(const problem::Problem& problem, const Start& start, const Conduct& conduct)
    : problem_(problem),
      conduct_(conduct),
      curvature_(largest_curvature(problem)),
      smoothing_(conduct.ascent.smoothing) {
  if (smoothing_ == 0.0 && loss::smoothness(problem_.loss) == 0.0) {
    const double loss = loss_at_zero(problem_);
    smoothing_ = first_smoothing * (loss > 0.0 ? loss : 1.0);
  }
  restart(start);
}

void AcceleratedSdca::restart(const Start& start) {
  const double gamma = loss::smoothness(problem_.loss) + smoothing_;
  constants_ = Acceleration::of(problem_.penalty.strong_convexity(), gamma, curvature_);
  Conduct conduct = conduct_;
  conduct.ascent.smoothing = smoothing_;
  ascent_ = std::make_unique<DualAscent>(problem_, start, conduct, constants_.kappa);
  w_.assign(problem_.dimension(), 0.0);
  if (!start.w.empty()) w_.assign(start.w.begin(), start.w.end());
  extrapolated_ = w_;
  if (!start.w.empty()) ascent_->recentre(extrapolated_);
  subproblem_gap_ = 0.0;
}

double AcceleratedSdca::step() {
  double passes = 0.0;
  DualAscent::Seen seen;
  const int sweeps = conduct_.ascent.theory ? most_sweeps : practical_sweeps;
  for (int k = 0; k < sweeps; ++k) {
    seen = ascent_->sweep();
    passes += seen.passes;
    if (!conduct_.ascent.theory) continue;
    // xi_1 = (1 + 1/eta^2) (P(0) - D(0)); the first subproblem's tolerance is eta xi_1 / (2 (1 + 1/eta^2)).
    if (subproblem_gap_ == 0.0) subproblem_gap_ = 0.5 * constants_.eta * loss_at_zero(problem_);
    if (seen.gap <= subproblem_gap_) break;
  }
  subproblem_gap_ *= 1.0 - 0.5 * constants_.eta;

  const std::span<const double> w = ascent_->weights();
  const double gap = seen.gap + ascent_->mismatch();
  estimate_ = {.gap = gap, .primal = ascent_->dual_value() + gap, .scatter = 1.6};
  const bool smoothed_enough = conduct_.ascent.smoothing == 0.0 && smoothing_ > 0.0 && estimate_.gap <= smoothing_;
  for (std::size_t j = 0; j < w.size(); ++j) {
    extrapolated_[j] = w[j] + constants_.beta * (w[j] - w_[j]);
    w_[j] = w[j];
  }
  if (smoothed_enough) {
    smoothing_ *= smoothing_factor;
    const std::vector<double> alpha(ascent_->alpha().begin(), ascent_->alpha().end());
    const std::vector<double> at = w_;
    restart({.w = at, .b = ascent_->bias(), .alpha = alpha});
  } else {
    ascent_->recentre(extrapolated_);
  }
  return passes;
}

problem::Candidate AcceleratedSdca::candidate() {
  return {.w = w_, .b = ascent_->bias(), .alpha = ascent_->alpha()};
}

}  // namespace fenchel::solver
