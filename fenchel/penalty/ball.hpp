// What a named constraint {w : G(w) <= budget} offers, with G(w) = l1 ||w||_1 + (l2/2) ||w||^2 given by its two strengths.
// For every theta > 0 (at least max_j |u_j| / l1 where l2 = 0),
//     sigma(u) - <w, u> <= theta (budget - G(w)) + sum_j [ theta G(w_j) + (theta G)*(u_j) - w_j u_j ],
// terms that are all non-negative, with equality for the constraint's multiplier: so brackets of a ball are those of a
// separable penalty. lambda has no part in a constraint: its own strengths are 0.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <span>

#include "fenchel/base/interval.hpp"
#include "fenchel/penalty/penalty.hpp"

namespace fenchel::penalty {

// Squares of radii, and the last digit of one, are normal doubles.
inline constexpr double least_radius = 1e-100;
inline constexpr double largest_radius = 1e100;

inline double largest_magnitude(std::span<const double> u) {
  double largest = 0.0;
  for (const double x : u) largest = std::max(largest, std::fabs(x));
  return largest;
}

template <class K>
concept Ball = SeparablePenalty<K> && requires(const K ball, std::span<double> w, std::span<const double> u) {
  { ball.gauge() } -> std::same_as<Strength>;
  // Encloses the exact budget.
  { ball.budget() } -> std::same_as<Interval>;
  ball.project(w);  // Euclidean, in place
  { ball.support(u) } -> std::same_as<double>;
  // The theta with which the bound above is closest.
  { ball.multiplier(u) } -> std::same_as<double>;
};

}  // namespace fenchel::penalty
