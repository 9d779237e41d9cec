#include "fenchel/solver/agm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fenchel::solver {
namespace {

constexpr double level_fall = 10.0;           // of mu from stage to stage
constexpr double stage_end = 0.5;             // of what the smoothing costs: the gap that ends a stage
constexpr double restart_drop = 0.1;          // of the gap, from one start to the next
constexpr double warm_level = 0.01;           // of the first mu, for a start that is worth something
constexpr double smallest_level = 1e-13;      // of the first mu: below lies rounding
constexpr std::size_t longest_stage = 20000;  // steps, so that no stage stalls
constexpr double first_curvature = 0.1;       // of its bound, where L is searched

Space space_of(const problem::Problem& problem, const GradientChoices& choices) {
  if (choices.space) return *choices.space;
  const bool dual = loss::smoothness(problem.loss) == 0.0 && problem.penalty.strong_convexity() > 0.0;
  return dual ? Space::dual_smooth : Space::primal;
}

// The mean loss of the best constant: scores differ by about that much from where they should be.
double first_level(const problem::Problem& problem) {
  const std::vector<double> z(problem.rows(), 0.0);
  const double b = problem.free_bias ? risk::best_bias(problem.loss, problem.sample, z, 0.0) : 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double value =
        std::visit([&](const auto& l) { return l.value(problem.sample.targets[i], b); }, problem.loss);
    sum += problem.sample.weight(i) / problem.sample.weight_sum * value;
  }
  return sum > 0.0 && std::isfinite(sum) ? sum : 1.0;
}

}  // namespace

std::optional<std::string_view> Agm::missing(const loss::Any& loss, const penalty::Separable& penalty) {
  // As for sdca: smoothing leaves the dual point no nearer to orthogonality.
  if (loss::smoothness(loss) == 0.0 && penalty.has_unpenalized()) {
    return "a smooth loss, or a penalty on every feature (lambda > 0 and no penalty factor of 0)";
  }
  return std::nullopt;
}

Agm::Agm(Form form, const problem::Problem& problem, const Start& start, const Conduct& conduct)
    : adaptive_(conduct.gradient.curvature == Curvature::search), mu_(conduct.ascent.smoothing) {
  const Space space = space_of(problem, conduct.gradient);
  space_ = space == Space::primal ? primal_space(problem) : dual_space(problem);
  annealed_ = mu_ == 0.0 && loss::smoothness(problem.loss) == 0.0 && space != Space::dual;
  if (annealed_) {
    mu_ = first_level(problem);
    least_mu_ = smallest_level * mu_;
    if (!start.w.empty()) mu_ *= warm_level;
  }
  if (mu_ > 0.0) space_->smooth(mu_);
  AgmPoint point = space_->start(start);
  const CurvatureSearch search{.L = 1.0, .adaptive = adaptive_};
  if (form == Form::infinity) {
    method_ = std::make_unique<AgmInfinity>(space_->smooth_part(), space_->simple_part(), search);
  } else {
    method_ = std::make_unique<AgmOne>(space_->smooth_part(), space_->simple_part(), search);
  }
  restart(std::move(point), first_curvature * space_->curvature_bound());
}

double Agm::step() {
  const double passes = method_->advance();
  const AgmGauge gauge = space_->gauge(*method_);
  const Estimate present{.gap = gauge.gap, .primal = gauge.primal, .scatter = 1.1};
  stationary_ = method_->stationary() && !annealed_;
  if (method_->steps() == 1) gap_at_start_ = gauge.smoothed_gap;

  const bool settled = gauge.smoothed_gap <= stage_end * gauge.smoothing_gap || ++stage_steps_ >= longest_stage;
  const bool next_level = annealed_ && settled && mu_ > least_mu_;
  const bool afresh = !method_->strongly_convex() && gauge.smoothed_gap <= restart_drop * gap_at_start_;
  if ((next_level || afresh) && present.gap < kept_.estimate.gap) keep(present);
  estimate_ = present.gap < kept_.estimate.gap ? present : kept_.estimate;
  if (next_level) {
    mu_ /= level_fall;
    stage_steps_ = 0;
    space_->smooth(mu_);
    restart(method_->x(), method_->curvature() * space_->curvature_growth(level_fall));
  } else if (afresh) {
    restart(method_->x(), method_->curvature());
  }
  return passes;
}

void Agm::keep(const Estimate& estimate) {
  const problem::Candidate now = space_->candidate(*method_);
  kept_.w.assign(now.w.begin(), now.w.end());
  kept_.alpha.assign(now.alpha.begin(), now.alpha.end());
  kept_.b = now.b;
  kept_.estimate = estimate;
}

problem::Candidate Agm::candidate() {
  if (estimate_.gap < kept_.estimate.gap || kept_.w.empty()) return space_->candidate(*method_);
  return {.w = kept_.w, .b = kept_.b, .alpha = kept_.alpha};
}

void Agm::restart(AgmPoint point, double L) {
  const double bound = std::max(space_->curvature_bound(), 1e-300);
  method_->restart(std::move(point), adaptive_ ? std::clamp(L, 1e-300, bound) : bound);
}

}  // namespace fenchel::solver
