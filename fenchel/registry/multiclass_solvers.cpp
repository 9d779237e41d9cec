#include "fenchel/registry/multiclass_solvers.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/memory.hpp"
#include "fenchel/registry/solvers.hpp"

namespace fenchel::registry {
namespace {

template <class... S>
std::vector<MulticlassSolverEntry> multiclass_entries(std::type_identity<std::tuple<S...>> /*list*/) {
  return {{.name = S::name,
           .takes = S::takes,
           .missing = [](const loss::AnyVector& loss,
                         const penalty::Separable& penalty) { return S::missing(loss, penalty); },
           .make = [](const problem::MulticlassProblem& problem, const solver::MulticlassStart& start,
                      solver::Conduct conduct) -> std::unique_ptr<solver::MulticlassSolver> {
             return std::make_unique<S>(problem, start, conduct);
           }}...};
}

const MulticlassSolverEntry* find_multiclass(std::string_view name) {
  const auto found = std::ranges::find(multiclass_solvers(), name, &MulticlassSolverEntry::name);
  return found == multiclass_solvers().end() ? nullptr : &*found;
}

// The first option that the solver has no use for.
std::optional<std::string_view> untaken(const MulticlassSolverEntry& entry,
                                        std::span<const std::string_view> demands) {
  const auto found = std::ranges::find_if(demands, [&](std::string_view option) {
    return std::ranges::find(entry.takes, option) == entry.takes.end();
  });
  return found == demands.end() ? std::nullopt : std::optional(*found);
}

// Whether a second-order method pays. Going row by row alone takes about kappa / n passes; newton begins like that, and its own passes
// hardly depend on kappa.
bool curvature_pays(const problem::MulticlassProblem& problem) {
  constexpr double bytes_kept = 8 * 11;  // by newton for a score, and about as many for a weight
  constexpr double most_bytes = 3e9;
  constexpr double passes_of_newton = 20.0;
  // Where most duals are 0, sweeps over the others are short, and newton's own steps many: it pays only where kappa / n is beyond what
  // scaled data have (usps 120, where both take as long; pendigits 6e4, where sdca comes nowhere), and where weights are so few that
  // the classes overlap: otherwise a multiple of sdca's weights is good early (mnist.t).
  constexpr std::size_t most_columns = 1000;
  constexpr double curvature_of_corners = 1000.0;
  constexpr double rows_a_weight = 4.0;
  const auto classes = static_cast<double>(problem.classes()), rows = static_cast<double>(problem.rows());
  const double weights = static_cast<double>(problem.dimension()) * classes;
  if (bytes_kept * (rows * classes + weights) > std::min(most_bytes, static_cast<double>(usable_memory()) / 4))
    return false;
  const double gamma = loss::smoothness(problem.loss, problem.classes());
  if (std::visit([](const auto& loss) { return loss.sparse_dual; }, problem.loss)) {
    if (problem.dimension() > most_columns || rows < rows_a_weight * weights) return false;
    return solver::mean_curvature(problem) > curvature_of_corners * std::max(1.0, classes * gamma);
  }
  return solver::mean_curvature(problem) > passes_of_newton * gamma;
}

std::string_view fastest_multiclass(const std::vector<std::string_view>& able,
                                    const problem::MulticlassProblem& problem) {
  const bool newton = std::ranges::find(able, solver::StagedNewton::name) != able.end();
  return newton && curvature_pays(problem) ? solver::StagedNewton::name : able.front();
}

[[noreturn]] void refuse_multiclass(std::string_view name, std::string_view lack,
                                    const problem::MulticlassProblem& problem) {
  const std::vector<std::string_view> able = supporting(problem.loss, problem.penalty);
  throw Error(Fault::usage, fmt::format("--solver {} needs {}; {}{}", name, lack,
                                        able.empty() ? "no solver of this version takes this loss with this penalty"
                                                     : "this problem is solved by: ",
                                        fmt::join(able, ", ")));
}

[[noreturn]] void refuse_multiclass_option(std::string_view option, std::string_view solver) {
  std::vector<std::string_view> names;
  for (const MulticlassSolverEntry& entry : multiclass_solvers()) {
    if (!untaken(entry, std::span(&option, 1))) names.push_back(entry.name);
  }
  if (names.empty()) throw Error(Fault::usage, fmt::format("{} is not for losses of all classes at once", option));
  throw Error(Fault::usage, fmt::format("{} is for {}, not for {}", option, fmt::join(names, ", "), solver));
}

}  // namespace

const std::vector<MulticlassSolverEntry>& multiclass_solvers() {
  static const std::vector<MulticlassSolverEntry> all = multiclass_entries(std::type_identity<MulticlassSolvers>{});
  return all;
}

std::optional<std::string_view> missing(std::string_view solver, const loss::Chosen& loss,
                                        const penalty::Regularizer& penalty) {
  if (const auto vector = loss.vector()) {
    const MulticlassSolverEntry* const entry = find_multiclass(solver);
    if (entry == nullptr) return "a loss of one score";
    return penalty.constraint() ? "a penalty in place of a constraint" : entry->missing(*vector, penalty);
  }
  const auto found = std::ranges::find(solvers(), solver, &SolverEntry::name);
  return found == solvers().end() ? "a loss of all scores" : found->missing(*loss.scalar(), penalty);
}

std::vector<std::string_view> supporting(const loss::Chosen& loss, const penalty::Regularizer& penalty,
                                         std::span<const std::string_view> demands) {
  if (const auto scalar = loss.scalar()) return supporting(*scalar, penalty, demands);
  std::vector<std::string_view> names;
  if (penalty.constraint()) return names;
  for (const MulticlassSolverEntry& entry : multiclass_solvers()) {
    if (!untaken(entry, demands) && !entry.missing(*loss.vector(), penalty)) names.push_back(entry.name);
  }
  return names;
}

const MulticlassSolverEntry& choose(std::string_view name, const problem::MulticlassProblem& problem,
                                    std::span<const std::string_view> demands) {
  const MulticlassSolverEntry* entry = find_multiclass(name);
  if (name == "auto") {
    std::vector<std::string_view> able = supporting(problem.loss, problem.penalty, demands);
    if (able.empty()) able = supporting(problem.loss, problem.penalty);
    if (able.empty()) refuse_multiclass(name, "a penalty on every feature", problem);
    entry = find_multiclass(fastest_multiclass(able, problem));
  } else if (const auto lack = missing(name, problem.loss, problem.penalty)) {
    refuse_multiclass(name, *lack, problem);
  }
  const bool smoothed = std::ranges::find(demands, solver::option::smoothing) != demands.end();
  if (smoothed && loss::smoothness(problem.loss, 2) > 0.0) {
    throw Error(Fault::usage, fmt::format("{} is for losses that are not smooth: of those of all classes at once, "
                                          "only multiclass-hinge is not",
                                          solver::option::smoothing));
  }
  if (const auto option = untaken(*entry, demands)) refuse_multiclass_option(*option, entry->name);
  return *entry;
}

}  // namespace fenchel::registry
