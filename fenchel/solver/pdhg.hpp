// Primal-dual hybrid gradient (Chambolle and Pock) for  min over w, b, max over alpha of
//     sum_j g_j(w_j) + sum_i s_i [ -phi*(-alpha_i) - alpha_i (x_i.w + b) ],   s_i = c_i / sum c,
// for any loss with an exact dual step and any penalty or constraint. One step T of it is
//     w+ = prox of w + tau X'(s alpha),   alpha+ = the dual step from alpha at the score of 2 w+ - w.
// The iterates are those of a restarted, reflected Halpern iteration (Lu and Yang, "Restarted Halpern PDHG for linear
// programming"): v <- k/(k+1) (2 T(v) - v) + 1/(k+1) anchor, with the anchor moved to T(v) when ||v - T(v)|| has fallen enough,
// or for long enough not (the conditions of PDLP). The weight between the two step lengths follows how far primal and
// dual moved between restarts. Steps are diagonally preconditioned (Pock and Chambolle) under a separable penalty; a
// projection needs one step length for all features. A free bias is a column of ones that nothing penalises.
// Candidates are T(v), whose margins and induced vector are at hand.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class Pdhg final : public Solver {
 public:
  static constexpr std::string_view name = "pdhg";
  static constexpr std::string_view summary = "restarted primal-dual hybrid gradient, all rows at a time";
  static constexpr std::array<std::string_view, 0> takes{};
  static constexpr bool constrains = true;  // takes a constraint in place of a penalty
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::Any& loss, const penalty::Separable& penalty);

  Pdhg(const problem::Problem& problem, const Start& start, Conduct conduct);  // draws nothing at random

  double step() override;
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  [[nodiscard]] bool stationary() const override { return stationary_; }

 private:
  // A primal and a dual point with their products; w ends with the free bias, if there is one.
  struct State {
    std::vector<double> w, alpha;
    std::vector<double> z;  // x_i.w, bias included
    std::vector<double> u;  // X'(s alpha)
  };

  void choose_metric();
  void choose_weight();
  void measure_norm();
  void descend();  // next_.w and its margins
  void ascend();   // next_.alpha and what it induces
  void induce(State& state);
  void assess();
  [[nodiscard]] bool restart_pays();
  void restart();
  void go_on();

  problem::Problem problem_;
  data::Design design_;
  data::LinearMap map_;
  std::vector<double> shares_;  // s_i
  std::vector<double>
      column_metric_;       // lengths of w are measured with these weights, those of alpha with shares times
  LargeVector row_metric_;  // these
  double norm_ = 0.0;       // of sqrt(s) X in these metrics, as far as it is known
  double most_norm_ = 0.0;  // a bound on it
  double weight_ = 1.0;     // of dual steps over primal ones
  State now_, next_, anchor_;
  std::vector<double> scaled_;  // s_i alpha_i
  double largest_residual_ = 0.0;
  double residual_ = infinity, first_residual_ = infinity, last_residual_ = infinity;
  double steps_ = 0.0, since_restart_ = 0.0;
  bool begun_ = false;
  Estimate estimate_;
  bool stationary_ = false;
};

}  // namespace fenchel::solver
