// The constraint rho ||w||_1 + (1 - rho)/2 ||w||^2 <= r.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "fenchel/penalty/ball.hpp"
#include "fenchel/projection/balls.hpp"

namespace fenchel::penalty {

struct ElasticNetBall {
  double radius = 1.0;
  double l1_ratio = 0.5;

  static constexpr std::string_view name = "elastic-net-ball";
  static constexpr std::string_view formula = "rho ||w||_1 + (1 - rho)/2 ||w||^2 <= r";
  static constexpr std::array<Field<ElasticNetBall>, 2> fields{
      {{"radius", &ElasticNetBall::radius, least_radius, largest_radius, false, "r of the constraint"},
       {"l1-ratio", &ElasticNetBall::l1_ratio, 0.0, 1.0, false,
        "rho, the share of the l1 norm in the elastic net"}}};

  [[nodiscard]] Strength strength(double /*lambda*/) const { return {}; }
  [[nodiscard]] Strength gauge() const { return {.l1 = l1_ratio, .l2 = 1.0 - l1_ratio}; }
  [[nodiscard]] Interval budget() const { return {radius, radius}; }

  void project(std::span<double> w) const { projection::project_elastic_net_ball(w, l1_ratio, radius, w); }
  [[nodiscard]] double support(std::span<const double> u) const {
    return projection::support_elastic_net_ball(u, l1_ratio, radius);
  }
  // At the maximiser w of <u, w> every coordinate that is not 0 has |u_j| = theta (rho + (1 - rho) |w_j|).
  [[nodiscard]] double multiplier(std::span<const double> u) const {
    std::vector<double> w(u.size());
    projection::maximize_elastic_net_ball(u, l1_ratio, radius, w);
    double largest = 0.0, at_largest = 0.0;
    for (std::size_t j = 0; j < u.size(); ++j) {
      if (std::fabs(u[j]) <= largest) continue;
      largest = std::fabs(u[j]);
      at_largest = std::fabs(w[j]);
    }
    return largest / (l1_ratio + (1.0 - l1_ratio) * at_largest);
  }
};

static_assert(Ball<ElasticNetBall>);

}  // namespace fenchel::penalty
