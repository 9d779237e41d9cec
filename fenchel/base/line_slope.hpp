// A convex function along a line: its first and second derivative, and where it stops descending.
#pragma once

#include <cmath>

#include "fenchel/base/interval.hpp"

namespace fenchel {

struct LineSlope {
  double first = 0.0;
  double second = 0.0;
  void add(const LineSlope& other) {
    first += other.first;
    second += other.second;
  }
};

// How far to go along a descent direction whose slope is `start` < 0 at 0, from a first trial at 1 and not beyond `furthest`:
// roughly to the root of the slope at(t), and never past it by much, as a slope that is still negative means descent:
// `undershoot` is the share of the slope at 0 that may be left.
template <class At>
double step_along(double start, double furthest, double undershoot, At&& at) {
  constexpr int most_trials = 30;
  constexpr double overshoot = 0.1;    // of the slope at 0, which will do
  constexpr double resolution = 1e-3;  // where the slope jumps
  constexpr double shrinkage = 0.125;  // until a step is short enough, which may be far from 1
  double low = 0.0, high = furthest, t = 1.0;
  for (int trial = 0; trial < most_trials; ++trial) {
    const LineSlope slope = at(t);
    if (slope.first <= -overshoot * start && slope.first >= undershoot * start) return t;
    (slope.first <= 0.0 ? low : high) = t;  // where values overflow, the slope is no number, and t too long
    double next = t - slope.first / slope.second;
    if (!(next > low && next < high)) {
      next = !std::isfinite(high) ? 4 * t : low > 0.0 ? 0.5 * (low + high) : shrinkage * high;
    }
    if (next == t || (std::isfinite(high) && high - low <= resolution * high)) break;
    t = next;
  }
  return low > 0.0 ? low : t;
}

}  // namespace fenchel
