// Proximal stochastic dual coordinate ascent (Shalev-Shwartz and Zhang, "Accelerated Proximal Stochastic Dual Coordinate
// Ascent", Figure 1), for any loss with an exact dual step. By default Option I, every row once in a fresh random order,
// and the last dual vector, with an average of late weights where that is better.
//
// A penalty that is not strongly convex in every coordinate gets a term (kappa/2) ||w - y||^2 besides: the paper's small
// term for the Lasso, turned into a proximal point method by moving y to w again and again, so that nothing of the term
// is left in the end. Certificates never see it.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/solver/best_multiple.hpp"
#include "fenchel/solver/dual_ascent.hpp"
#include "fenchel/solver/late_average.hpp"
#include "fenchel/solver/proximal_ascent.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class Sdca final : public Solver {
 public:
  static constexpr std::string_view name = "sdca";
  static constexpr std::string_view summary = "proximal stochastic dual coordinate ascent, one row at a time";
  static constexpr std::array<std::string_view, 7> takes{option::row_order, option::step,      option::sampling,
                                                         option::iterate,   option::smoothing, option::momentum,
                                                         option::blocks};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);

  Sdca(const problem::Problem& problem, const Start& start, const Conduct& conduct);

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override;
  void refine_estimate() override;
  [[nodiscard]] double price_of_candidate() const override;
  [[nodiscard]] double passes_aside() override { return std::exchange(passes_aside_, 0.0); }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  double sweep_plainly();
  double sweep_proximally();
  [[nodiscard]] problem::Candidate last();
  void take_note();     // of an iterate, where another than the last is asked for
  void guess_primal();  // of the last weights
  [[nodiscard]] bool averages() const;
  void take_average();  // of late weights, where that may be better than the last
  [[nodiscard]] bool overshoots(double in_passes = 0.0) const;
  [[nodiscard]] LargeVector margins_of(std::span<const double> w) const;
  [[nodiscard]] Ray ray_at(std::span<const double> z, double t) const;
  [[nodiscard]] double value_of_last();  // and not a guess
  [[nodiscard]] double improve_average();

  problem::Problem problem_;
  Conduct conduct_;
  std::optional<DualAscent> plain_;  // one of the two
  std::optional<ProximalAscent> proximal_;
  Random random_;
  std::vector<double> noted_alpha_;  // the average, or the random choice, of the sweeps since `noted_from_`
  std::vector<double> noted_w_;
  double noted_b_ = 0.0;
  std::size_t sweeps_ = 0;
  std::size_t noted_from_ = 0;
  LateAverage average_;
  double passes_ = 0.0;         // of sweeps
  double asked_at_ = 0.0;       // of these, when weights were last evaluated
  double average_to_last_;      // the average's gap over the guess of that of the last weights
  double last_to_guess_ = 1.0;  // theirs over the guess
  double passes_aside_ = 0.0;
  double valued_at_ = 0.0;  // of the passes, when the primal value was last guessed
  DualAscent::Seen seen_;
  Estimate estimate_;  // of the last weights
  bool stationary_ = false;
};

}  // namespace fenchel::solver
