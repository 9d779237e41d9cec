// Elastic net:  Omega = rho ||w||_1 + (1 - rho)/2 ||w||^2, strongly convex with modulus lambda (1 - rho).
#pragma once

#include <array>

#include "fenchel/penalty/penalty.hpp"

namespace fenchel::penalty {

struct ElasticNet {
  double l1_ratio = 0.5;

  static constexpr std::string_view name = "elastic-net";
  static constexpr std::string_view formula = "rho ||w||_1 + (1 - rho)/2 ||w||^2";
  static constexpr std::array<Field<ElasticNet>, 1> fields{
      {{"l1-ratio", &ElasticNet::l1_ratio, 0.0, 1.0, false, "rho, the share of the l1 norm in the elastic net"}}};

  [[nodiscard]] Strength strength(double lambda) const {
    return {.l1 = lambda * l1_ratio, .l2 = lambda * (1.0 - l1_ratio)};
  }
};

static_assert(SeparablePenalty<ElasticNet>);

}  // namespace fenchel::penalty
