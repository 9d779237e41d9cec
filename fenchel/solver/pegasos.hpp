// pegasos (Shalev-Shwartz, Singer, Srebro and Cotter, "Pegasos: Primal Estimated sub-GrAdient SOlver for SVM"): stochastic
// subgradient steps of size 1/(lambda t), one row or a batch of rows at a time,
//     w_{t+1} = (1 - 1/t) w_t - (1/(lambda t)) phi'(z_i) x_i,
// for every loss with bounded subgradients; the projection onto a ball, which the paper leaves open, is left out. A baseline:
// its error falls like 1/(lambda t).
//
// Unrolled, w = (1/(lambda N)) sum over the N visits so far of -phi'(z_i) x_i. Rows are visited in a fresh random order, each
// once an epoch and weighted rows with a larger step, so after every epoch this is w = X'(c alpha)/(lambda sum c) with alpha_i
// the average of the subgradients of row i: a dual vector inside its domain, which the certificate gets.
//
// A free bias has no strong convexity to live on, and costs the rate: it learns by betting, and with it the sum of c alpha
// vanishes like 1/sqrt(t) only. The certificate makes it vanish.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/kernel/subgradient_sweep.hpp"
#include "fenchel/solver/row_visits.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class Pegasos final : public Solver {
 public:
  static constexpr std::string_view name = "pegasos";
  static constexpr std::string_view summary = "stochastic subgradient steps; slow, as a baseline";
  static constexpr std::array<std::string_view, 2> takes{option::row_order, option::batch};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);

  Pegasos(const problem::Problem& problem, const Start& start, const Conduct& conduct);
  // Views point into the object.
  Pegasos(const Pegasos&) = delete;
  Pegasos& operator=(const Pegasos&) = delete;

  double step() override;  // an epoch
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return false; }

 private:
  void visit(std::span<const std::uint32_t> order);
  [[nodiscard]] double weight(std::size_t j) const;

  problem::Problem problem_;
  std::vector<double> factors_;     // c_i / mean c of the rows that are visited
  std::vector<double> inverse_l2_;  // one a coordinate; empty: all the same
  std::vector<double> sum_;         // s
  std::vector<double> alpha_;
  std::vector<double> w_;
  kernel::CoinBet bias_;
  kernel::SubgradientState state_;
  RowVisits visits_;
  kernel::SubgradientReport seen_;
  Estimate estimate_;
};

}  // namespace fenchel::solver
