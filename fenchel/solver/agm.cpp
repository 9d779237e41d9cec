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

Space space_of(const problem::MulticlassProblem& /*problem*/, const GradientChoices& /*choices*/) {
  return Space::primal;
}

std::unique_ptr<AgmSpace<OneOutput>> make_space(const problem::Problem& problem, Space space) {
  return space == Space::primal ? primal_space(problem) : dual_space(problem);
}

std::unique_ptr<AgmSpace<AllClasses>> make_space(const problem::MulticlassProblem& problem, Space /*space*/) {
  return primal_space(problem);
}

// The mean loss of the best constant: scores differ by about that much from where they should be.
template <class Kind>
double first_level(const typename Kind::Problem& problem) {
  const typename Kind::Risk risk(problem.design, problem.sample, problem.loss, problem.free_bias);
  typename Kind::Risk::State at_zero;
  at_zero.z.assign(problem.rows() * Kind::width(problem), 0.0);
  risk.settle(at_zero);
  const double value = risk.value(at_zero);
  return value > 0.0 && std::isfinite(value) ? value : 1.0;
}

}  // namespace

template <class Kind>
std::optional<std::string_view> Agm<Kind>::missing(const typename Kind::Loss& loss,
                                                   const penalty::Regularizer& penalty) {
  if (const auto lack = Kind::unproved(penalty)) return lack;
  // As for sdca: smoothing leaves the dual point no nearer to orthogonality.
  if (!Kind::smooth(loss) && !penalty.constraint() && penalty.has_unpenalized()) {
    return "a smooth loss, or a penalty on every feature (lambda > 0 and no penalty factor of 0)";
  }
  return std::nullopt;
}

template <class Kind>
Agm<Kind>::Agm(Form form, const Problem& problem, const Start& start, const Conduct& conduct)
    : adaptive_(conduct.gradient.curvature == Curvature::search), mu_(conduct.ascent.smoothing) {
  const Space space = space_of(problem, conduct.gradient);
  space_ = make_space(problem, space);
  annealed_ = mu_ == 0.0 && !Kind::smooth(problem.loss) && space != Space::dual;
  if (annealed_) {
    mu_ = first_level<Kind>(problem);
    least_mu_ = smallest_level * mu_;
    if (!start.w.empty()) mu_ *= warm_level;
  }
  const bool by_row =
      mu_ > 0.0 && !Kind::smooth(problem.loss) && conduct.gradient.weights != SmoothingWeights::equal;
  if (by_row) passes_ahead_ = space_->weigh_rows(conduct.gradient);
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

template <class Kind>
double Agm<Kind>::step() {
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

template <class Kind>
void Agm<Kind>::keep(const Estimate& estimate) {
  const Candidate now = space_->candidate(*method_);
  const std::span<const double> dual = Kind::dual(now);
  kept_.w.assign(now.w.begin(), now.w.end());
  kept_.dual.assign(dual.begin(), dual.end());
  kept_.b = Kind::bias(now);
  kept_.estimate = estimate;
}

template <class Kind>
typename Agm<Kind>::Candidate Agm<Kind>::candidate() {
  if (estimate_.gap < kept_.estimate.gap || kept_.w.empty()) return space_->candidate(*method_);
  return {kept_.w, kept_.b, kept_.dual};
}

template <class Kind>
void Agm<Kind>::restart(AgmPoint point, double L) {
  const double bound = std::max(space_->curvature_bound(), 1e-300);
  method_->restart(std::move(point), adaptive_ ? std::clamp(L, 1e-300, bound) : bound);
}

template class Agm<OneOutput>;
template class Agm<AllClasses>;

}  // namespace fenchel::solver
