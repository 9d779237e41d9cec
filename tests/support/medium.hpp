// Random problems of middle size, each with a run of a solver on it.
#pragma once

#include <optional>
#include <string_view>

#include "fenchel/registry/solvers.hpp"
#include "fenchel/run/run.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {

struct Medium {
  Medium(const loss::Any& loss, const penalty::Any& penalty, double lambda, registry::Bias bias,
         std::size_t n = 2000, std::size_t d = 20)
      : setup(random_setup(loss, n, d, Storage::csr64, 31)) {
    setup.settings.penalty = penalty;
    setup.settings.lambda = lambda;
    setup.settings.bias = bias;
    dataset = dataset_of(setup);
    plan.emplace(dataset, setup.settings);
    problem.emplace(plan->problem(0));
  }
  [[nodiscard]] run::Result run(const registry::SolverEntry& entry, const run::Options& options,
                                std::uint64_t seed = 0) const {
    const auto solver = entry.make(*problem, {}, {.seed = seed});
    return run::run(*problem, *solver, options);
  }

  Case setup;
  data::Dataset dataset;
  std::optional<registry::Plan> plan;
  std::optional<problem::Problem> problem;
};

inline const registry::SolverEntry& solver(std::string_view name, const Medium& medium) {
  return registry::choose(name, *medium.problem);
}

}  // namespace fenchel::test
