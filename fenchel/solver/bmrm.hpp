// bmrm: the bundle method of bundle.hpp for the empirical risk of a scalar loss (Teo et al., "Bundle Methods for Regularized
// Risk Minimization"; Saha et al., "Lower Bounds for BMRM and Faster Rates for Training SVMs"). The dual vector of every
// cut is kept in compact form until the cut is dropped: their average with the weights theta is what the certificate gets.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/solver/bundle.hpp"
#include "fenchel/solver/compact_dual.hpp"
#include "fenchel/solver/cut_oracle.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class Bmrm final : public Solver {
 public:
  static constexpr std::string_view name = "bmrm";
  static constexpr std::string_view summary = "bundle method: cutting planes of the risk, all rows at a time";
  static constexpr std::array<std::string_view, 0> takes{};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);

  Bmrm(const problem::Problem& problem, const Start& start, const Conduct& conduct);  // draws nothing at random

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override;
  [[nodiscard]] bool stationary() const override { return bundle_.stationary(); }

 private:
  problem::Problem problem_;
  PointwiseCuts risk_;
  Bundle bundle_;
  std::vector<CompactDual> duals_;  // one a cut
  std::vector<double> alpha_;
  double best_b_ = 0.0;
};

}  // namespace fenchel::solver
