#include "fenchel/registry/fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/clock.hpp"
#include "fenchel/base/memory.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/neighbours.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/registry/multiclass_solvers.hpp"
#include "fenchel/registry/relay.hpp"
#include "fenchel/registry/solvers.hpp"
#include "fenchel/solver/folded_columns.hpp"
#include "fenchel/solver/merged_rows.hpp"

namespace fenchel::registry {
namespace {

// Of two statuses, the one that tells the user more about what is missing.
run::Status worse(run::Status a, run::Status b) {
  const auto rank = [](run::Status status) {
    switch (status) {
      case run::Status::optimal: return 0;
      case run::Status::stalled: return 1;
      case run::Status::max_passes: return 2;
      case run::Status::time_limit: return 3;
      case run::Status::interrupted: return 4;
    }
    return 0;
  };
  return rank(a) >= rank(b) ? a : b;
}

// Rows in random order from all over the file would make the disk read a page for each.
bool in_windows(const data::Matrix& matrix, const Settings& settings) {
  if (settings.row_order) return settings.row_order == solver::RowOrder::windows;
  return data::is_mapped(matrix) && data::bytes_of(matrix) > usable_memory();
}

solver::RowOrder row_order_for(const data::Matrix& matrix, const Settings& settings) {
  if (settings.row_order) return *settings.row_order;
  if (in_windows(matrix, settings)) return solver::RowOrder::windows;
  const bool permuted =
      settings.ascent.sampling.value_or(solver::Sampling::permutation) == solver::Sampling::permutation;
  const bool runs = permuted && solver::RowVisits::rows_in_run(matrix, solver::RowOrder::runs) > 1;
  return runs && !data::neighbours_are_alike(matrix) ? solver::RowOrder::runs : solver::RowOrder::shuffled;
}

// Not for solvers that go row by row: they visit a row of a large weight too rarely to gain by it. Not for data larger than
// memory either.
std::optional<solver::MergedRows> merged_rows_for(const Plan& plan, const SolverEntry& entry,
                                                  const risk::Sample& sample) {
  if (!plan.settings().merge_rows || takes(entry, solver::option::row_order)) return std::nullopt;
  const data::Matrix matrix = plan.dataset().matrix();
  if (in_windows(matrix, plan.settings())) return std::nullopt;
  return solver::MergedRows::where_it_pays(matrix, plan.dataset().targets, sample);
}

// For solvers that go row by row, and start from duals alone. Not for data that fill the memory: it takes a copy.
std::optional<solver::FoldedColumns> folded_columns_for(const problem::MulticlassProblem& problem,
                                                        const MulticlassSolverEntry& entry,
                                                        solver::RowOrder row_order) {
  if (entry.name != solver::MulticlassSdca::name || row_order == solver::RowOrder::windows) return std::nullopt;
  // The copy of float32 values takes half as much again as they do.
  if (data::bytes_of(problem.design.matrix) > usable_memory() / 4) return std::nullopt;
  return solver::FoldedColumns::where_it_pays(problem);
}

// Gives the numbers that lie row by row, one an output side by side, to a vector of each output.
void take_apart(std::span<const double> values, std::span<Output> outputs, std::vector<double> Output::*part) {
  const std::size_t rows = values.size() / outputs.size();
  parallel_for(outputs.size(), [&](std::size_t l) { (outputs[l].*part).resize(rows); });
  for_each_block(rows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t l = 0; l < outputs.size(); ++l) {
      std::vector<double>& column = outputs[l].*part;
      for (std::size_t i = begin; i < end; ++i) column[i] = values[i * outputs.size() + l];
    }
  });
}

// The points of all outputs as one; without duals where an output has none.
struct JointStart {
  std::vector<double> w, b, beta;

  explicit JointStart(std::span<const solver::Start> starts) {
    const std::size_t k = starts.size();
    for (std::size_t l = 0; l < k; ++l) {
      put(w, starts[l].w, l, k);
      put(beta, starts[l].alpha, l, k);
      b.push_back(starts[l].b);
    }
  }
  [[nodiscard]] solver::MulticlassStart view() const { return {.w = w, .b = b, .beta = beta}; }

 private:
  static void put(std::vector<double>& all, std::span<const double> values, std::size_t l, std::size_t k) {
    all.resize(values.size() * k);
    for (std::size_t i = 0; i < values.size(); ++i) all[i * k + l] = values[i];
  }
};

