#include "fenchel/solver/agm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace fenchel::solver {
namespace {

double env(const char* n, double d) {
  const char* s = std::getenv(n);
  return s ? std::atof(s) : d;
}
const double level_fall = env("FALL", 4.0);     // of mu from stage to stage
const double stage_share = env("SHARE", 0.25);  // of mu D that the gap of a stage may have at its end
const double cost_share = env("COST", 0.0);
const double restart_drop = env("DROP", 0.0);  // of the gap, between two starts of the method
const double mu_first = env("MU0", 1.0);
constexpr std::size_t longest_stage = 20000;  // steps, so that no stage stalls
constexpr double smallest_level = 1e-13;      // of the first

// The largest (1/sum c) sum_i c_i alpha_i^2 / 2 inside the domain of the conjugate; finite for losses that are not smooth.
double largest_half_square(const problem::Problem& problem) {
  double sum = 0.0;
  for (std::size_t i = 0; i < problem.rows(); ++i) {
    const Interval domain =
        std::visit([&](const auto& l) { return l.dual_domain(problem.sample.targets[i]); }, problem.loss);
    const double most = std::max(-domain.low, domain.high);
    sum += problem.sample.weight(i) / problem.sample.weight_sum * 0.5 * most * most;
  }
  return sum;
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
    : space_(conduct.gradient.space == Space::primal ? primal_space(problem) : dual_space(problem)),
      adaptive_(conduct.gradient.curvature == Curvature::search),
      half_square_(largest_half_square(problem)) {
  AgmPoint point = space_->start(start);
  const bool smooth = loss::smoothness(problem.loss) > 0.0;
  mu_ = conduct.ascent.smoothing;
  annealed_ = mu_ == 0.0 && !smooth && conduct.gradient.space != Space::dual;
  if (annealed_) mu_ = mu_first;
  least_mu_ = smallest_level * mu_;
  if (mu_ > 0.0) space_->smooth(mu_);
  const CurvatureSearch search{.L = 1.0, .adaptive = adaptive_};
  if (form == Form::infinity) {
    method_ = std::make_unique<AgmInfinity>(space_->smooth_part(), space_->simple_part(), search);
  } else {
    method_ = std::make_unique<AgmOne>(space_->smooth_part(), space_->simple_part(), search);
  }
  const double bound = std::max(space_->curvature_bound(), 1e-300);
  method_->restart(std::move(point), adaptive_ ? 0.1 * bound : bound);
}

double Agm::step() {
  const double passes = method_->advance();
  ++stage_steps_;
  const AgmGauge gauge = space_->gauge(*method_);
  estimate_ = {.gap = gauge.gap, .primal = gauge.primal, .scatter = 1.1};
  stationary_ = method_->stationary() && !annealed_;
  if (method_->steps() == 1) gap_at_start_ = gauge.smoothed_gap;

  const bool settled =
      gauge.smoothed_gap <= std::max(stage_share * mu_ * half_square_, cost_share * gauge.smoothing_gap);
  if (annealed_ && (settled || stage_steps_ >= longest_stage) && mu_ > least_mu_) {
    mu_ /= level_fall;
    space_->smooth(mu_);
    stage_steps_ = 0;
    restart(method_->curvature() * space_->curvature_growth(level_fall));
  } else if (gauge.smoothed_gap <= restart_drop * gap_at_start_) {
    restart(method_->curvature());
  }
  if (std::getenv("VERB"))
    std::fprintf(stderr, "%zu mu %.2e L %.3e gap %.4e smoothed %.4e smoothing %.4e primal %.8f\n", method_->steps(),
                 mu_, method_->curvature(), gauge.gap, gauge.smoothed_gap, gauge.smoothing_gap, gauge.primal);
  return passes;
}

void Agm::restart(double L) {
  AgmPoint point = method_->x();
  const double bound = std::max(space_->curvature_bound(), 1e-300);
  method_->restart(std::move(point), adaptive_ ? std::min(L, bound) : bound);
}

}  // namespace fenchel::solver
