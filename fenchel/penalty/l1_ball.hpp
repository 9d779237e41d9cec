// The constraint ||w||_1 <= r: its support function is r max_j |u_j|.
#pragma once

#include <array>

#include "fenchel/penalty/ball.hpp"
#include "fenchel/projection/balls.hpp"

namespace fenchel::penalty {

struct L1Ball {
  double radius = 1.0;

  static constexpr std::string_view name = "l1-ball";
  static constexpr std::string_view formula = "||w||_1 <= r";
  static constexpr std::array<Field<L1Ball>, 1> fields{
      {{"radius", &L1Ball::radius, least_radius, largest_radius, false, "r of the constraint"}}};

  [[nodiscard]] Strength strength(double /*lambda*/) const { return {}; }
  [[nodiscard]] Strength gauge() const { return {.l1 = 1.0, .l2 = 0.0}; }
  [[nodiscard]] Interval budget() const { return {radius, radius}; }

  void project(std::span<double> w) const { projection::project_l1_ball(w, radius, w); }
  [[nodiscard]] double support(std::span<const double> u) const { return projection::support_l1_ball(u, radius); }
  [[nodiscard]] double multiplier(std::span<const double> u) const { return largest_magnitude(u); }
};

static_assert(Ball<L1Ball>);

}  // namespace fenchel::penalty
