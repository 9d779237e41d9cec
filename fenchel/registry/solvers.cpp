#include "fenchel/registry/solvers.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/solver/metric.hpp"

namespace fenchel::registry {
namespace {

// A solver that knows constraints says so.
template <class S>
std::optional<std::string_view> missing_of(const loss::Any& loss, const penalty::Regularizer& penalty) {
  if constexpr (!requires { S::constrains; }) {
    if (penalty.constraint()) return "a penalty that is a sum over the features, which a constraint is not";
  }
  return S::missing(loss, penalty);
}

template <class S>
SolverEntry entry_of() {
  return {.name = S::name,
          .summary = S::summary,
          .takes = S::takes,
          .missing = &missing_of<S>,
          .make = [](const problem::Problem& problem, const solver::Start& start, solver::Conduct conduct)
              -> std::unique_ptr<solver::Solver> { return std::make_unique<S>(problem, start, conduct); }};
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
  if (!(problem.penalty.strong_convexity() > 0.0)) {
    // Neither has a rate. Rows of sparse data have little in common, which is what going row by row is good at.
    const double entries = static_cast<double>(problem.rows()) * static_cast<double>(problem.dimension());
    const bool sparse = static_cast<double>(data::nonzeros(problem.design.matrix)) < 0.25 * entries;
    return !sparse || !problem.penalty.uniform();
  }
  if (problem.rows() < problem.dimension()) return false;
  const double kappa =
      solver::mean_square_norm(problem, {}) / (loss::smoothness(problem.loss) * problem.penalty.strong_convexity());
  return 2 * std::sqrt(kappa) < 1 + kappa / static_cast<double>(problem.rows());
}

// A matrix of so few columns is formed and factorised in the time of a few passes, and a second-order method needs few
// steps whatever the accuracy.
bool few_columns(const problem::Problem& problem) {
  constexpr std::size_t most_columns = 1000;
  return problem.dimension() <= most_columns && problem.rows() >= 10 * problem.dimension();
}

// The share of the rows whose dual variable has to move at all: where one class is rare, most of the other sit at an end from the start.
double share_that_moves(const problem::Problem& problem) {
  if (loss::task(problem.loss) != loss::Task::classification) return 1.0;
  double positive = 0.0;
  for (std::size_t i = 0; i < problem.rows(); ++i) {
    if (problem.sample.targets[i] > 0.0) positive += problem.sample.weight(i) / problem.sample.weight_sum;
  }
  return 2.0 * std::min(positive, 1.0 - positive);
}

// Losses with corners take newton more steps. Where rows alone move their margins by little more than the corner is wide, going row by
// row ends after a dozen passes, unless rows repeat one another, as very many in few columns do (kddcup99-10pct, hinge, 4187 a
// column: four times as long as newton). With ||x||^2 / (lambda n), the change of z for a change of alpha from 0 to 1, times the share
// that moves at 0.07 to 0.7 it took 0.4 to 0.9 of newton's time to 1e-3 and 0.4 to 1.3 to 1e-5 (a9a, w8a, letter.scale, usps), from
// 1.5 on mostly more than all of it (a9a, svmguide3, german.numer, splice), but for few rows a column (usps, dna with 28 and 18: half).
bool rows_settle_soon(const problem::Problem& problem) {
  constexpr std::size_t most_rows_a_column = 1000, few_rows_a_column = 32;
  constexpr double short_way = 1.0;
  const double lambda = problem.penalty.strong_convexity();
  if (loss::smoothness(problem.loss) > 0.0 || !(lambda > 0.0)) return false;
  if (problem.rows() > most_rows_a_column * problem.dimension()) return false;
  if (problem.rows() < few_rows_a_column * problem.dimension()) return true;
  const double way = solver::mean_square_norm(problem, {}) / (lambda * static_cast<double>(problem.rows()));
  return way * share_that_moves(problem) <= short_way;
}

// Out of several that are able.
std::string_view fastest(const std::vector<std::string_view>& able, const problem::Problem& problem,
                         const solver::Conduct& conduct) {
  const auto is_able = [&](std::string_view name) {
    return std::find(able.begin(), able.end(), name) != able.end();
  };
  const bool newton = is_able(solver::Newton::name);
  if (problem.penalty.constraint()) {
    if (is_able(solver::Fista::name)) return solver::Fista::name;
    return is_able(solver::Pdhg::name) ? solver::Pdhg::name : solver::Agm1::name;  // options asked for it
  }
  // Linear programs: a loss with corners and a penalty without a squared part.
  if (is_able(solver::InteriorPoint::name) && solver::InteriorPoint::pays(problem))
    return solver::InteriorPoint::name;
  if (is_able(solver::Pdhg::name) && !is_able(solver::Sdca::name)) return solver::Pdhg::name;
  if (newton && few_columns(problem) && !(is_able(solver::Sdca::name) && rows_settle_soon(problem))) {
    return solver::Newton::name;
  }
  if (is_able(solver::Fista::name) && gradient_is_cheaper(problem)) {
    return newton ? solver::Newton::name : solver::Fista::name;
  }
  if (!is_able(solver::Sdca::name) && !is_able(solver::AcceleratedSdca::name)) {
    return is_able(solver::Agm1::name) ? solver::Agm1::name : able.front();  // options asked for it
  }
  const bool accelerate = is_able(solver::AcceleratedSdca::name) && solver::AcceleratedSdca::pays(problem, conduct);
  if (accelerate || !is_able(solver::Sdca::name)) return solver::AcceleratedSdca::name;
  return solver::Sdca::name;
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

[[noreturn]] void refuse_option(std::string_view option, std::string_view reason) {
  std::vector<std::string_view> names;
  for (const SolverEntry& entry : solvers()) {
    if (takes(entry, option)) names.push_back(entry.name);
  }
  throw Error(Fault::usage, fmt::format("{} is for {}, {}", option, join(names), reason));
}

// The first of these that solves the problem at all decides what is said.
[[noreturn]] void refuse_demands(std::span<const std::string_view> demands, const problem::Problem& problem) {
  for (const std::string_view option : demands) {
    if (supporting(problem.loss, problem.penalty, std::span(&option, 1)).empty()) {
      refuse_option(option, "none of which takes this loss with this penalty");
    }
  }
  throw Error(Fault::usage, fmt::format("no solver takes all of {}", join({demands.begin(), demands.end()})));
}

void check_space(const Settings& settings, const loss::Any& loss, const penalty::Separable& penalty) {
  const solver::Space space = settings.gradient.space.value_or(solver::Space::primal);
  if (space == solver::Space::primal) return;
  const bool smoothing = settings.ascent.smoothing.has_value();
  if (!(penalty.strong_convexity() > 0.0)) {
    throw Error(Fault::usage,
                "--agm-space dual and dual-smooth need a penalty that is strongly convex in every feature: choose "
                "--agm-space primal");
  }
  if (space == solver::Space::dual && smoothing) {
    throw Error(Fault::usage, "--agm-space dual is without smoothing: choose dual-smooth or leave out --smoothing");
  }
  if (space == solver::Space::dual_smooth && !smoothing && loss::smoothness(loss) > 0.0) {
    throw Error(Fault::usage, fmt::format("--agm-space dual-smooth is for losses that are not smooth, which {} is: "
                                          "choose --agm-space dual",
                                          loss::name(loss)));
  }
}

void check_smoothing_weights(const Settings& settings, const loss::Any& loss) {
  if (!settings.gradient.weights) return;
  if (loss::smoothness(loss) > 0.0) {
    throw Error(Fault::usage, fmt::format("{} is for losses that are not smooth, which {} is",
                                          solver::option::smoothing_weights, loss::name(loss)));
  }
  if (settings.gradient.space == solver::Space::dual) {
    throw Error(Fault::usage,
                fmt::format("--agm-space dual is without smoothing: choose dual-smooth or leave out {}",
                            solver::option::smoothing_weights));
  }
}

}  // namespace

bool takes(const SolverEntry& entry, std::string_view option) {
  return std::find(entry.takes.begin(), entry.takes.end(), option) != entry.takes.end();
}

const std::vector<SolverEntry>& solvers() {
  static const std::vector<SolverEntry> all = entries_of(std::type_identity<Solvers>{});
  return all;
}

std::vector<std::string_view> demands(const Settings& settings) {
  namespace option = solver::option;
  std::vector<std::string_view> used;
  const auto note = [&](bool is_used, std::string_view name) {
    if (is_used) used.push_back(name);
  };
  note(settings.row_order.has_value(), option::row_order);
  note(settings.ascent.step.has_value(), option::step);
  note(settings.ascent.sampling.has_value(), option::sampling);
  note(settings.ascent.iterate.has_value(), option::iterate);
  note(settings.ascent.smoothing.has_value(), option::smoothing);
  note(settings.ascent.momentum.has_value(), option::momentum);
  note(settings.ascent.theory.has_value(), option::acceleration);
  note(settings.ascent.blocks.has_value(), option::blocks);
  note(settings.batch.has_value(), option::batch);
  note(settings.gradient.space.has_value(), option::space);
  note(settings.gradient.curvature.has_value(), option::curvature);
  note(settings.gradient.weights.has_value(), option::smoothing_weights);
  return used;
}

std::vector<std::string_view> supporting(const loss::Any& loss, const penalty::Regularizer& penalty,
                                         std::span<const std::string_view> demands) {
  std::vector<std::string_view> names;
  for (const SolverEntry& entry : solvers()) {
    const bool able =
        std::all_of(demands.begin(), demands.end(), [&](std::string_view option) { return takes(entry, option); });
    if (able && !entry.missing(loss, penalty)) names.push_back(entry.name);
  }
  return names;
}

const SolverEntry& choose(std::string_view name, const problem::Problem& problem,
                          std::span<const std::string_view> demands, const solver::Conduct& conduct) {
  if (name != "auto") {
    const SolverEntry& entry = find(name);
    if (const auto missing = entry.missing(problem.loss, problem.penalty)) refuse(name, *missing, problem);
    for (const std::string_view option : demands) {
      if (!takes(entry, option)) refuse_option(option, fmt::format("not for {}", name));
    }
    return entry;
  }
  if (supporting(problem.loss, problem.penalty).empty()) {
    refuse("auto", "a smooth loss or a strongly convex penalty", problem);
  }
  const std::vector<std::string_view> able = supporting(problem.loss, problem.penalty, demands);
  if (able.empty()) refuse_demands(demands, problem);
  return find(able.size() == 1 ? able.front() : fastest(able, problem, conduct));
}

void check_conduct(const Settings& settings, const loss::Any& loss, const penalty::Separable& penalty) {
  const AscentSettings& ascent = settings.ascent;
  if (settings.row_order.value_or(solver::RowOrder::shuffled) != solver::RowOrder::shuffled &&
      ascent.sampling.value_or(solver::Sampling::permutation) != solver::Sampling::permutation) {
    throw Error(Fault::usage,
                "--row-order windows and runs need --sampling permutation: independent draws go everywhere");
  }
  const bool smoothed = loss::smoothness(loss) > 0.0 || ascent.smoothing.value_or(0.0) > 0.0;
  if (ascent.step == kernel::StepOption::constant && !smoothed) {
    throw Error(Fault::usage, fmt::format("--sdca-option 5 needs a smooth loss, which {} is not: choose another "
                                          "option or give --smoothing",
                                          loss::name(loss)));
  }
  if (ascent.theory.value_or(false) && !(penalty.strong_convexity() > 0.0)) {
    throw Error(Fault::usage,
                "--acceleration theory needs a penalty that is strongly convex in every feature: choose "
                "--acceleration practical");
  }
  check_space(settings, loss, penalty);
  check_smoothing_weights(settings, loss);
}

}  // namespace fenchel::registry
