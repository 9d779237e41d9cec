#include "fenchel/solver/risk_cuts.hpp"

namespace fenchel::solver {
namespace {

constexpr double first_level = 0.1;
constexpr double least_level = 1e-12;  // about what scores are known to
constexpr double most_imbalance = 1e-10;

}  // namespace

CutOracle::Answer PointwiseCuts::cut(std::span<const double> w, std::span<double> slope) {
  if (!free_bias_) {
    passes_ = risk_.locate_with_gradient(w, 0.0, state_, slope);
    return {.value = risk_.value(state_), .offset = risk_.offset()};
  }
  risk_.locate(w, state_.b, state_);
  passes_ = 2.0;
  return {.value = risk_.value(state_), .offset = risk_.subgradient(state_, slope)};
}

CutOracle::Answer ClassCuts::cut(std::span<const double> w, std::span<double> slope) {
  if (smoothed_) risk_.smooth(first_level);
  risk_.locate(w, std::move(state_.b), state_);
  const double shortfall = smoothed_ ? lower_level() : 0.0;
  risk_.gradient(state_, slope);
  return {.value = risk_.unsmoothed_value(state_), .offset = risk_.offset(), .shortfall = shortfall};
}

// The best biases are piecewise linear in the level: from one to the half of it they mostly go on as before.
double ClassCuts::lower_level() {
  risk::ClassRisk::DualQuality quality = risk_.dual_quality(state_);
  std::vector<double> before = state_.b;
  sharpest_ = quality.imbalance > most_imbalance;  // nothing sharper can be expected to balance
  for (double level = first_level; !sharpest_ && quality.shortfall > most_shortfall_; level *= 0.5) {
    const std::vector<double> here = state_.b;
    for (std::size_t l = 0; l < here.size(); ++l) state_.b[l] += 0.5 * (here[l] - before[l]);
    risk_.smooth(0.5 * level);
    risk_.settle(state_);
    const risk::ClassRisk::DualQuality next = risk_.dual_quality(state_);
    if (next.imbalance > most_imbalance || 0.5 * level < least_level) {
      risk_.smooth(level);
      state_.b = here;
      sharpest_ = true;
      break;
    }
    quality = next;
    before = here;
  }
  return quality.shortfall;
}

}  // namespace fenchel::solver
