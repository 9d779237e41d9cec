// Who goes on where the solver that `auto` chose gets no further. A few numbers of the data say who is the fastest as a rule; where
// the rule is wrong, another one takes over from the best point there is, so that nothing is lost but the passes so far.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "fenchel/registry/settings.hpp"

namespace fenchel::registry {

struct Turn {
  std::string_view solver;
  double most_passes = infinity;  // after which the next one has its turn; before that when it stalls
};

// The turns of a fit that begins with the solver `chosen`: no other one where the user named it.
std::vector<Turn> turns_of(std::string_view chosen, const Settings& settings, const penalty::Regularizer& penalty,
                           std::size_t rows, std::size_t columns);

}  // namespace fenchel::registry