// Duals that another method got stuck at lead newton astray; its answer is no worse than these all the same.
bool starts_afresh(std::size_t turn, std::string_view solver) { return turn > 0 && solver == solver::Newton::name; }

// A point that a run ended with, as the next one takes it.
struct Reached {
  std::span<const double> w;
  double b;
  std::vector<double> alpha;

  [[nodiscard]] solver::Start view() const { return {.w = w, .b = b, .alpha = alpha}; }
};
struct JointlyReached {
  std::span<const double> w, b;
  std::vector<double> beta;

  [[nodiscard]] solver::MulticlassStart view() const { return {.w = w, .b = b, .beta = beta}; }
};

Fit fit_jointly(const Plan& plan, const run::Options& options, std::span<const solver::Start> start) {
  const Stopwatch clock;
  const problem::MulticlassProblem problem = plan.multiclass();
  const Settings& settings = plan.settings();
  const std::size_t k = problem.classes();
  Fit result;
  const MulticlassSolverEntry& chosen = choose(settings.solver, problem, demands(settings));
  const std::vector<Turn> turns =
      turns_of(chosen.name, settings, plan.penalty(), problem.rows(), problem.dimension());
  const auto attempt = [&](std::size_t turn, const solver::MulticlassStart& from, auto&& options_now) {
    const MulticlassSolverEntry& entry = choose(turns[turn].solver, problem, demands(settings));
    const bool by_rows = entry.name == solver::MulticlassSdca::name;
    const bool first_by_rows = entry.name == solver::StagedNewton::name;
    const solver::RowOrder row_order =
        by_rows || first_by_rows ? row_order_for(problem.design.matrix, settings) : solver::RowOrder::shuffled;
    result.solver = entry.name;
    result.row_order = by_rows ? std::optional(row_order) : std::nullopt;
    const solver::Conduct conduct{.seed = settings.seed,
                                  .rows = row_order,
                                  .ascent = settings.ascent.resolve(),
                                  .gradient = settings.gradient.resolve(options.max_passes)};
    const std::optional<solver::FoldedColumns> folded = folded_columns_for(problem, entry, row_order);
    const solver::MulticlassStart begin = starts_afresh(turn, entry.name) ? solver::MulticlassStart{} : from;
    const auto make = [&](const problem::MulticlassProblem& given) { return entry.make(given, begin, conduct); };
    const std::unique_ptr<solver::MulticlassSolver> solver =
        folded ? std::make_unique<solver::FoldedSolver>(*folded, make) : make(problem);
    return run::run(problem, *solver, options_now(), from);
  };
  const auto start_at = [&](const run::MulticlassResult& reached) {
    return JointlyReached{
        .w = reached.w, .b = reached.b, .beta = unweighted(reached.beta, plan.combined_weights())};
  };
  const JointStart begin(start);
  const run::MulticlassResult run =
      Relay<run::MulticlassResult>(turns, options).run(begin.view(), attempt, start_at);
  result.outputs.resize(k, {.w = {},
                            .b = 0.0,
                            .beta = {},
                            .certificate = run.certificate,
                            .bias_range = {},
                            .status = run.status,
                            .passes = run.passes});
  for (std::size_t l = 0; l < run.b.size(); ++l) result.outputs[l].b = run.b[l];
  take_apart(run.w, result.outputs, &Output::w);
  take_apart(run.beta, result.outputs, &Output::beta);
  result.status = run.status;
  add_passes(result, run);
  result.total = run.certificate;
  result.seconds = clock.seconds();
  return result;
}

// How one of the solvers goes about the outputs of a plan.
struct Method {
  const SolverEntry& entry;
  solver::Conduct conduct;
  std::optional<solver::MergedRows> merged;

  Method(const Plan& plan, const problem::Problem& first, std::string_view name, solver::Conduct given)
      : entry(choose(name, first, demands(plan.settings()), given)), conduct(given) {
    if (takes(entry, solver::option::row_order)) conduct.rows = row_order_for(first.design.matrix, plan.settings());
    // Equal rows have equal labels, and so equal targets in every output.
    merged = merged_rows_for(plan, entry, first.sample);
  }

  // From `begin`, to be no worse than `start`.
  template <class OptionsNow>
  [[nodiscard]] run::Result run(const problem::Problem& problem, const solver::Start& begin,
                                const solver::Start& start, OptionsNow&& options_now) const {
    const auto make = [&](const problem::Problem& given, const solver::Start& from) {
      return entry.make(given, from, conduct);
    };
    const std::unique_ptr<solver::Solver> solver =
        merged ? std::make_unique<solver::MergedSolver>(*merged, problem, begin, make) : make(problem, begin);
    return run::run(problem, *solver, options_now(), start);
  }
};

}  // namespace

