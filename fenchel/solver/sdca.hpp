// Proximal stochastic dual coordinate ascent (Shalev-Shwartz and Zhang, "Accelerated Proximal Stochastic Dual Coordinate
// Ascent", Figure 1, Option I) with a fresh random permutation every epoch, for any loss with an exact dual step and a
// penalty that is strongly convex in every coordinate.
//
// Data larger than memory are visited in windows (RowOrder::windows): the order is less random, but the disk is read in
// large pieces. The dual step of each row stays exact, so that only the number of epochs may differ.
//
// A free bias is solved by proximal point steps on b alone: each epoch works on the problem with (kappa/2)(b - b_t)^2
// added, whose dual has no equality constraint, and moves the centre b_t to its bias. The fixed point is the
// problem that was asked; the certificate never sees the added term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/kernel/dual_sweep.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class Sdca final : public Solver {
 public:
  static constexpr std::string_view name = "sdca";
  static constexpr std::string_view summary = "proximal stochastic dual coordinate ascent, one row at a time";
  static constexpr bool takes_row_order = true;
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);

  Sdca(const problem::Problem& problem, const Start& start, Conduct conduct);

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  // Consecutive rows, which the sweep visits as one part of its order.
  struct Window {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t end = 0;  // of its part in `order_`
  };

  void cut_windows();
  void draw_order();
  kernel::SweepReport sweep(kernel::SweepState& state);
  kernel::SweepReport sweep_part(kernel::SweepState& state);
  void induce();  // u from alpha, removing the drift of incremental updates

  problem::Problem problem_;
  data::LinearMap map_;
  Random random_;
  std::vector<std::uint32_t> order_;
  std::vector<Window> windows_;     // in the order of the sweep; empty: all rows are shuffled together
  std::vector<double> shares_;      // c_i / sum c
  std::vector<double> curvatures_;  // q_i = (c_i / sum c) (sum_j x_ij^2 / l2_j + 1/kappa)
  std::vector<double> alpha_;
  std::vector<double> induced_;  // w under a plain l2 penalty, u otherwise
  std::vector<double> w_;        // the weights of the last candidate, where `induced_` is u
  double bias_step_ = 0.0;       // 1/kappa
  double center_ = 0.0;
  double b_ = 0.0;
  Estimate estimate_;
  bool stationary_ = false;
  std::uint64_t epoch_ = 0;
};

}  // namespace fenchel::solver
