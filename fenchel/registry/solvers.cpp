#include "fenchel/registry/solvers.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"

namespace fenchel::registry {
namespace {

template <class S>
SolverEntry entry_of() {
  return {.name = S::name,
          .summary = S::summary,
          .missing = &S::missing,
          .make = [](const problem::Problem& problem, const solver::Start& start, solver::Chance chance)
              -> std::unique_ptr<solver::Solver> { return std::make_unique<S>(problem, start, chance); }};
}

template <class... S>
std::vector<SolverEntry> entries_of(std::type_identity<std::tuple<S...>> /*list*/) {
  return {entry_of<S>()...};
}

const SolverEntry& find(std::string_view name) {
  for (const SolverEntry& entry : solvers()) {
    if (entry.name == name) return entry;
  }
  throw Error(Fault::usage, fmt::format("there is no solver {}; `fenchel solvers` lists them", name));
}

// Passes up to a factor of log(1/tolerance): SDCA needs 1 + kappa/n, an accelerated gradient 2 sqrt(kappa), with
// kappa = (mean ||x||^2) / (gamma lambda). With fewer rows than columns SDCA does far better than its bound.
bool gradient_is_cheaper(const problem::Problem& problem) {
  if (problem.rows() < problem.dimension()) return false;
  const double gamma = loss::smoothness(problem.loss);
  const std::vector<double> norms = data::LinearMap(problem.design).row_square_norms({});
  double mean = 0.0;
  for (const double norm : norms) mean += norm / static_cast<double>(norms.size());
  const double kappa = mean / (gamma * problem.penalty.strong_convexity());
  return 2 * std::sqrt(kappa) < 1 + kappa / static_cast<double>(norms.size());
}

// A matrix of so few columns is formed and factorised in the time of a few passes, and a second-order method needs few
// steps whatever the accuracy.
bool few_columns(const problem::Problem& problem) {
  constexpr std::size_t most_columns = 1000;
  return problem.dimension() <= most_columns && problem.rows() >= 10 * problem.dimension();
}

std::string join(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

[[noreturn]] void refuse(std::string_view name, std::string_view missing, const problem::Problem& problem) {
  const std::vector<std::string_view> able = supporting(problem.loss, problem.penalty);
  const std::string others = able.empty() ? "no solver of this version takes this loss with this penalty"
                                          : "this problem is solved by: " + join(able);
  throw Error(Fault::usage, fmt::format("--solver {} needs {}; {}", name, missing, others));
}

}  // namespace

const std::vector<SolverEntry>& solvers() {
  static const std::vector<SolverEntry> all = entries_of(std::type_identity<Solvers>{});
  return all;
}

std::vector<std::string_view> supporting(const loss::Any& loss, const penalty::Separable& penalty) {
  std::vector<std::string_view> names;
  for (const SolverEntry& entry : solvers()) {
    if (!entry.missing(loss, penalty)) names.push_back(entry.name);
  }
  return names;
}

const SolverEntry& choose(std::string_view name, const problem::Problem& problem) {
  if (name != "auto") {
    const SolverEntry& entry = find(name);
    if (const auto missing = entry.missing(problem.loss, problem.penalty)) refuse(name, *missing, problem);
    return entry;
  }
  const std::vector<std::string_view> able = supporting(problem.loss, problem.penalty);
  if (able.empty()) refuse("auto", "a smooth loss or a strongly convex penalty", problem);
  if (able.size() == 1) return find(able.front());
  const bool newton = std::find(able.begin(), able.end(), solver::Newton::name) != able.end();
  if (newton && few_columns(problem)) return find(solver::Newton::name);
  const bool fista = std::find(able.begin(), able.end(), solver::Fista::name) != able.end();
  return find(fista && gradient_is_cheaper(problem) ? solver::Fista::name : solver::Sdca::name);
}

}  // namespace fenchel::registry
