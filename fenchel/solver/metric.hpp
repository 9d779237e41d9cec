// Lengths and gaps for batch solvers: ||w||^2 = sum_j D_j w_j^2 with D = diag(s_j^2) where the penalty has scales s_j, which is the same as
// working with s_j w_j; plain where it has none.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/problem/problem.hpp"
#include "fenchel/risk/pointwise_dual.hpp"

namespace fenchel::solver {

// D; empty: the identity.
inline std::vector<double> metric_of(const penalty::Separable& penalty) {
  std::vector<double> result(penalty.scales().begin(), penalty.scales().end());
  for (double& s : result) s *= s;
  return result;
}

// The modulus of strong convexity of the penalty in this metric.
inline double least_curvature(const penalty::Separable& penalty, std::span<const double> metric) {
  if (metric.empty()) return penalty.strong_convexity();
  double least = infinity;
  for (std::size_t j = 0; j < metric.size(); ++j) least = std::min(least, penalty[j].l2 / metric[j]);
  return least;
}

// sum_i c_i x_i' D^-1 x_i / sum c: divided by gamma, a bound on the curvature of the risk of a (1/gamma)-smooth loss.
template <class Problem>
double mean_square_norm(const Problem& problem, std::span<const double> metric) {
  std::vector<double> inverse(metric.begin(), metric.end());
  for (double& m : inverse) m = 1.0 / m;
  const LargeVector norms = data::LinearMap(problem.design).row_square_norms(inverse);
  double sum = 0.0;
  for (std::size_t i = 0; i < norms.size(); ++i)
    sum += problem.sample.weight(i) / problem.sample.weight_sum * norms[i];
  return sum;
}

// sigma(-gradient) + <w, gradient>; w may lie outside the set by what momentum adds.
inline double constraint_gap(const penalty::Constraint& constraint, std::span<const double> w,
                             std::span<const double> gradient) {
  std::vector<double> u(gradient.begin(), gradient.end());
  double product = 0.0;
  for (std::size_t j = 0; j < u.size(); ++j) {
    product += w[j] * u[j];
    u[j] = -u[j];
  }
  return std::fabs(penalty::support(constraint, u) + product);
}

// The gap at w with the dual vector of the gradient, in plain arithmetic: penalty brackets at u = -gradient, and for an l1
// part the scaling s that makes u feasible, whose price is about (1 - s)^2 R(w) (exactly so for the squared loss).
inline double gradient_gap(const penalty::Regularizer& penalty, double risk, std::span<const double> w,
                           std::span<const double> gradient) {
  if (const auto& constraint = penalty.constraint()) return constraint_gap(*constraint, w, gradient);
  double scale = 1.0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const penalty::Strength g = penalty[j];
    if (g.l2 == 0.0 && g.l1 > 0.0 && std::fabs(gradient[j]) > g.l1) {
      scale = std::min(scale, g.l1 / std::fabs(gradient[j]));
    }
  }
  double sum = (1.0 - scale) * (1.0 - scale) * risk;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const penalty::Strength g = penalty[j];
    sum += g.unpenalized() ? std::fabs(w[j] * gradient[j]) : g.fenchel_young(w[j], -scale * gradient[j]);
  }
  return sum;
}

// The largest curvatures of the conjugate of a strongly convex penalty.
inline std::vector<double> inverse_curvatures(const penalty::Separable& penalty, std::size_t dimension) {
  std::vector<double> inverse(dimension);
  for (std::size_t j = 0; j < inverse.size(); ++j) inverse[j] = 1.0 / penalty[j].l2;
  return inverse;
}

// A bound on the curvature of alpha -> Omega*(u(alpha)); needs a strongly convex penalty.
inline double conjugate_curvature(const penalty::Separable& penalty, const risk::PointwiseDual& risk) {
  return risk.mean_square_norm(inverse_curvatures(penalty, risk.dimension()));
}

}  // namespace fenchel::solver
