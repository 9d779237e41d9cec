// Accelerated Prox-SDCA (Shalev-Shwartz and Zhang, Figure 2): an outer accelerated proximal point method whose subproblems,
// P(w) + (kappa/2) ||w - y||^2, are solved by a few sweeps of dual coordinate ascent. It pays where R^2 / (gamma lambda) is
// well above n; kappa = R^2 / (gamma n) - lambda balances the two.
//
// The default is the practical variant: kappa is found on the way and subproblems are solved as far as inexact proximal
// point methods ask for (ProximalAscent); the momentum is that of FISTA, and restarts when it points uphill. It needs
// neither a smooth loss nor a strongly convex penalty, and takes fewer passes than a fixed number of sweeps.
//
// The variant of the theory has the paper's constants and solves each subproblem to its tolerance, with guesses of its
// gap; the paper's two stopping conditions say when a certificate is worth its price, and the certificate decides. A
// loss that is not smooth is smoothed, less and less: whenever the smoothed problem is solved better than the smoothing
// is worth. Certificates are those of the loss itself.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/solver/dual_ascent.hpp"
#include "fenchel/solver/proximal_ascent.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

// The constants of the method (Section 4 of the paper, corrected).
struct Acceleration {
  double kappa = 0.0;
  double mu = 0.0;
  double rho = 0.0;
  double eta = 1.0;
  double beta = 0.0;  // momentum
  // For a problem with strong convexity lambda, smoothness gamma, and the curvature R^2 / n of its rows.
  static Acceleration of(double lambda, double gamma, double curvature);

  // xi_1, from P(0) - D(0).
  [[nodiscard]] double first_bound(double gap_at_zero) const { return (1.0 + 1.0 / (eta * eta)) * gap_at_zero; }
  // The gap to which the subproblem that follows the bound xi is solved.
  [[nodiscard]] double tolerance(double xi) const { return eta * xi / (2.0 * (1.0 + 1.0 / (eta * eta))); }
  // After t - 1 subproblems that met their tolerances, P(w) - P* is at most this (condition 1).
  [[nodiscard]] double bound_after(double subproblems, double xi_1) const;
  // P(w) - P* after a subproblem with this gap that moved from y to w (condition 2).
  [[nodiscard]] double bound_of(double gap, double square_distance) const {
    return (1.0 + rho / mu) * gap + 0.5 * rho * kappa / mu * square_distance;
  }
};

class AcceleratedSdca final : public Solver {
 public:
  static constexpr std::string_view name = "accelerated-sdca";
  static constexpr std::string_view summary = "dual coordinate ascent inside an accelerated proximal point method";
  static constexpr std::array<std::string_view, 6> takes{option::row_order, option::step,         option::sampling,
                                                         option::smoothing, option::acceleration, option::blocks};
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);
  // Whether R^2 / (gamma lambda) is well above n; for losses that are not smooth, R^2 / lambda far above it.
  static bool pays(const problem::Problem& problem, const Conduct& conduct);

  AcceleratedSdca(const problem::Problem& problem, const Start& start, const Conduct& conduct);

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return false; }

 private:
  double theoretical_step();
  double practical_step();
  void set_constants(double gap);  // for the smoothing as it is; `gap` is that of the point to start from
  void extrapolate(std::span<const double> w, double beta);

  problem::Problem problem_;
  Conduct conduct_;
  double curvature_;  // max c_i ||x_i||^2 / sum c, the R^2 / n of the paper
  double smoothing_ = 0.0;
  Acceleration constants_;
  std::optional<DualAscent> ascent_;        // of the theory's subproblem,
  std::optional<ProximalAscent> proximal_;  // or of the practical one
  std::vector<double> w_;                   // of the outer iteration
  std::vector<double> extrapolated_;        // y
  double momentum_ = 1.0;                   // a_n of FISTA
  double xi_1_ = 0.0;                       // of the theory
  double subproblems_ = 0.0;                // since the constants last changed
  Estimate estimate_;
};

}  // namespace fenchel::solver
