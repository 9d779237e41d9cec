// Terms of sums that are estimates.
#pragma once

#include <limits>

namespace fenchel {

// weight * term, for terms >= 0. Rounded outward, a term of 0 is the smallest of all numbers, and products with subnormal
// numbers take processors longer than everything else that is done for a short row.
inline double weighted_term(double weight, double term) {
  return term < std::numeric_limits<double>::min() ? 0.0 : weight * term;
}

}  // namespace fenchel
