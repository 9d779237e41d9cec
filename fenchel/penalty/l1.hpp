// Lasso:  Omega = ||w||_1, dual feasible where |u_j| <= lambda.
#pragma once

#include <array>

#include "fenchel/penalty/penalty.hpp"

namespace fenchel::penalty {

struct L1 {
  static constexpr std::string_view name = "l1";
  static constexpr std::string_view formula = "||w||_1";
  static constexpr std::array<Field<L1>, 0> fields{};

  [[nodiscard]] Strength strength(double lambda) const { return {.l1 = lambda, .l2 = 0.0}; }
};

static_assert(SeparablePenalty<L1>);

}  // namespace fenchel::penalty
