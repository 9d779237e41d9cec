// No penalty:  Omega = 0, dual feasible where u = 0.
#pragma once

#include <array>

#include "fenchel/penalty/penalty.hpp"

namespace fenchel::penalty {

struct None {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view formula = "0";
  static constexpr std::array<Field<None>, 0> fields{};

  [[nodiscard]] Strength strength(double /*lambda*/) const { return {}; }
};

static_assert(SeparablePenalty<None>);

}  // namespace fenchel::penalty
