// The list of solvers: a new one is one more pair of files and one more entry here. What each supports is computed
// from what it says is missing; refusals and the printed table come from the same source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fenchel/problem/problem.hpp"
#include "fenchel/solver/accelerated_sdca.hpp"
#include "fenchel/solver/fista.hpp"
#include "fenchel/solver/sdca.hpp"

namespace fenchel::registry {

using Solvers = std::tuple<solver::Sdca, solver::AcceleratedSdca, solver::Fista>;

struct SolverEntry {
  std::string_view name;
  std::string_view summary;
  bool takes_row_order;  // goes row by row, in an order that can be chosen
  std::optional<std::string_view> (*missing)(const loss::Any&, const penalty::Separable&);
  std::unique_ptr<solver::Solver> (*make)(const problem::Problem&, const solver::Start&, solver::Conduct);
};

const std::vector<SolverEntry>& solvers();

// The names of the solvers that take this loss and penalty and, where one is demanded, an order of rows.
std::vector<std::string_view> supporting(const loss::Any& loss, const penalty::Separable& penalty,
                                         bool with_row_order = false);

// The solver of this name, or the one `auto` picks; an order of rows must be one that it takes. Throws a usage Error that says what
// is missing and who can do it.
const SolverEntry& choose(std::string_view name, const problem::Problem& problem, bool with_row_order = false);

}  // namespace fenchel::registry
