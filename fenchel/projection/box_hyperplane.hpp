// The projection onto a box cut by a hyperplane,
//
//     minimize (1/2) sum_i d2_i (a_i - m_i)^2    over  l <= a <= u,  sum_i s_i a_i = z,
//
// whose solution is a_i = clip(m_i + s_i Lambda / d2_i, l_i, u_i), with Lambda the root of the nondecreasing piecewise
// linear sum_i s_i a_i(Lambda) - z. Linear time in expectation, whatever ties there are. Zhang, Saha and Vishwanathan,
// Algorithms 7 and 8, without their shift by m, which cancels where |m| is much larger than the box.
#pragma once

#include <span>

namespace fenchel::projection {

struct BoxHyperplane {
  std::span<const double> centre;  // m
  std::span<const double> weight;  // d2 > 0; empty: all 1
  std::span<const double> low;     // l, may be -infinity; empty: all 0
  std::span<const double> high;    // u, may be infinity; empty: all 1
  std::span<const double> normal;  // s; empty: all 1
  double level = 0.0;              // z
};

// Returns Lambda, finite even where a is a corner of the box. The sum meets the level up to rounding, as does a Lambda whose
// own rounding moves the sum: a is computed with more digits of it. A level beyond the box's reach by no more than the
// rounding of its ends counts as that end. Throws Error(Fault::usage) where the set is empty or the numbers make no sense.
// `result` lies apart from the arrays of the set.
double project_box_hyperplane(const BoxHyperplane& set, std::span<double> result);

}  // namespace fenchel::projection
