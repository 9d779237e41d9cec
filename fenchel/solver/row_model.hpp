// The rows' part of what `newton` minimises,  sum_i s_i psi_i(z_i)  with shares s_i = c_i / sum c.
//
// Smooth losses: psi = phi. Others: the proximal point smoothing about a dual vector a,
//     psi(z) = max over t of  -phi*(-t) - z t - (q/2)(t - a)^2,
// so that -psi'(z) = t is the loss's dual step and psi'' = 1/q where t lies inside a linear piece of phi*, 0 where it sits at an
// end of one. Nothing here sees the data, only margins; functions look at the rows of a list only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/base/line_slope.hpp"
#include "fenchel/problem/problem.hpp"

namespace fenchel::solver {

// s_i = c_i / sum c. One number where no weights are given, or where they are shares as they are.
class Shares {
 public:
  explicit Shares(const risk::Sample& sample);
  Shares(const Shares&) = delete;
  Shares& operator=(const Shares&) = delete;

  [[nodiscard]] double operator[](std::size_t i) const { return each_.empty() ? equal_ : each_[i]; }

 private:
  double equal_;
  std::vector<double> own_;
  std::span<const double> each_;  // empty: all equal
};

class RowModel {
 public:
  using List = std::span<const std::uint32_t>;

  explicit RowModel(const problem::Problem& problem);

  [[nodiscard]] bool smooth() const { return smooth_; }
  [[nodiscard]] const Shares& shares() const { return shares_; }

  // The centre a and the width q of the smoothing; nothing for smooth losses.
  void center(std::vector<double> alpha, double q);
  // The same for the rows of a list; the others keep their centres.
  void recenter(List list, std::span<const double> alpha, double q);
  [[nodiscard]] std::span<const double> center() const { return center_; }
  [[nodiscard]] double q() const { return q_; }
  // Curvatures are kept without this factor, so that they outlive a change of q.
  [[nodiscard]] double scale() const { return smooth_ ? 1.0 : 1.0 / q_; }

  // Of psi, in units of scale().
  [[nodiscard]] double largest_curvature() const { return smooth_ ? 1.0 / loss::smoothness(loss_) : 1.0; }

  // First and second derivative of t -> sum_i s_i psi_i(z_i + t dz_i). An empty dz is all ones.
  [[nodiscard]] LineSlope along(List list, std::span<const double> z, std::span<const double> dz, double t) const;

  // Sums at a point, in plain arithmetic.
  struct Sums {
    double risk = 0.0;      // sum s phi(z), never smoothed
    double brackets = 0.0;  // sum s [phi(z) + phi*(-alpha) + alpha z]
    double weight = 0.0;    // sum s psi'' / scale()
    void add(const Sums& other) {
      risk += other.risk;
      brackets += other.brackets;
      weight += other.weight;
    }
  };
  // alpha_i = -psi'_i(z_i) and weight_i = s_i psi''_i(z_i) / scale(). What s_i alpha_i has changed by goes to change_i, on top of
  // what is there where that is `pending`.
  Sums locate(List list, std::span<const double> z, std::span<double> alpha, std::span<double> weight,
              std::span<double> change, bool pending) const;

  // The mean of psi'' over [z, z + reach dz], times s / scale(), where that is more than the weight at z.
  void secants(List list, std::span<const double> z, std::span<const double> dz, double reach,
               std::span<const double> alpha, std::span<const double> weight, std::span<double> secant) const;

  // The sums for any dual vector in its domain.
  [[nodiscard]] Sums sums_of(List list, std::span<const double> z, std::span<const double> alpha) const;
  // About sum s [phi(z) + phi*(-other) + other z] for another dual vector near alpha = -phi'(z), which is clipped to its
  // domain; `clipped` is what that took away, times s. Smooth losses only.
  double brackets_of(List list, std::span<const double> z, std::span<const double> alpha,
                     std::span<const double> weight, std::span<double> other, std::span<double> clipped) const;

  // The rows whose dual variable may change while every z_i moves by at most radius * norms_i, also for a smaller q: for the
  // others it is the same at both ends of that range, and equal to the centre. Returns the risk of those others.
  double moving(std::span<const double> z, std::span<const float> norms, double radius, LargeList& list) const;

 private:
  loss::Any loss_;
  std::span<const double> targets_;
  bool smooth_;
  Shares shares_;
  std::vector<double> center_;
  double q_ = 0.0;
};

}  // namespace fenchel::solver
