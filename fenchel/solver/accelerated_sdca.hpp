// Accelerated Prox-SDCA (Shalev-Shwartz and Zhang, Figure 2): an outer accelerated proximal point method whose subproblems,
// P(w) + (kappa/2) ||w - y||^2, are solved by a few sweeps of dual coordinate ascent. It pays where R^2 / (gamma lambda) is
// well above n; kappa = R^2 / (gamma n) - lambda balances the two.
//
// The default is the practical variant: a fixed number of sweeps a subproblem, stopped by the certificate. The variant
// of the theory solves each subproblem to the tolerance of Figure 2, with guesses of its gap, and is stopped by the
// certificate as well: the paper's conditions 1 and 2 are upper bounds on the same suboptimality.
//
// A loss that is not smooth is smoothed inside, less and less: whenever the smoothed problem is solved better than the
// smoothing is worth. Certificates are those of the loss itself.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/solver/dual_ascent.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

// The constants of the method (Section 4 of the paper, corrected).
struct Acceleration {
  double kappa = 0.0;
  double eta = 1.0;
  double beta = 0.0;  // momentum
  // For a problem with strong convexity lambda, smoothness gamma, and the mean curvature R^2 / n of its rows.
  static Acceleration of(double lambda, double gamma, double curvature);
};

class AcceleratedSdca final : public Solver {
 public:
  static constexpr std::string_view name = "accelerated-sdca";
  static constexpr std::string_view summary = "dual coordinate ascent inside an accelerated proximal point method";
  static constexpr bool takes_row_order = true;
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);
  // Whether R^2 / (gamma lambda) is well above n.
  static bool pays(const problem::Problem& problem);

  AcceleratedSdca(const problem::Problem& problem, const Start& start, const Conduct& conduct);

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return false; }

 private:
  void restart(const Start& start);

  problem::Problem problem_;
  Conduct conduct_;
  double curvature_;  // max c_i ||x_i||^2 / sum c, the R^2 / n of the paper
  double smoothing_ = 0.0;
  Acceleration constants_;
  std::unique_ptr<DualAscent> ascent_;  // of the subproblem
  std::vector<double> w_;               // of the outer iteration
  std::vector<double> extrapolated_;    // y
  double subproblem_gap_ = 0.0;         // what the next subproblem has to reach, in the variant of the theory
  Estimate estimate_;
};

}  // namespace fenchel::solver
