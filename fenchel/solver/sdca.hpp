// Proximal stochastic dual coordinate ascent (Shalev-Shwartz and Zhang, "Accelerated Proximal Stochastic Dual Coordinate
// Ascent", Figure 1), for any loss with an exact dual step and a penalty that is strongly convex in every coordinate.
// By default Option I, every row once in a fresh random order, and the last iterate.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/solver/dual_ascent.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class Sdca final : public Solver {
 public:
  static constexpr std::string_view name = "sdca";
  static constexpr std::string_view summary = "proximal stochastic dual coordinate ascent, one row at a time";
  static constexpr bool takes_row_order = true;
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);

  Sdca(const problem::Problem& problem, const Start& start, const Conduct& conduct);

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  void take_note();  // of an iterate, where another than the last is asked for

  problem::Problem problem_;
  Conduct conduct_;
  DualAscent ascent_;
  Random random_;
  std::vector<double> noted_alpha_;  // the average, or the random choice, of the sweeps since `noted_from_`
  std::vector<double> noted_w_;
  double noted_b_ = 0.0;
  std::size_t sweeps_ = 0;
  std::size_t noted_from_ = 0;
  Estimate estimate_;
  bool stationary_ = false;
};

}  // namespace fenchel::solver
