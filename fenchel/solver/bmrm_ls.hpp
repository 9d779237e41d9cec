// bmrm-ls: the bundle method that keeps one average of its cuts (line_bundle.hpp), and the average of their dual vectors
// with it. A step costs little more than its two passes and its memory does not grow, for a rate of 1/(lambda t) at best.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/solver/cut_oracle.hpp"
#include "fenchel/solver/line_bundle.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class BmrmLs final : public Solver {
 public:
  static constexpr std::string_view name = "bmrm-ls";
  static constexpr std::string_view summary =
      "bundle method with a line search instead of a bundle; slow, as a baseline";
  static constexpr std::array<std::string_view, 0> takes{};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);

  BmrmLs(const problem::Problem& problem, const Start& start, const Conduct& conduct);  // draws nothing at random

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override {
    return {.w = bundle_.best_point(), .b = best_b_, .alpha = alpha_};
  }
  [[nodiscard]] Estimate estimate() const override;
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  PointwiseCuts risk_;
  LineBundle bundle_;
  std::vector<double> alpha_;
  double best_b_ = 0.0;
  bool stationary_ = false;
};

}  // namespace fenchel::solver
