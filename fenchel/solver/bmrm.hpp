// bmrm: the bundle method of bundle.hpp for the empirical risk (Teo et al., "Bundle Methods for Regularized Risk
// Minimization"; Saha et al., "Lower Bounds for BMRM and Faster Rates for Training SVMs"). The dual vector of every cut is
// kept in compact form until the cut is dropped: their average with the weights theta is what the certificate gets.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/solver/bundle.hpp"
#include "fenchel/solver/compact_dual.hpp"
#include "fenchel/solver/problem_kind.hpp"
#include "fenchel/solver/risk_cuts.hpp"

namespace fenchel::solver {

template <class Kind>
class BmrmOf final : public Kind::Method {
 public:
  using Problem = typename Kind::Problem;
  using Start = typename Kind::Start;
  using Candidate = typename Kind::Candidate;

  static constexpr std::string_view name = "bmrm";
  static constexpr std::string_view summary = "bundle method: cutting planes of the risk, all rows at a time";
  static constexpr std::array<std::string_view, 0> takes{};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const typename Kind::Loss& loss,
                                                 const penalty::Separable& penalty);

  BmrmOf(const Problem& problem, const Start& start, const Conduct& conduct);  // draws nothing at random

  double step() override;
  [[nodiscard]] Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override;
  [[nodiscard]] bool stationary() const override { return bundle_.stationary() && risk_.sharpest(); }

 private:
  Problem problem_;
  typename CutsOf<Kind>::Type risk_;
  Bundle bundle_;
  std::vector<typename CompactDualOf<Kind>::Type> duals_;  // one a cut
  std::vector<double> dual_;
  typename Kind::Bias best_b_;
};

extern template class BmrmOf<OneOutput>;
extern template class BmrmOf<AllClasses>;

using Bmrm = BmrmOf<OneOutput>;
using MulticlassBmrm = BmrmOf<AllClasses>;

}  // namespace fenchel::solver