problem::Certificate total_of(std::span<const Output> outputs, bool joint) {
  if (joint) return outputs.front().certificate;
  problem::Certificate total{.primal = 0.0, .dual = 0.0, .gap = 0.0, .rounding = 0.0};
  double magnitude = 0.0;  // of the duals, which may have either sign
  for (const Output& output : outputs) {
    total.primal += output.certificate.primal;
    total.dual += output.certificate.dual;
    magnitude += std::fabs(output.certificate.dual);
    total.gap += output.certificate.gap;
    total.rounding += output.certificate.rounding;
  }
  if (outputs.size() > 1) {  // the sums stay bounds
    const auto terms = static_cast<double>(outputs.size());
    total.gap = widen(total.gap, terms);
    total.dual -= 2 * gamma_bound(terms) * magnitude;
  }
  return total;
}

std::vector<double> unweighted(std::vector<double> beta, std::span<const double> weights) {
  if (weights.empty()) return beta;
  const std::size_t numbers = beta.size() / weights.size();  // of a row
  for (std::size_t e = 0; e < beta.size(); ++e) {
    const double c = weights[e / numbers];
    beta[e] = c > 0.0 ? beta[e] / c : 0.0;
  }
  return beta;
}

Fit fit(const Plan& plan, const run::Options& options, std::span<const solver::Start> start) {
  if (plan.joint()) return fit_jointly(plan, options, start);
  const Stopwatch clock;
  const Settings& settings = plan.settings();
  const problem::Problem first = plan.problem(0);  // outputs differ in their targets only
  check_conduct(settings, first.loss, first.penalty);
  const solver::Conduct conduct{
      .seed = settings.seed,
      .rows = in_windows(first.design.matrix, settings) ? solver::RowOrder::windows : solver::RowOrder::shuffled,
      .ascent = settings.ascent.resolve(),
      .batch = settings.batch.value_or(1),
      .gradient = settings.gradient.resolve(options.max_passes)};
  const std::string_view chosen = choose(settings.solver, first, demands(settings), conduct).name;
  const std::vector<Turn> turns = turns_of(chosen, settings, plan.penalty(), first.rows(), first.dimension());
  std::vector<std::unique_ptr<const Method>> methods;  // that had a turn so far
  const auto method_of = [&](std::string_view name) -> const Method& {
    const auto known = std::ranges::find(methods, name, [](const auto& method) { return method->entry.name; });
    if (known != methods.end()) return **known;
    return *methods.emplace_back(std::make_unique<Method>(plan, first, name, conduct));
  };
  Fit result;
  for (std::size_t k = 0; k < plan.outputs(); ++k) {
    const problem::Problem problem = plan.problem(k);
    const auto attempt = [&](std::size_t turn, const solver::Start& from, auto&& options_now) {
      const solver::Start begin = starts_afresh(turn, turns[turn].solver) ? solver::Start{} : from;
      return method_of(turns[turn].solver).run(problem, begin, from, options_now);
    };
    const auto start_at = [&](const run::Result& reached) {
      return Reached{.w = reached.w, .b = reached.b, .alpha = unweighted(reached.beta, plan.combined_weights())};
    };
    run::Options remaining = options;
    remaining.time_limit = options.time_limit - clock.seconds();
    if (options.observe) {
      remaining.observe = [&, k, before = clock.seconds()](run::Progress progress) {
        progress.seconds += before;
        progress.passes += result.passes;
        progress.output = k;
        progress.outputs = plan.outputs();
        options.observe(progress);
      };
    }
    const solver::Start begin = start.empty() ? solver::Start{} : start[k];
    run::Result run = Relay<run::Result>(turns, remaining).run(begin, attempt, start_at);
    result.outputs.push_back({.w = std::move(run.w),
                              .b = run.b,
                              .beta = std::move(run.beta),
                              .certificate = run.certificate,
                              .bias_range = run.bias_range,
                              .status = run.status,
                              .passes = run.passes});
    result.status = worse(result.status, run.status);
    add_passes(result, run);
  }
  const Method& last = *methods.back();
  result.solver = last.entry.name;
  if (takes(last.entry, solver::option::row_order)) result.row_order = last.conduct.rows;
  if (last.merged) result.distinct_rows = last.merged->rows();
  result.total = total_of(result.outputs);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace fenchel::registry
