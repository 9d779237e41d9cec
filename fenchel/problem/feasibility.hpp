// Exact dual feasibility. The dual vector of record is beta_i = c_i alpha_i: it lies in the box c_i [dual domain], and
// under a free bias its sum is zero in exact arithmetic, not up to a tolerance (math: certificate, section 2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/problem/problem.hpp"

namespace fenchel::problem {

// The box of beta_i, rounded towards zero so that it never exceeds the exact one.
Interval dual_box(const Problem& problem, std::size_t i);

// How far beta may move towards either end of its box (a scale of its own where the box is unbounded); 0 at beta = 0 and
// at the ends, so that moving along it keeps inactive entries inactive.
double dual_room(double beta, Interval box, double weight);

// beta_i = c_i alpha_i, clipped to the box; entries that are not finite become 0. With places, alpha_i stands at place[i].
std::vector<double> weighted_dual(const Problem& problem, std::span<const double> alpha,
                                  std::span<const std::uint32_t> place = {});

// Moves beta inside its boxes to the sum `target` >= 0 or < 0: first along the room of the entries, then, where that
// does not suffice, by shrinking the side that is too large (only for target 0). False where neither reaches it.
bool move_sum(const Problem& problem, std::span<double> beta, double target);

// Makes the sum of beta exactly zero: move_sum, then a dyadic grid on which sums are exact integers.
void zero_sum(const Problem& problem, std::span<double> beta);

// Whether beta lies in its boxes and, under a free bias, sums to exactly zero.
bool exactly_feasible(const Problem& problem, std::span<const double> beta);

}  // namespace fenchel::problem
