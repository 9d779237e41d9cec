#include "fenchel/solver/sdca.hpp"

#include <algorithm>
#include <cmath>

namespace fenchel::solver {
namespace {

// Short sweeps over the rows that are not at rest are taken together, so that what a step costs besides them is small.
constexpr double least_passes_a_step = 0.5;
constexpr int most_sweeps_a_step = 64;

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
    : problem_(problem), conduct_(conduct), random_(conduct.seed) {
  if (problem.penalty.strong_convexity() > 0.0) {
    plain_.emplace(problem, start, conduct);
  } else {
    proximal_.emplace(problem, start, conduct);
  }
}

double Sdca::step() { return proximal_ ? sweep_proximally() : sweep_plainly(); }

double Sdca::sweep_plainly() {
  double passes = 0.0;
  DualAscent::Seen seen;
  for (int k = 0; k < most_sweeps_a_step && passes < least_passes_a_step; ++k) {
    seen = plain_->sweep();
    passes += seen.passes;
    take_note();
    // Independent draws may leave rows out: then nothing changing means nothing.
    stationary_ = seen.all && !seen.changed && conduct_.ascent.sampling == Sampling::permutation;
    if (stationary_) break;
  }
  estimate_ = {.gap = seen.gap,
               .primal = plain_->losses(seen) + problem_.penalty.value(plain_->weights()),
               .scatter = seen.all ? 1.6 : 2.0};
  return std::max(passes, 0.01);  // so that limits on passes are reached
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
  if (conduct_.ascent.iterate == Iterate::last) return;
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

problem::Candidate Sdca::candidate() {
  if (plain_) plain_->rest();
  if (conduct_.ascent.iterate == Iterate::last) return last();
  return {.w = noted_w_, .b = noted_b_, .alpha = noted_alpha_};
}

}  // namespace fenchel::solver
