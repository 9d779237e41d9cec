// The list of solvers: a new one is one more pair of files and one more entry here. What each supports is computed
// from what it says is missing; refusals and the printed table come from the same source.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fenchel/problem/problem.hpp"
#include "fenchel/registry/settings.hpp"
#include "fenchel/solver/accelerated_sdca.hpp"
#include "fenchel/solver/agm.hpp"
#include "fenchel/solver/bmrm.hpp"
#include "fenchel/solver/bmrm_ls.hpp"
#include "fenchel/solver/fista.hpp"
#include "fenchel/solver/interior_point.hpp"
#include "fenchel/solver/newton.hpp"
#include "fenchel/solver/pdhg.hpp"
#include "fenchel/solver/pegasos.hpp"
#include "fenchel/solver/pragam.hpp"
#include "fenchel/solver/sdca.hpp"

namespace fenchel::registry {

using Solvers = std::tuple<solver::Sdca, solver::AcceleratedSdca, solver::Fista, solver::Newton, solver::Pdhg,
                           solver::InteriorPoint, solver::AgmInf, solver::Agm1, solver::Pragam, solver::Bmrm,
                           solver::BmrmLs, solver::Pegasos>;

struct SolverEntry {
  std::string_view name;
  std::string_view summary;
  std::span<const std::string_view> takes;  // options about its conduct
  std::optional<std::string_view> (*missing)(const loss::Any&, const penalty::Regularizer&);
  std::unique_ptr<solver::Solver> (*make)(const problem::Problem&, const solver::Start&, solver::Conduct);
};

const std::vector<SolverEntry>& solvers();

bool takes(const SolverEntry& entry, std::string_view option);

// The options about a solver's conduct that the settings use: the solver must take them.
std::vector<std::string_view> demands(const Settings& settings);

// The names of the solvers that take this loss and penalty and all of these options.
std::vector<std::string_view> supporting(const loss::Any& loss, const penalty::Regularizer& penalty,
                                         std::span<const std::string_view> demands = {});

// The solver of this name, or the one `auto` picks. Throws a usage Error that says what is missing and who can do it.
const SolverEntry& choose(std::string_view name, const problem::Problem& problem,
                          std::span<const std::string_view> demands = {}, const solver::Conduct& conduct = {});

// Throws a usage Error where choices contradict the problem, whoever solves it.
void check_conduct(const Settings& settings, const loss::Any& loss, const penalty::Separable& penalty);

}  // namespace fenchel::registry
