// Newton's method for losses of all classes after some epochs of dual ascent. From far away a Newton step is one of many, each
// with a linear system of its own; rows taken one by one come near the optimum in a few passes, and slow down there,
// where Newton's method needs two or three steps. Where columns are few its systems are solved by factorisations, and it
// starts at once, as it does from a point that was given.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "fenchel/solver/multiclass_newton.hpp"

namespace fenchel::solver {

class StagedNewton final : public MulticlassSolver {
 public:
  static constexpr std::string_view name = "newton";
  static constexpr std::array<std::string_view, 0> takes{};
  static std::optional<std::string_view> missing(const loss::AnyVector& loss, const penalty::Separable& penalty) {
    return MulticlassNewton::missing(loss, penalty);
  }
  // (mean of sum_j x_j^2 / l2_j) / n, which divided by gamma is kappa / n: the passes, but for a logarithm, that dual ascent takes.
  static double curvature(const problem::MulticlassProblem& problem);

  StagedNewton(const problem::MulticlassProblem& problem, const MulticlassStart& start, const Conduct& conduct);

  double step() override;
  [[nodiscard]] problem::MulticlassCandidate candidate() override { return stage_->candidate(); }
  [[nodiscard]] double passes_aside() override { return stage_->passes_aside(); }
  [[nodiscard]] Estimate estimate() const override { return stage_->estimate(); }
  void refine_estimate() override { stage_->refine_estimate(); }
  [[nodiscard]] double price_of_candidate() const override { return stage_->price_of_candidate(); }
  [[nodiscard]] bool stationary() const override { return stage_->stationary(); }

 private:
  void turn();  // from the first stage to the second

  problem::MulticlassProblem problem_;
  double ascent_left_;  // passes
  bool in_ascent_;
  std::unique_ptr<MulticlassSolver> stage_;
};

}  // namespace fenchel::solver
