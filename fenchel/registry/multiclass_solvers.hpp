// The list of solvers for multiclass losses, in the manner of solvers.hpp; a method may have an entry in both lists, under
// one name.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "fenchel/penalty/regularizer.hpp"
#include "fenchel/problem/multiclass.hpp"
#include "fenchel/solver/agm.hpp"
#include "fenchel/solver/bmrm.hpp"
#include "fenchel/solver/bmrm_ls.hpp"
#include "fenchel/solver/fista.hpp"
#include "fenchel/solver/multiclass_sdca.hpp"
#include "fenchel/solver/staged_newton.hpp"

namespace fenchel::registry {

// `auto` takes the first that is able, or newton where it is faster.
using MulticlassSolvers =
    std::tuple<solver::MulticlassSdca, solver::StagedNewton, solver::MulticlassFista, solver::MulticlassAgm1,
               solver::MulticlassAgmInf, solver::MulticlassBmrm, solver::MulticlassBmrmLs>;

struct MulticlassSolverEntry {
  std::string_view name;
  std::span<const std::string_view> takes;  // options about its conduct
  std::optional<std::string_view> (*missing)(const loss::AnyVector&, const penalty::Separable&);
  std::unique_ptr<solver::MulticlassSolver> (*make)(const problem::MulticlassProblem&,
                                                    const solver::MulticlassStart&, solver::Conduct);
};

const std::vector<MulticlassSolverEntry>& multiclass_solvers();

// What the solver of this name lacks for a loss of either kind and a penalty, or nothing.
std::optional<std::string_view> missing(std::string_view solver, const loss::Chosen& loss,
                                        const penalty::Regularizer& penalty);

// The names of the solvers that take this loss and penalty and all of these options.
std::vector<std::string_view> supporting(const loss::Chosen& loss, const penalty::Regularizer& penalty,
                                         std::span<const std::string_view> demands = {});

// As in solvers.hpp.
const MulticlassSolverEntry& choose(std::string_view name, const problem::MulticlassProblem& problem,
                                    std::span<const std::string_view> demands = {});

}  // namespace fenchel::registry
