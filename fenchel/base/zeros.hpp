// Products with zeros are zeros, exactly and for nothing: vectors that are 0 are worth noticing.
#pragma once

#include <algorithm>
#include <span>

namespace fenchel {

inline bool all_zero(std::span<const double> values) {
  return std::ranges::all_of(values, [](double x) { return x == 0.0; });
}

}  // namespace fenchel
