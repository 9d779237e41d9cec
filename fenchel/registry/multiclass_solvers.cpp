#include "fenchel/registry/multiclass_solvers.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fenchel/base/error.hpp"
#include "fenchel/registry/solvers.hpp"

namespace fenchel::registry {
namespace {

template <class... S>
std::vector<MulticlassSolverEntry> multiclass_entries(std::type_identity<std::tuple<S...>> /*list*/) {
  return {{.name = S::name,
           .missing = &S::missing,
           .make = [](const problem::MulticlassProblem& problem, const solver::MulticlassStart& start,
                      solver::Chance chance) -> std::unique_ptr<solver::MulticlassSolver> {
             return std::make_unique<S>(problem, start, chance);
           }}...};
}

const MulticlassSolverEntry* find_multiclass(std::string_view name) {
  const auto found = std::ranges::find(multiclass_solvers(), name, &MulticlassSolverEntry::name);
  return found == multiclass_solvers().end() ? nullptr : &*found;
}

[[noreturn]] void refuse_multiclass(std::string_view name, std::string_view lack,
                                    const problem::MulticlassProblem& problem) {
  const std::vector<std::string_view> able = supporting(problem.loss, problem.penalty);
  throw Error(Fault::usage, fmt::format("--solver {} needs {}; {}{}", name, lack,
                                        able.empty() ? "no solver of this version takes this loss with this penalty"
                                                     : "this problem is solved by: ",
                                        fmt::join(able, ", ")));
}

}  // namespace

const std::vector<MulticlassSolverEntry>& multiclass_solvers() {
  static const std::vector<MulticlassSolverEntry> all = multiclass_entries(std::type_identity<MulticlassSolvers>{});
  return all;
}

std::optional<std::string_view> missing(std::string_view solver, const loss::Chosen& loss,
                                        const penalty::Separable& penalty) {
  if (const auto vector = loss.vector()) {
    const MulticlassSolverEntry* const entry = find_multiclass(solver);
    return entry == nullptr ? "a loss of one score" : entry->missing(*vector, penalty);
  }
  const auto found = std::ranges::find(solvers(), solver, &SolverEntry::name);
  return found == solvers().end() ? "a loss of all scores" : found->missing(*loss.scalar(), penalty);
}

std::vector<std::string_view> supporting(const loss::Chosen& loss, const penalty::Separable& penalty) {
  if (const auto scalar = loss.scalar()) return supporting(*scalar, penalty);
  std::vector<std::string_view> names;
  for (const MulticlassSolverEntry& entry : multiclass_solvers()) {
    if (!entry.missing(*loss.vector(), penalty)) names.push_back(entry.name);
  }
  return names;
}

const MulticlassSolverEntry& choose(std::string_view name, const problem::MulticlassProblem& problem) {
  if (name == "auto") {
    const std::vector<std::string_view> able = supporting(problem.loss, problem.penalty);
    if (able.empty()) refuse_multiclass(name, "a penalty that is strongly convex in every feature", problem);
    return *find_multiclass(able.front());
  }
  const MulticlassSolverEntry* const entry = find_multiclass(name);
  const auto lack = missing(name, problem.loss, problem.penalty);
  if (lack) refuse_multiclass(name, *lack, problem);
  return *entry;
}

}  // namespace fenchel::registry
