// A closed interval of the real line; infinite ends are allowed.
#pragma once

#include <algorithm>
#include <limits>

namespace fenchel {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

struct Interval {
  double low = -infinity;
  double high = infinity;

  [[nodiscard]] constexpr bool contains(double x) const { return low <= x && x <= high; }
  [[nodiscard]] constexpr double clamp(double x) const { return std::min(std::max(x, low), high); }
};

}  // namespace fenchel
