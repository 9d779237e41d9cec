// Levels of smoothing by row: the optimised prox-function of smoothing, d(alpha) = sum_i rho_i s_i alpha_i^2 / 2 with
// rho = c / sum c and factors s of mean sum_i rho_i s_i = 1, so that smoothing at the levels mu s_i costs at most what one
// level mu for all may. What is left to choose is the curvature: of the smoothed risk, or of the dual in the lengths
// of d, it is proportional to
//     Gamma(s) = lambda_max(M(s)),   M(s) = sum_i (rho_i / s_i) a_i a_i',   a_i = x_i - m in the lengths of the penalty,
// with m = 0 or, under a free bias, the mean of x under rho / s: there sum rho alpha = 0 allows every m, and this one is the
// best. In the terms of section 5.6 of the paper the rows are rho_i a_i and b_i^2 = rho_i s_i, whatever the weights. Its
// b_i^2 = |a_i'v| may be worse than s = 1, or infinite. The norms s_i ~ ||a_i|| have
//     Gamma(s) <= trace M(s) <= (sum_i rho_i ||a_i||)^2 <= trace M(1),
// up to the factor 1.01 of the floor under them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/base/interval.hpp"
#include "fenchel/base/large_vector.hpp"
#include "fenchel/problem/problem.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

// M(s), by products with the data; an empty s is 1. Lengths of rows are x' diag(scale) x, an empty scale being 1.
class RowScatter {
 public:
  // One pass, and another one under a free bias.
  RowScatter(const problem::Problem& problem, std::span<const double> scale, std::span<const double> factors);

  [[nodiscard]] double trace() const { return trace_; }
  // ||a_i||; one pass under a free bias.
  [[nodiscard]] std::vector<double> row_norms();
  // M v; one pass or two.
  void apply(std::span<const double> v, std::span<double> result);
  // Where the largest eigenvalue lies, by that many products of Lanczos' refinement of power iteration from a random
  // vector, the same for all data. The low end is a Rayleigh quotient and holds; the high end is the trace, or (Kuczynski and
  // Wozniakowski 1992, theorem 4.2) what holds with a probability of at least 99 %.
  Interval largest_eigenvalue(std::size_t products);
  // Over the data, so far.
  [[nodiscard]] double passes() const { return passes_; }

 private:
  data::LinearMap map_;
  std::vector<double> root_scale_;
  std::vector<double> weights_;  // rho / s
  LargeVector squares_;          // of the norms of x_i
  std::vector<double> mean_;     // m; empty: 0
  double trace_ = 0.0;
  double passes_ = 1.0;
  std::vector<double> z_, beta_, scaled_;
};

// s_i ~ ||a_i||, of mean 1, and none far below it: rows without features still take part in the bias, which
// is unique only where all are smoothed. Empty where all rows are 0.
std::vector<double> norm_factors(const problem::Problem& problem, std::span<const double> norms);

struct RowLevels {
  std::vector<double> factors = {};  // empty: all 1
  double curvature_bound = 0.0;      // trace M(s), where there are factors
  double passes = 0.0;               // over the data, that it took to find them
};

// The factors asked for; none where a fit of few passes leaves none for the question. Those that pay have Gamma(s) <= worth Gamma(1), by the bounds above where the curvature is searched; where
// it is bounded by the trace, the trace is what counts.
RowLevels row_levels(const problem::Problem& problem, std::span<const double> scale, const GradientChoices& choices,
                     double worth);

}  // namespace fenchel::solver
