// The constraint w >= 0, sum_j w_j = r: its support function is r max_j u_j.
#pragma once

#include <array>

#include "fenchel/penalty/ball.hpp"
#include "fenchel/projection/balls.hpp"

namespace fenchel::penalty {

struct Simplex {
  double radius = 1.0;

  static constexpr std::string_view name = "simplex";
  static constexpr std::string_view formula = "w >= 0, sum_j w_j = r";
  static constexpr std::array<Field<Simplex>, 1> fields{
      {{"radius", &Simplex::radius, least_radius, largest_radius, false, "r of the constraint"}}};

  [[nodiscard]] Strength strength(double /*lambda*/) const { return {}; }
  void project(std::span<double> w) const { projection::project_simplex(w, radius, w); }
  [[nodiscard]] double support(std::span<const double> u) const { return projection::support_simplex(u, radius); }
};

static_assert(SeparablePenalty<Simplex>);

}  // namespace fenchel::penalty
