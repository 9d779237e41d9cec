// The small problem inside a bundle method:  max over the simplex of  <b, theta> - (1/2) theta' Q theta,  Q symmetric and
// positive semidefinite (singular where cuts are repeated).
//
// Pairwise steps move weight from a supported coordinate to the one of the largest derivative, by the amount that gains
// most. In between, the problem on the support alone is solved as a linear system; the step towards its solution ends
// where a coordinate reaches zero, which then leaves the support. The gap  max_i g_i - <g, theta>,  g = b - Q theta, bounds
// what is left to gain.
#pragma once

#include <span>

namespace fenchel::solver {

// Improves theta, a point of the simplex, until its gap is at most `tolerance` or rounding ends the progress; returns the
// gap. Q has as many rows as theta, one after the other.
double maximize_on_simplex(std::span<const double> Q, std::span<const double> b, std::span<double> theta,
                           double tolerance);

}  // namespace fenchel::solver
