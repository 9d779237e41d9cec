#include "fenchel/solver/sdca.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/base/sum.hpp"
#include "fenchel/base/weighted_term.hpp"

namespace fenchel::solver {
namespace {

// Short sweeps over the rows that are not at rest are taken together, so that what a step costs besides them is small.
constexpr double least_passes_a_step = 0.5;
constexpr int most_sweeps_a_step = 64;
// An average of late weights is kept after so many passes, which most fits to a moderate gap do not take.
constexpr double passes_before_average = 12.0;
constexpr double most_passes_a_step = 3.0;  // more or less: a sweep, and what is refreshed before it
// Evaluating it takes a pass: it is first asked where its gap would do if it were this share of that of the last weights, and
// again after so many times the passes, or where theirs would do.
constexpr double hoped_for_share = 0.4;
constexpr double growth_between_looks = 1.2;
constexpr double least_share = 1e-3;  // that a look is believed
// What momentum has overshot comes and goes from sweep to sweep: the last weights are evaluated, too, where their gap would do if it
// were so many times the guess.
constexpr double likely_scatter = 1.3;
// After so many passes much of a gap is scatter, which does not fall from sweep to sweep.
constexpr double passes_before_scatter = 8.0;
// The primal value is guessed anew after so many times the passes: that takes as long as a sweep over few rows.
constexpr double growth_between_values = 1.1;

}  // namespace

std::optional<std::string_view> Sdca::missing(const loss::Any& loss, const penalty::Separable& penalty) {
  const bool steps = std::visit([]<class L>(const L&) { return loss::DualStepLoss<L>; }, loss);
  if (!steps) return "a loss with an exact dual step";
  // The dual point would have to be orthogonal to unpenalised features to within what a certificate can repair, which a
  // loss with kinks leaves no room for.
  if (loss::smoothness(loss) == 0.0 && penalty.has_unpenalized()) {
    return "a smooth loss, or a penalty on every feature (lambda > 0 and no penalty factor of 0)";
  }
  return std::nullopt;
}

Sdca::Sdca(const problem::Problem& problem, const Start& start, const Conduct& conduct)
    : problem_(problem), conduct_(conduct), random_(conduct.seed), average_to_last_(hoped_for_share) {
  if (problem.penalty.strong_convexity() > 0.0) {
    plain_.emplace(problem, start, conduct);
  } else {
    proximal_.emplace(problem, start, conduct);
  }
}

double Sdca::step() { return proximal_ ? sweep_proximally() : sweep_plainly(); }

double Sdca::sweep_plainly() {
  double passes = 0.0;
  for (int k = 0; k < most_sweeps_a_step && passes < least_passes_a_step; ++k) {
    seen_ = plain_->sweep();
    passes += seen_.passes;
    take_note();
    // Independent draws may leave rows out: then nothing changing means nothing.
    stationary_ = seen_.all && !seen_.changed && conduct_.ascent.sampling == Sampling::permutation;
    if (stationary_) break;
  }
  passes = std::max(passes, 0.01);  // so that limits on passes are reached
  passes_ += passes;
  estimate_.gap = seen_.gap;
  const bool scatters = overshoots() || (averages() && passes_ >= passes_before_scatter);
  estimate_.scatter = scatters ? 3.0 : seen_.all ? 1.6 : 2.0;
  if (passes_ >= growth_between_values * valued_at_) guess_primal();
  take_average();
  return passes;
}

double Sdca::sweep_proximally() {
  const ProximalAscent::Solved solved = proximal_->solve();
  take_note();
  stationary_ = solved.stationary && conduct_.ascent.sampling == Sampling::permutation;
  estimate_ = {
      .gap = solved.gap, .primal = solved.losses + problem_.penalty.value(proximal_->weights()), .scatter = 2.0};
  return solved.passes + proximal_->move_to(proximal_->weights());
}

problem::Candidate Sdca::last() {
  if (proximal_) return {.w = proximal_->weights(), .b = proximal_->bias(), .alpha = proximal_->alpha()};
  return {.w = plain_->weights(), .b = plain_->bias(), .alpha = plain_->alpha()};
}

// The average (or the choice) starts again whenever the number of sweeps has doubled: the later half of all counts,
// as the theory has it.
void Sdca::take_note() {
  if (conduct_.ascent.iterate == Iterate::last || conduct_.ascent.iterate == Iterate::automatic) return;
  if (++sweeps_ >= 2 * noted_from_) noted_from_ = sweeps_;
  const auto count = static_cast<double>(sweeps_ - noted_from_ + 1);
  const bool fresh = count == 1.0;
  const problem::Candidate now = last();
  if (conduct_.ascent.iterate == Iterate::random) {
    if (random_.uniform() * count >= 1.0) return;  // each of the sweeps is kept with the same probability
    noted_alpha_.assign(now.alpha.begin(), now.alpha.end());
    noted_w_.assign(now.w.begin(), now.w.end());
    noted_b_ = now.b;
    return;
  }
  const auto average = [&](std::vector<double>& mean, std::span<const double> next) {
    mean.resize(next.size());
    for (std::size_t k = 0; k < next.size(); ++k) mean[k] = fresh ? next[k] : mean[k] + (next[k] - mean[k]) / count;
  };
  average(noted_alpha_, now.alpha);
  average(noted_w_, now.w);
  noted_b_ = fresh ? now.b : noted_b_ + (now.b - noted_b_) / count;
}

void Sdca::guess_primal() {
  estimate_.primal = plain_->losses(seen_) + problem_.penalty.value(plain_->weights());
  valued_at_ = passes_;
}

bool Sdca::averages() const {
  return plain_ && conduct_.ascent.iterate == Iterate::automatic && loss::smoothness(problem_.loss) == 0.0;
}

// Whether the last weights are offered, and momentum may have taken them too far.
bool Sdca::overshoots(double in_passes) const {
  const bool last = conduct_.ascent.iterate == Iterate::automatic || conduct_.ascent.iterate == Iterate::last;
  return last && plain_ && plain_->has_momentum() && passes_ + in_passes >= DualAscent::passes_before_momentum;
}

double Sdca::price_of_candidate() const {
  const bool averaged = averages() && passes_ >= passes_before_average - most_passes_a_step;
  return averaged || overshoots(most_passes_a_step) ? 1.0 : 0.0;
}

void Sdca::take_average() {
  if (averages() && passes_ >= passes_before_average) average_.take(plain_->weights(), plain_->bias());
}

Estimate Sdca::estimate() const {
  const bool known = passes_ == asked_at_, may_ask = passes_ >= growth_between_looks * asked_at_;
  const bool offers_average = !average_.empty() && average_to_last_ < 1.0,
             looks_at_last = average_.empty() && overshoots();
  if (!(known || may_ask) || !(offers_average || looks_at_last)) return estimate_;
  // Under a free bias a certificate has to move the dual vector, which no guess foresees.
  const double scatter = problem_.free_bias ? estimate_.scatter : known || offers_average ? 1.0 : likely_scatter;
  const double share = offers_average ? average_to_last_ : known ? last_to_guess_ : 1.0;
  const double certain = looks_at_last && !known ? estimate_.scatter : infinity;
  return {.gap = share * estimate_.gap, .primal = estimate_.primal, .scatter = scatter, .certain = certain};
}

// The dual value is known, unlike the primal one: the guesses of the two differ by the guess of the gap. Under a free bias it bounds
// the problem at the bias that the sweep ended with.
void Sdca::refine_estimate() {
  if (passes_ == asked_at_ || (average_.empty() && !overshoots())) return;
  guess_primal();
  const double dual = estimate_.primal - estimate_.gap;
  const double gap = (average_.empty() ? value_of_last() : improve_average()) - dual;
  double& share = average_.empty() ? last_to_guess_ : average_to_last_;
  share = estimate_.gap > 0.0 ? std::max(gap / estimate_.gap, least_share) : 1.0;
  asked_at_ = passes_;
  passes_aside_ += 1.0;
}

LargeVector Sdca::margins_of(std::span<const double> w) const {
  LargeVector z(problem_.rows());
  data::LinearMap(problem_.design).margins(w, z);
  return z;
}

// The risk at t times the weights with margins z.
Ray Sdca::ray_at(std::span<const double> z, double t) const {
  const double b = problem_.free_bias ? plain_->bias() : 0.0;
  return std::visit(
      [&](const auto& loss) {
        return block_sum<Ray>(z.size(), [&](std::size_t i, Ray& sums) {
          const double share = problem_.sample.weight(i) / problem_.sample.weight_sum;
          if (share == 0.0) return;
          const double y = problem_.sample.targets[i], score = t * z[i] + b;
          sums.risk += weighted_term(share, loss.value(y, score));
          sums.slope += share * loss.derivative(y, score) * z[i];
        });
      },
      problem_.loss);
}

double Sdca::value_of_last() {
  const std::span<const double> w = plain_->weights();
  return ray_at(margins_of(w), 1.0).risk + problem_.penalty.value(w);
}

// Under a plain l2 penalty and without a free bias the average gives way to its best multiple. Returns the primal value.
double Sdca::improve_average() {
  const LargeVector z = margins_of(average_.weights());
  const double penalty = problem_.penalty.value(average_.weights());
  const bool plain_l2 = problem_.penalty.uniform() && problem_.penalty.base().l1 == 0.0;
  if (!plain_l2 || problem_.free_bias) return ray_at(z, 1.0).risk + penalty;
  const Multiple best = best_multiple(penalty, [&](double t) { return ray_at(z, t); });
  average_.scale(best.factor);
  return best.value;
}

problem::Candidate Sdca::candidate() {
  if (plain_) plain_->rest();
  if (conduct_.ascent.iterate == Iterate::last) return last();
  if (conduct_.ascent.iterate == Iterate::automatic) {
    if (!stationary_ && !average_.empty()) refine_estimate();
    if (average_.empty() || stationary_ || !(average_to_last_ < 1.0)) return last();
    return {.w = average_.weights(), .b = average_.bias(), .alpha = plain_->alpha()};
  }
  return {.w = noted_w_, .b = noted_b_, .alpha = noted_alpha_};
}

}  // namespace fenchel::solver
