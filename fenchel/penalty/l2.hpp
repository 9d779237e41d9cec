// Ridge:  Omega = 1/2 ||w||^2, strongly convex with modulus lambda.
#pragma once

#include <array>

#include "fenchel/penalty/penalty.hpp"

namespace fenchel::penalty {

struct L2 {
  static constexpr std::string_view name = "l2";
  static constexpr std::string_view formula = "1/2 ||w||^2";
  static constexpr std::array<Field<L2>, 0> fields{};

  [[nodiscard]] Strength strength(double lambda) const { return {.l1 = 0.0, .l2 = lambda}; }
};

static_assert(SeparablePenalty<L2>);

}  // namespace fenchel::penalty
