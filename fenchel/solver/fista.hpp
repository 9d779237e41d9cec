// Accelerated proximal gradient (FISTA) in the form of Mairal, "Optimization with First-Order Surrogate Functions",
// Algorithm 4: momentum from a_n^2 = (1 - a_n) a_{n-1}^2 + q a_n with q = mu/(L + mu), which is plain FISTA for mu = 0.
// Departures: L is found by backtracking and may fall again; the momentum restarts when it points uphill
// (O'Donoghue and Candes); lengths are measured in the metric D = diag(s_j^2) where the penalty has scales s_j, which is
// the same as working with s_j w_j. It sees the risk's oracle and the penalty's prox, never rows.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/solver/problem_kind.hpp"

namespace fenchel::solver {

template <class Kind>
class FistaOf final : public Kind::Method {
 public:
  using Problem = typename Kind::Problem;
  using Start = typename Kind::Start;
  using Candidate = typename Kind::Candidate;

  static constexpr std::string_view name = "fista";
  static constexpr std::string_view summary = "accelerated proximal gradient with restarts, all rows at a time";
  static constexpr std::array<std::string_view, 0> takes{};
  static constexpr bool constrains = true;  // takes a constraint in place of a penalty
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const typename Kind::Loss& loss,
                                                 const penalty::Separable& penalty);

  FistaOf(const Problem& problem, const Start& start, Conduct conduct);  // draws nothing at random

  double step() override;
  [[nodiscard]] Candidate candidate() override { return {x_, at_x_.b, {}}; }
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  using Risk = typename Kind::Risk;
  using State = typename Risk::State;

  [[nodiscard]] Estimate estimate_at_y(double risk_at_y) const;
  int backtrack(double risk_at_y);  // finds next_ and L_; returns the passes it took
  void extrapolate();
  [[nodiscard]] double metric(std::size_t j) const { return metric_.empty() ? 1.0 : metric_[j]; }

  Risk risk_;
  penalty::Regularizer penalty_;  // of the coordinates of w
  std::vector<double> metric_;    // D; empty: the identity
  double mu_;                     // strong convexity in this metric
  double L_;
  double a_ = 1.0;
  std::vector<double> x_, y_, next_, gradient_;
  State at_x_, at_y_, at_next_;
  bool settled_ = false;  // whether the last backtracking accepted its first trial
  Estimate estimate_;
  bool stationary_ = false;
};

extern template class FistaOf<OneOutput>;
extern template class FistaOf<AllClasses>;

using Fista = FistaOf<OneOutput>;
using MulticlassFista = FistaOf<AllClasses>;

}  // namespace fenchel::solver
