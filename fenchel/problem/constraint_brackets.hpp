// The bracket of a constraint w in K,  sigma(u) - <w, u> >= 0,  as a sum of non-negative terms at two levels: at u as
// computed, and at most as large as rounding leaves it, |exact u_j - u_j| <= error_j. It expects w in K.
#pragma once

#include <span>

#include "fenchel/penalty/constraint.hpp"
#include "fenchel/problem/two_levels.hpp"

namespace fenchel::problem {

TwoLevels constraint_brackets(const penalty::Constraint& constraint, std::span<const double> w,
                              std::span<const double> u, std::span<const double> error);

}  // namespace fenchel::problem
