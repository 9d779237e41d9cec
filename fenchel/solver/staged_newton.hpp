// Newton's method for losses of all classes after some epochs of dual ascent. From far away a Newton step is one of many, each
// with a linear system of its own; rows taken one by one come near the optimum in a few passes, and slow down there,
// where Newton's method needs two or three steps. Where columns are few its systems are solved by factorisations, and it
// starts at once, as it does from a point that was given.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/solver/multiclass_newton.hpp"

namespace fenchel::solver {

// (mean of sum_j x_j^2 / l2_j) / n, which divided by gamma is kappa / n: the passes, but for a logarithm, that dual ascent takes.
[[nodiscard]] double mean_curvature(const problem::MulticlassProblem& problem);

class StagedNewton final : public MulticlassSolver {
 public:
  static constexpr std::string_view name = "newton";
  static constexpr std::array<std::string_view, 0> takes{};
  static std::optional<std::string_view> missing(const loss::AnyVector& loss, const penalty::Separable& penalty) {
    return MulticlassNewton::missing(loss, penalty);
  }

  StagedNewton(const problem::MulticlassProblem& problem, const MulticlassStart& start, const Conduct& conduct);

  double step() override;
  [[nodiscard]] problem::MulticlassCandidate candidate() override;
  [[nodiscard]] double passes_aside() override { return stage_->passes_aside(); }
  [[nodiscard]] Estimate estimate() const override;
  void refine_estimate() override { stage_->refine_estimate(); }
  [[nodiscard]] double price_of_candidate() const override { return stage_->price_of_candidate(); }
  [[nodiscard]] bool stationary() const override { return !in_ascent_ && stage_->stationary(); }

 private:
  double turn();  // from the first stage to the second; returns passes that were not told yet
  // Whether the duals of the ascent are better than Newton's own, which far from the optimum are poor.
  [[nodiscard]] bool offers_old_duals() const;

  problem::MulticlassProblem problem_;
  double passes_ = 0.0;
  double most_passes_;  // of the whole fit
  double ascent_;       // passes of it
  bool in_ascent_;
  std::unique_ptr<MulticlassSolver> stage_;
  // Of the ascent's last point, the latter two as guessed.
  std::vector<double> old_duals_;
  double old_gap_ = infinity, old_value_ = -infinity;
};

}  // namespace fenchel::solver
