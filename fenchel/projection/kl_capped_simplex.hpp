// The projection in relative entropy onto the capped simplex,
//
//     minimize sum_i w_i log(w_i / q_i)    over  0 <= w <= cap,  sum_i w_i = 1,
//
// whose solution is w_i = min(cap, C q_i). q is given by its logarithms, of any size and not normalised; -infinity stands
// for q_i = 0. Which entries are capped is found by halving at medians of the logarithms: linear time in expectation.
#pragma once

#include <span>

namespace fenchel::projection {

// A cap of 1 or more is none. The set is empty where cap times the number of finite logarithms is below 1 (but for
// rounding): Error(Fault::usage), as for a logarithm that is NaN or infinity. `result` may be `logs`.
void project_kl_capped_simplex(std::span<const double> logs, double cap, std::span<double> result);

}  // namespace fenchel::projection
