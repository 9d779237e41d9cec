// The problem as an accelerated gradient method sees it: in the primal, or in the dual.
//     primal:  f(w) = R_mu(w), the risk smoothed where the loss is not smooth,  Psi(w) = the penalty,
//     dual:    f(alpha) = the conjugate of the penalty at X'(c alpha)/sum c,
//              Psi(alpha) = (1/sum c) sum_i c_i [ phi*(-alpha_i) + (mu/2) alpha_i^2 ]  with sum c alpha = 0 under a free bias,
// lengths in the primal in the metric of metric.hpp, in the dual ||alpha||^2 = (1/sum c) sum_i c_i alpha_i^2. In either the
// other point is the average of those behind the gradients: alpha = -phi_mu', or w = the gradient of the penalty's conjugate.
// A constraint and losses of all classes have a primal only.
#pragma once

#include <memory>

#include "fenchel/solver/accelerated_gradient.hpp"
#include "fenchel/solver/problem_kind.hpp"

namespace fenchel::solver {

// Where a method stands, from its running averages: estimates without a pass, in plain arithmetic.
struct AgmGauge {
  double primal = infinity;        // of the problem asked
  double gap = infinity;           // likewise
  double smoothed_gap = infinity;  // of the smoothed problem
  double smoothing_gap = 0.0;      // what the smoothing alone costs at the present point
};

template <class Kind>
class AgmSpace {
 public:
  AgmSpace() = default;
  AgmSpace(const AgmSpace&) = delete;
  AgmSpace& operator=(const AgmSpace&) = delete;
  virtual ~AgmSpace() = default;

  [[nodiscard]] virtual SmoothPart& smooth_part() = 0;
  [[nodiscard]] virtual SimplePart& simple_part() = 0;
  virtual AgmPoint start(const typename Kind::Start& start) = 0;  // one pass
  // Before anything is smoothed: gives rows levels of smoothing of their own, where this is asked for or pays
  // (row_levels.hpp). Returns the passes it took.
  virtual double weigh_rows(const GradientChoices& choices) = 0;
  virtual void smooth(double mu) = 0;
  // A bound on the curvature of f.
  [[nodiscard]] virtual double curvature_bound() const = 0;
  // By how much it grows when mu falls by a factor of `fall`.
  [[nodiscard]] virtual double curvature_growth(double fall) const = 0;
  [[nodiscard]] virtual AgmGauge gauge(AcceleratedGradient& method) = 0;
  [[nodiscard]] virtual typename Kind::Candidate candidate(AcceleratedGradient& method) = 0;
};

std::unique_ptr<AgmSpace<OneOutput>> primal_space(const problem::Problem& problem);
std::unique_ptr<AgmSpace<AllClasses>> primal_space(const problem::MulticlassProblem& problem);
// Needs a strongly convex penalty.
std::unique_ptr<AgmSpace<OneOutput>> dual_space(const problem::Problem& problem);

}  // namespace fenchel::solver
