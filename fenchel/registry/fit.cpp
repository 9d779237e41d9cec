#include "fenchel/registry/fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/clock.hpp"
#include "fenchel/base/memory.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/registry/solvers.hpp"

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
solver::RowOrder row_order_for(const data::Matrix& matrix, const Settings& settings) {
  if (settings.row_order) return *settings.row_order;
  const bool too_large = data::is_mapped(matrix) && data::bytes_of(matrix) > usable_memory();
  return too_large ? solver::RowOrder::windows : solver::RowOrder::shuffled;
}

}  // namespace

problem::Certificate total_of(std::span<const Output> outputs) {
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

Fit fit(const Plan& plan, const run::Options& options, std::span<const solver::Start> start) {
  const Stopwatch clock;
  const Settings& settings = plan.settings();
  const std::vector<std::string_view> demanded = demands(settings);
  Fit result;
  for (std::size_t k = 0; k < plan.outputs(); ++k) {
    const problem::Problem problem = plan.problem(k);
    const solver::RowOrder row_order = row_order_for(problem.design.matrix, settings);
    check_conduct(settings.ascent, problem.loss, problem.penalty);
    const SolverEntry& entry = choose(settings.solver, problem, demanded);
    const std::unique_ptr<solver::Solver> solver =
        entry.make(problem, start.empty() ? solver::Start{} : start[k],
                   {.seed = settings.seed, .rows = row_order, .ascent = settings.ascent.resolve()});
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
    run::Result run = run::run(problem, *solver, remaining);
    result.outputs.push_back({.w = std::move(run.w),
                              .b = run.b,
                              .beta = std::move(run.beta),
                              .certificate = run.certificate,
                              .bias_range = run.bias_range,
                              .status = run.status,
                              .passes = run.passes});
    result.solver = entry.name;
    if (!entry.takes.empty()) result.row_order = row_order;
    result.status = worse(result.status, run.status);
    result.passes += run.passes;
    result.certificate_passes += run.certificate_passes;
    result.certificate_seconds += run.certificate_seconds;
  }
  result.total = total_of(result.outputs);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace fenchel::registry
