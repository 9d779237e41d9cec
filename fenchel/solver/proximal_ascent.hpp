// Dual coordinate ascent for a subproblem of a proximal point method, P(w) + (kappa/2) ||w - y||^2, with a kappa that is
// found on the way: subproblems are solved until their gap is below (kappa/2) ||w - y||^2, which inexact proximal point
// methods ask for, and kappa is moved to where that takes a few sweeps. A larger one makes subproblems easy and their
// number large.
#pragma once

#include <span>
#include <vector>

#include "fenchel/solver/dual_ascent.hpp"

namespace fenchel::solver {

class ProximalAscent {
 public:
  ProximalAscent(const problem::Problem& problem, const Start& start, const Conduct& conduct);

  struct Solved {
    DualAscent::Seen seen;  // of the last sweep
    double passes = 0.0;
    double gap = infinity;    // a guess of the gap without the added term
    double losses = 0.0;      // a guess of R(w, b)
    bool stationary = false;  // nothing would change if y moved to w
  };
  Solved solve();
  // The value of the problem without the added term, at the weights found. Where it no longer falls, subproblems were solved too roughly;
  // where it rises far, much too roughly, and what led there is no way to go on: returns whether it does.
  bool judge(double primal);
  // Goes on to the next subproblem, with its centre y and perhaps another kappa; returns the passes this took.
  double move_to(std::span<const double> y);

  // Of the subproblem solved last, with kappa as it is now.
  [[nodiscard]] std::span<const double> weights() const { return w_; }
  [[nodiscard]] std::span<const double> alpha() const { return ascent_.alpha(); }
  [[nodiscard]] double bias() const { return ascent_.bias(); }
  [[nodiscard]] double kappa() const { return ascent_.kappa(); }

 private:
  [[nodiscard]] double next_kappa(double passes);
  [[nodiscard]] double allowed_share(double gap) const;

  double smoothing_;
  bool smooth_;  // the loss
  double first_kappa_;
  double share_of_gap_;
  double next_kappa_;
  DualAscent ascent_;
  std::vector<double> w_;
  int quick_ = 0;       // subproblems in a row that were solved in no time
  int slow_ = 0;        // or not at all
  bool rough_ = false;  // the last one ended at a share of the problem's gap
  double least_primal_ = infinity;
  int in_vain_ = 0;  // subproblems since then
  bool tight_ = false;
  double exactness_ = 1.0;  // on how roughly subproblems may be solved
};

}  // namespace fenchel::solver
