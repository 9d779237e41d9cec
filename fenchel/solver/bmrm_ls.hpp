// bmrm-ls: the bundle method that keeps one average of its cuts (line_bundle.hpp), and the average of their dual vectors
// with it. A step costs little more than its two passes and its memory does not grow, for a rate of 1/(lambda t) at best.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/solver/line_bundle.hpp"
#include "fenchel/solver/problem_kind.hpp"
#include "fenchel/solver/risk_cuts.hpp"

namespace fenchel::solver {

template <class Kind>
class BmrmLsOf final : public Kind::Method {
 public:
  using Problem = typename Kind::Problem;
  using Start = typename Kind::Start;
  using Candidate = typename Kind::Candidate;

  static constexpr std::string_view name = "bmrm-ls";
  static constexpr std::string_view summary =
      "bundle method with a line search instead of a bundle; slow, as a baseline";
  static constexpr std::array<std::string_view, 0> takes{};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const typename Kind::Loss& loss,
                                                 const penalty::Separable& penalty);

  BmrmLsOf(const Problem& problem, const Start& start, const Conduct& conduct);  // draws nothing at random

  double step() override;
  [[nodiscard]] Candidate candidate() override { return {bundle_.best_point(), best_b_, dual_}; }
  [[nodiscard]] Estimate estimate() const override;
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  typename CutsOf<Kind>::Type risk_;
  LineBundle bundle_;
  std::vector<double> dual_;
  typename Kind::Bias best_b_;
  bool stationary_ = false;
};

extern template class BmrmLsOf<OneOutput>;
extern template class BmrmLsOf<AllClasses>;

using BmrmLs = BmrmLsOf<OneOutput>;
using MulticlassBmrmLs = BmrmLsOf<AllClasses>;

}  // namespace fenchel::solver
