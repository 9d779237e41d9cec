// Conjugate gradients on the supports of a multiclass hinge. Once sweeps have found which dual variables are 0, the others solve a
// linear system, which sweeps do slowly where rows are alike. With p = (beta, p_y = 1 - sum beta), a point of a simplex a row, and F_i the
// classes with p_l > 0, the dual objective is a parabola along every direction d with sum d = 0 over each F_i:
//     D(p + t d) = D(p) + t sum_i s_i sum_F d_l v_l - (t^2/2) l2 ||M||^2,   v_l = 1[l != y] + z_l,
// s_i the shares of the rows and M the change of the weights. Directions are those of Polak and Ribiere, with the rows' curvatures q_i
// for a preconditioner: gradients (v_l - mean of v over F_i) / q_i. Rows that a step would take out of their simplex are left
// out of d from then on, and what is left of the way is cut where the next one would get to its end. So every step raises the dual
// objective, and no dual variable that is 0 becomes positive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/problem/multiclass.hpp"

namespace fenchel::solver {

class SupportAscent {
 public:
  // The problem has a plain l2 penalty, no free bias and the multiclass hinge.
  struct Setting {
    const problem::MulticlassProblem& problem;
    std::span<const double> shares;      // c_i / sum c
    std::span<const double> curvatures;  // q_i
    double inverse_l2 = 1.0;
    std::size_t stride = 0;  // of the weights
  };

  // Goes up from beta (rows x classes), whose weights are given, as far as it may or as the gradient falls by far. Work is counted
  // in entries x classes; where there is too little of it for more than a few steps there is none. Returns how much it took.
  double climb(const Setting& setting, std::span<double> beta, std::span<double> weights, double most_work);
  // Rows that it began with.
  [[nodiscard]] std::span<const std::uint32_t> rows() const { return rows_; }

 private:
  struct Free {  // a row with its range of the vectors below
    std::uint32_t row = 0;
    std::size_t first = 0, last = 0;
  };
  void gather(const Setting& setting, std::span<const double> beta);
  template <class Rows>
  [[nodiscard]] double climb_rows(const Rows& rows, const Setting& setting, std::span<double> weights,
                                  double most_steps);
  template <class Rows>
  void begin(const Rows& rows, const Setting& setting, std::span<const double> weights);
  template <class Rows>
  void turn(const Rows& rows, const Setting& setting, double kept);  // d = the gradient + kept d
  template <class Rows>
  void score(const Rows& rows, const Setting& setting, std::span<const double> weights,
             std::span<double> scores) const;
  template <class Rows>
  void add_to_move(const Rows& rows, const Setting& setting, const Free& free, std::span<const double> by,
                   double times);
  // The best step along the direction, after rows that would get to an end on it have been left out; 0 where they are too many.
  template <class Rows>
  [[nodiscard]] double step_along(const Rows& rows, const Setting& setting);
  template <class Rows>
  [[nodiscard]] bool leave_out(const Rows& rows, const Setting& setting, double step);
  [[nodiscard]] double square_of_rounding(const Setting& setting) const;
  [[nodiscard]] double best_step(const Setting& setting) const;
  [[nodiscard]] double reach(const Free& free) const;  // up to which p + t d stays in the simplex
  // Moves p by t d, and the gradient. Returns the part of d that the next direction keeps.
  [[nodiscard]] double advance(const Setting& setting, double step);
  void scatter(const Setting& setting, std::span<double> beta) const;

  std::vector<std::uint32_t> rows_;
  std::vector<Free> free_;              // those of them that move
  std::vector<Free> gathered_;          // all of them
  std::vector<std::uint32_t> classes_;  // the F_i, one after the other
  std::vector<double> p_;
  std::vector<double> gradient_;   // v less its mean over F_i
  std::vector<double> towards_;    // the gradient over the curvature, new in the direction
  std::vector<double> direction_;  // d
  std::vector<double> scores_;     // of M
  std::vector<double> change_;     // of the weights, by one row
  LargeVector move_;               // M
  double steps_ = 0.0;
  double square_ = 0.0;  // of the gradient, in the metric of the preconditioner
};

}  // namespace fenchel::solver
