#include "fenchel/solver/penalty_dual.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

// The derivative of the function along the line, less its value at 0, and its curvature.
struct CompensatedSlope {
  CompensatedSum change;
  double curvature = 0.0;
  void add(const CompensatedSlope& other) {
    change.add(other.change);
    curvature += other.curvature;
  }
};

}  // namespace

double PenaltyDual::conjugate(std::span<const double> v) const {
  return block_sum<CompensatedSum>(
             v.size(), [&](std::size_t j, CompensatedSum& sum) { sum.add(penalty_[j].conjugate(-v[j])); })
      .total();
}

void PenaltyDual::minimizer(std::span<const double> v, std::span<double> w) const {
  for_each_block(v.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) w[j] = penalty_[j].conjugate_gradient(-v[j]);
  });
}

double PenaltyDual::line_maximizer(std::span<const double> v, std::span<const double> d, double slope) const {
  constexpr int most_steps = 100;
  if (!(slope > 0.0)) return 0.0;
  const auto at = [&](double s) {
    return block_sum<CompensatedSlope>(v.size(), [&](std::size_t j, CompensatedSlope& sum) {
      const penalty::Strength g = penalty_[j];
      const double here = v[j] + s * d[j];
      sum.change.add((g.conjugate_gradient(-here) - g.conjugate_gradient(-v[j])) * d[j]);
      if (g.l1 == 0.0 || std::fabs(here) > g.l1) sum.curvature += d[j] * d[j] / g.l2;
    });
  };
  if (quadratic()) {
    const double curvature = at(0.0).curvature;
    return slope >= curvature ? 1.0 : slope / curvature;
  }
  double low = 0.0, high = 1.0, s = 1.0;
  for (int k = 0; k < most_steps; ++k) {
    const CompensatedSlope there = at(s);
    const double derivative = slope + there.change.total();
    if (derivative >= 0.0 && s == 1.0) return 1.0;
    if (std::fabs(derivative) <= 4 * unit_roundoff * slope) return s;
    (derivative > 0.0 ? low : high) = s;
    double next = s + derivative / there.curvature;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (next == s || !(low < high)) return s;
    s = next;
  }
  return s;
}

}  // namespace fenchel::solver
