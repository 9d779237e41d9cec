// The constraint ||w||_2 <= r, here as 1/2 ||w||^2 <= r^2 / 2: its support function is r ||u||_2.
#pragma once

#include <array>

#include "fenchel/base/rounding.hpp"
#include "fenchel/penalty/ball.hpp"
#include "fenchel/projection/balls.hpp"

namespace fenchel::penalty {

struct L2Ball {
  double radius = 1.0;

  static constexpr std::string_view name = "l2-ball";
  static constexpr std::string_view formula = "||w||_2 <= r";
  static constexpr std::array<Field<L2Ball>, 1> fields{
      {{"radius", &L2Ball::radius, least_radius, largest_radius, false, "r of the constraint"}}};

  [[nodiscard]] Strength strength(double /*lambda*/) const { return {}; }
  [[nodiscard]] Strength gauge() const { return {.l1 = 0.0, .l2 = 1.0}; }
  [[nodiscard]] Interval budget() const { return {narrow(0.5 * radius * radius), widen(0.5 * radius * radius)}; }

  void project(std::span<double> w) const { projection::project_l2_ball(w, radius, w); }
  [[nodiscard]] double support(std::span<const double> u) const { return projection::support_l2_ball(u, radius); }
  [[nodiscard]] double multiplier(std::span<const double> u) const { return support(u) / radius / radius; }
};

static_assert(Ball<L2Ball>);

}  // namespace fenchel::penalty
