// The list of constraints w in K, which take the place of a penalty. A certificate is about a w that is exactly in K: doubles
// that are inside by a proof in outward rounding, or, for a set without an inside, by sums that are exact.
#pragma once

#include <optional>
#include <span>
#include <variant>

#include "fenchel/penalty/any.hpp"

namespace fenchel::penalty {

using Constraint = std::variant<L1Ball, L2Ball, ElasticNetBall, Simplex>;

// The constraint among the penalties, if it is one.
std::optional<Constraint> constraint_of(const Any& penalty);

// The Euclidean projection, up to rounding, in place; entries that are not finite stay as they are.
void project(const Constraint& constraint, std::span<double> w);
double support(const Constraint& constraint, std::span<const double> u);

// Whether w is proved to be in K.
bool contains(const Constraint& constraint, std::span<const double> w);
// Moves w into K so that this is proved, by a few roundings if it was close; not finite stays not finite.
void enter(const Constraint& constraint, std::span<double> w);

// l1 ||w||_1 + (l2/2) ||w||^2, enclosed.
Interval gauge_of(const Strength& gauge, std::span<const double> w);

}  // namespace fenchel::penalty
