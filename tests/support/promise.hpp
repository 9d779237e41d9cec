// What solvers are held to by tests that run all of them. Baselines whose error falls like 1/t get a tolerance they can reach
// in a test's time; nothing is asked of them beyond it but that what they say is true.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "fenchel/run/run.hpp"

namespace fenchel::test {

inline bool sublinear(std::string_view solver) {
  constexpr std::array<std::string_view, 2> baselines{"bmrm-ls", "pegasos"};
  return std::find(baselines.begin(), baselines.end(), solver) != baselines.end();
}

// `options` as a solver with a linear rate would get them.
inline run::Options promised(std::string_view solver, run::Options options) {
  if (!sublinear(solver)) return options;
  options.tolerance = std::max(options.tolerance, 0.1);
  options.max_passes = std::min(options.max_passes, 1000.0);
  return options;
}

}  // namespace fenchel::test
