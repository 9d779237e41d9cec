// Pragam (Zhang, Saha and Vishwanathan, "Lower Bounds for BMRM and Faster Rates for Training SVMs", Algorithm 1): Nesterov's
// excessive gap technique. It keeps w and alpha with
//     J_mu(w) = Omega(w) + max over alpha of [ -<u(alpha), w> - R*(alpha) - (mu/2) ||alpha - centre||^2 ]  <=  D(alpha),
// so that the gap is at most mu max ||alpha - centre||^2 / 2, and drives mu to zero:
//     beta = (1 - tau) alpha + tau alpha_mu(w),   w <- (1 - tau) w + tau w(beta),   alpha <- v(beta),   mu <- (1 - tau) mu,
// alpha_mu(w) the maximiser above, w(beta) the gradient of Omega* at u(beta), v(beta) a proximal gradient step on D with curvature L.
//
// Departures: the first alpha is made from the centre (a random one breaks the invariant). L is found by trials of
// Omega*(u(v)) <= Omega*(u(beta)) + <w(beta), u(v) - u(beta)> + (L/2) ||v - beta||^2, and tau is the largest that the invariant
// allows, tau^2 / (1 - tau) = (mu + gamma) / L, gamma the modulus of strong convexity of R*: 2/(k+3) bounds it from below, and smooth losses
// get a linear rate. The step stays inside R* whatever the loss, since v and alpha_mu are both exact maximisers.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/risk/pointwise_dual.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class Pragam final : public Solver {
 public:
  static constexpr std::string_view name = "pragam";
  static constexpr std::string_view summary =
      "the excessive gap technique: w and alpha together, a gap that falls by itself";
  static constexpr std::array<std::string_view, 1> takes{option::curvature};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);

  Pragam(const problem::Problem& problem, const Start& start, const Conduct& conduct);

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override { return {.w = w_, .b = b_, .alpha = alpha_}; }
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

  [[nodiscard]] double level() const { return mu_; }
  [[nodiscard]] double curvature() const { return L_; }
  // D(alpha) - J_mu(w), never negative but for rounding; no pass.
  [[nodiscard]] double excess();

 private:
  double begin();
  // alpha <- v(beta) if the curvature L suffices there; two passes.
  bool advance_from_beta(double L);
  void take_conjugate_gradient();  // w(beta)
  void look();                     // the estimate
  [[nodiscard]] double dual_value() const;

  problem::Problem problem_;
  risk::PointwiseDual dual_;
  risk::Pointwise risk_;
  bool adaptive_;
  double L_;
  double least_L_ = 0.0;
  bool may_fall_ = false;
  double mu_ = 0.0;
  bool begun_ = false;
  std::vector<double> centre_;
  std::vector<double> w_, beta_w_;               // w, w(beta)
  risk::Pointwise::State at_w_;                  // z = X w
  std::vector<double> beta_z_;                   // X w(beta)
  std::vector<double> alpha_, peak_, beta_, v_;  // peak: alpha_mu(w)
  std::vector<double> alpha_u_, peak_u_, beta_u_, v_u_;
  double b_ = 0.0, v_bias_ = 0.0;
  double scale_ = 1.0;  // of the objective, for what rounding is
  Estimate estimate_;
  bool stationary_ = false;
};

}  // namespace fenchel::solver
