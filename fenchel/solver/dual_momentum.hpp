// What dual coordinate ascent gains from the method of conjugate gradients. Once it is known which dual variables are at the ends
// of their domains, sweeps solve a linear system for the others, as Gauss-Seidel iterations do: slowly where rows are alike and
// the penalty is weak. So a sweep starts from x + t d, where x is what the last one led to, d the way between the last two
// starts, and t maximises the dual objective. Along d that is a parabola,
//     t = -(s w.m + sum_i c_i d_i phi*_i'(-alpha_i)) / (s ||m||^2 + gamma sum_i c_i d_i^2),
// with c_i the shares of the rows, w = X'(c alpha) / s and m = X'(c d) / s. Rows that are at an end of their domain or would get
// there are left out of d. But for rounding the dual objective does not fall.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/problem/problem.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class DualMomentum {
 public:
  // The dual objective is, up to a constant,
  //     -(l2/2) ||w||^2 - b^2 / (2 bias_step) - sum_i shares_i (phi*_i(-alpha_i) + (smoothing/2) alpha_i^2).
  struct Objective {
    const problem::Problem& problem;
    std::span<const double> shares;
    double l2 = 1.0;         // s
    double bias_step = 0.0;  // 0: no free bias
    double smoothing = 0.0;
  };
  struct Point {
    std::span<double> alpha;
    std::span<double> w;
    double& b;
  };

  // Whether the dual objective is made of parabolas, by a plain l2 penalty and a loss whose conjugate is one or two of them, and
  // nothing speaks against it: other steps and draws are there for what is known about them, and rows that are left out come from
  // all over the data, which may be larger than memory.
  [[nodiscard]] static bool takes(const problem::Problem& problem, const Conduct& conduct);

  // Moves the point that a sweep has led to on to the start of the next one. Returns how many entries of the data this took.
  std::size_t follow(const Objective& objective, const Point& point);
  // All that it holds; the next point is a first one.
  void forget() { *this = {}; }

 private:
  // How a row goes along d.
  struct Move {
    double by;     // d_i
    double slope;  // of its part of the dual objective, at the beginning
    double reach;  // as far as it can go: 0 at an end of its domain
    std::size_t row;
  };
  struct Products;
  struct Along;

  [[nodiscard]] double best_step(const Objective& objective, const Point& point);
  [[nodiscard]] Products products_with(std::span<const double> w) const;
  // What rows do along d, and where their ways end.
  template <class L>
  [[nodiscard]] Along look_ahead(const L& loss, const Objective& objective, std::span<const double> alpha);
  // Leaves rows that go no farther than `reach` out of d, and of what is known along it; false: there are too many of them.
  [[nodiscard]] bool drop(const Objective& objective, std::span<const double> w, double reach, Along& along);
  void find_moves(std::span<const double> alpha);

  [[nodiscard]] std::span<Move> moves() { return std::span(moves_).first(moving_); }

  // d, without zeros: the first `moving_` of as many as there are rows. The others are not written.
  std::vector<Move, LargePages<Move>> moves_;
  std::size_t moving_ = 0;
  LargeVector w_move_;                 // m; empty before the second start
  LargeVector alpha_start_, w_start_;  // the last start
  std::size_t entries_ = 0;            // used since it
};

}  // namespace fenchel::solver
