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
  if (!(penalty.strong_convexity() > 0.0)) {
    return "a penalty that is strongly convex in every feature (l2, or elastic-net with --l1-ratio below 1, with "
           "lambda "
           "> 0 and no penalty factor of 0)";
  }
  return std::nullopt;
}

Sdca::Sdca(const problem::Problem& problem, const Start& start, const Conduct& conduct)
    : problem_(problem), conduct_(conduct), ascent_(problem, start, conduct), random_(conduct.seed) {}

double Sdca::step() {
  double passes = 0.0;
  DualAscent::Seen seen;
  for (int k = 0; k < most_sweeps_a_step && passes < least_passes_a_step; ++k) {
    seen = ascent_.sweep();
    passes += seen.passes;
    take_note();
    // Independent draws may leave rows out: then nothing changing means nothing.
    stationary_ = seen.all && !seen.changed && conduct_.ascent.sampling == Sampling::permutation;
    if (stationary_) break;
  }
  estimate_ = {.gap = seen.gap, .primal = ascent_.dual_value() + seen.gap, .scatter = seen.all ? 1.6 : 2.0};
  return passes;
}

// The average (or the choice) starts again whenever the number of sweeps has doubled: the later half of all counts,
// as the theory has it.
void Sdca::take_note() {
  if (conduct_.ascent.iterate == Iterate::last) return;
  if (++sweeps_ >= 2 * noted_from_) noted_from_ = sweeps_;
  const auto count = static_cast<double>(sweeps_ - noted_from_ + 1);
  const bool fresh = count == 1.0;
  if (conduct_.ascent.iterate == Iterate::random) {
    if (random_.uniform() * count >= 1.0) return;  // each of the sweeps is kept with the same probability
    noted_alpha_.assign(ascent_.alpha().begin(), ascent_.alpha().end());
    noted_w_.assign(ascent_.weights().begin(), ascent_.weights().end());
    noted_b_ = ascent_.bias();
    return;
  }
  const auto average = [&](std::vector<double>& mean, std::span<const double> now) {
    mean.resize(now.size());
    for (std::size_t k = 0; k < now.size(); ++k) mean[k] = fresh ? now[k] : mean[k] + (now[k] - mean[k]) / count;
  };
  average(noted_alpha_, ascent_.alpha());
  average(noted_w_, ascent_.weights());
  noted_b_ = fresh ? ascent_.bias() : noted_b_ + (ascent_.bias() - noted_b_) / count;
}

problem::Candidate Sdca::candidate() {
  if (conduct_.ascent.iterate == Iterate::last) {
    return {.w = ascent_.weights(), .b = ascent_.bias(), .alpha = ascent_.alpha()};
  }
  return {.w = noted_w_, .b = noted_b_, .alpha = noted_alpha_};
}

}  // namespace fenchel::solver
