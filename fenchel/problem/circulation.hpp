// Exact dual feasibility of a multiclass problem. The duals of record are the weighted B_il = c_i beta_il >= 0 (l != y_i), row
// sums at most c_i. Under a free bias sum_i c_i alpha_il = 0 has to hold for every class l: read as a flow of sum B_il from
// the rows of class j to class l, what leaves a class has to equal what enters it. All entries are multiples of one power of
// two, so that these are statements about integers.
#pragma once

#include <span>
#include <vector>

#include "fenchel/problem/multiclass.hpp"

namespace fenchel::problem {

// B from beta: entries that are negative or not numbers become 0, rows that exceed their sum are scaled down to it.
std::vector<double> weighted_duals(const MulticlassProblem& problem, std::span<const double> beta);

// Makes the flow of B a circulation. First the duals of each row are tilted, p_il -> p_il exp(nu_l) with one nu for all rows, as
// a change of the bias would do; it moves only entries strictly inside the dual set, along which D changes least. What
// is left, and what rounding to the grid leaves, is taken off along paths from classes with too much outflow to
// classes with too much inflow; entries only shrink by that, so that every row stays feasible.
void make_circulation(const MulticlassProblem& problem, std::span<double> B);

// Whether B is feasible as it stands, in exact arithmetic.
bool exactly_feasible(const MulticlassProblem& problem, std::span<const double> B);

}  // namespace fenchel::problem
