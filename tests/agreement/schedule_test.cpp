// run(): budget and timing of certificates, limits, interruption, statuses, and the same bits for the same seed.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/base/clock.hpp"
#include "fenchel/registry/solvers.hpp"
#include "fenchel/run/run.hpp"
#include "tests/support/promise.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

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

const registry::SolverEntry& solver(std::string_view name, const Medium& medium) {
  return registry::choose(name, *medium.problem);
}

// The passes of the solver alone at the first step whose own certificate meets the tolerance.
double first_crossing(const Medium& medium, const registry::SolverEntry& entry, const run::Options& options) {
  const auto solver = entry.make(*medium.problem, {}, {});
  const problem::Certifier certifier(*medium.problem);
  double passes = 0.0;
  while (passes < options.max_passes) {
    passes += solver->step();
    const problem::Candidate at = solver->candidate();
    const problem::PrimalPoint primal = certifier.primal_with_best_bias(at.w, at.b);
    const problem::DualPoint dual = at.alpha.empty() ? certifier.dual_of(primal) : certifier.dual(at.alpha);
    if (run::meets(certifier.pair(primal, dual), options)) break;
  }
  return passes;
}

// A few problems of middle size, easy and hard; calls visit(medium, solver, options, label).
template <class Visit>
void for_each_run(std::size_t n, Visit&& visit) {
  for (const loss::Any& loss : {loss::Any(loss::Logistic{}), loss::Any(loss::Hinge{}), loss::Any(loss::Squared{}),
                                loss::Any(loss::Huber{})}) {
    for (const auto& [penalty, lambda] : {std::pair<penalty::Any, double>(penalty::L2{}, 1e-2),
                                          {penalty::L2{}, 1e-4},
                                          {penalty::L1{}, 1e-2},
                                          {penalty::ElasticNet{0.5}, 1e-3}}) {
      for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
        const Medium medium(loss, penalty, lambda, bias, n);
        for (const double tolerance : {1e-3, 1e-6}) {
          for (const auto name : registry::supporting(loss, medium.problem->penalty)) {
            const std::string label = std::string(name) + " " + title(loss) + " lambda " + std::to_string(lambda) +
                                      " bias " + std::to_string(static_cast<int>(bias)) + " tol " +
                                      std::to_string(tolerance);
            visit(medium, solver(name, medium), promised(name, {.tolerance = tolerance, .max_passes = 3000}),
                  label);
          }
        }
      }
    }
  }
}

TEST(Schedule, CertificatesKeepToTheirBudget) {
  for_each_run(150, [](const Medium& medium, const registry::SolverEntry& entry, run::Options options,
                       const std::string& label) {
    options.max_passes = 300;
    const run::Result result = medium.run(entry, options);
    // The certificate that a limit asks for is the one exception.
    const double last = result.status == run::Status::optimal ? 0.0 : 2.0;
    EXPECT_LE(result.certificate_passes, std::fmax(2.0, 0.05 * result.passes) + last) << label;
  });
}

// How punctual the schedule is, by certifying every single step on the side.
TEST(ScheduleSlow, Overshoot) {
  int runs = 0, punctual = 0;
  std::string late;
  for_each_run(2000, [&](const Medium& medium, const registry::SolverEntry& entry, const run::Options& options,
                         const std::string& label) {
    const run::Result result = medium.run(entry, options);
    const double first = first_crossing(medium, entry, options);
    ++runs;
    if (result.passes <= 1.2 * first + 2) {
      ++punctual;
    } else {
      late += label + ": " + std::to_string(result.passes) + " instead of " + std::to_string(first) + "\n";
    }
  });
  std::cout << punctual << " of " << runs << " runs stop within 20 % + 2 passes of the first crossing\n" << late;
  EXPECT_GE(punctual, runs / 2);
}

TEST(Schedule, ReportedGapNeverGrows) {
  for (const std::string_view name : {"sdca", "fista"}) {
    const Medium medium(loss::Logistic{}, penalty::ElasticNet{0.5}, 1e-3, registry::Bias::free, 500, 5);
    std::vector<run::Progress> seen;
    run::Options options{.tolerance = 1e-8, .certify_often = true};
    options.observe = [&](const run::Progress& progress) { seen.push_back(progress); };
    const run::Result result = medium.run(solver(name, medium), options);
    ASSERT_GT(seen.size(), 3u);
    for (std::size_t k = 1; k < seen.size(); ++k) {
      EXPECT_LE(seen[k].certificate.gap, seen[k - 1].certificate.gap);
      EXPECT_GT(seen[k].passes, seen[k - 1].passes);
      EXPECT_GE(seen[k].seconds, seen[k - 1].seconds);
    }
    EXPECT_EQ(seen.back().certificate.gap, result.certificate.gap);
    EXPECT_EQ(result.status, run::Status::optimal);
  }
}

TEST(Schedule, LimitsEndTheRunWithATrueGap) {
  const Medium medium(loss::Hinge{}, penalty::L2{}, 1e-5, registry::Bias::free);
  const registry::SolverEntry& entry = solver("sdca", medium);
  for (const double passes : {0.0, 1.0, 7.0}) {
    const run::Result result = medium.run(entry, {.tolerance = 0.0, .max_passes = passes});
    EXPECT_EQ(result.status, run::Status::max_passes);
    EXPECT_TRUE(result.certificate.valid());
    EXPECT_LE(result.passes, passes + 4.0);
  }
  const Stopwatch clock;
  const run::Result late = medium.run(entry, {.tolerance = 0.0, .max_passes = 1e9, .time_limit = 0.1});
  EXPECT_EQ(late.status, run::Status::time_limit);
  EXPECT_TRUE(late.certificate.valid());
  EXPECT_LE(clock.seconds(), 5.0);  // generous: the machine may be busy, and sanitized

  std::atomic<bool> stop{true};
  const run::Result now = medium.run(entry, {.tolerance = 0.0, .interrupt = &stop});
  EXPECT_EQ(now.status, run::Status::interrupted);
  EXPECT_TRUE(now.certificate.valid());
  stop = false;
  int certificates = 0;
  run::Options options{.tolerance = 0.0, .certify_often = true, .interrupt = &stop};
  options.observe = [&](const run::Progress&) { stop = ++certificates == 3; };
  EXPECT_EQ(medium.run(entry, options).status, run::Status::interrupted);
  EXPECT_GE(certificates, 3);
}

TEST(Schedule, StallsWhereNoProgressIsPossible) {
  const Medium medium(loss::Squared{}, penalty::L2{}, 1e-1, registry::Bias::none, 100, 3);
  for (const std::string_view name : {"sdca", "fista"}) {
    const run::Result result = medium.run(solver(name, medium), {.tolerance = 0.0, .max_passes = 1e6});
    EXPECT_EQ(result.status, run::Status::stalled) << name;
    EXPECT_LE(result.certificate.gap, 1e-14) << name;
  }
}

TEST(Schedule, AnOptimumOfZeroIsReached) {
  for (const loss::Any& loss :
       {loss::Any(loss::EpsilonInsensitive{50.0}), loss::Any(loss::SquaredEpsilonInsensitive{50.0})}) {
    for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free, registry::Bias::regularized}) {
      const Medium medium(loss, penalty::L2{}, 0.1, bias, 100, 3);
      for (const auto name : registry::supporting(loss, medium.problem->penalty)) {
        const run::Result result = medium.run(solver(name, medium), promised(name, {.tolerance = 1e-4}));
        EXPECT_EQ(result.status, run::Status::optimal)
            << title(loss) << " " << name << " gap " << result.certificate.gap;
      }
    }
  }
}

// Unpenalised columns must not keep a smooth problem, whose minimiser exists, from its tolerance.
TEST(Schedule, UnpenalizedColumnsReachTheTolerance) {
  int runs = 0, reached = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const loss::Any& loss :
         {loss::Any(loss::SquaredHinge{}), loss::Any(loss::Logistic{}), loss::Any(loss::Squared{}),
          loss::Any(loss::Huber{}), loss::Any(loss::SmoothHinge{})}) {
      Case setup = random_setup(loss, 16, 3, Storage::dense64, seed);
      setup.settings.lambda = 0.1;
      setup.settings.bias = seed % 2 == 0 ? registry::Bias::free : registry::Bias::regularized;
      if (seed % 4 < 2) setup.settings.penalty = penalty::None{};
      if (seed % 4 >= 2) setup.factors = {0.0, 1.0, 0.0};
      const data::Dataset dataset = dataset_of(setup);
      const registry::Plan plan(dataset, setup.settings, {}, setup.factors);
      const problem::Problem problem = plan.problem(0);
      const auto fista = registry::choose("fista", problem).make(problem, {}, {.seed = 0});
      const run::Result result = run::run(problem, *fista, {.tolerance = 1e-6, .max_passes = 20000});
      ++runs;
      reached += result.status == run::Status::optimal ? 1 : 0;
    }
  }
  EXPECT_GE(reached, runs * 98 / 100) << "of " << runs;
}

// A dual vector with much slack may look better than the optimum; it must not displace one that is proved.
TEST(Schedule, LooksOfADualDoNotDisplaceProofs) {
  Case setup = random_setup(loss::SquaredHinge{}, 16, 3, Storage::csr32, 82);
  setup.settings.penalty = penalty::None{};
  setup.settings.lambda = 0.1;
  setup.settings.bias = registry::Bias::regularized;
  setup.settings.class_weight.by_label = {{3.0, 0.7}, {7.0, 2.0 / 3}};
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const problem::Problem problem = plan.problem(0);
  const auto fista = registry::choose("fista", problem).make(problem, {}, {.seed = 5});
  const run::Result result = run::run(problem, *fista, {.tolerance = 1e-7, .max_passes = 20000});
  const problem::Certifier certifier(problem);
  const problem::PrimalPoint primal = certifier.primal(result.w, result.b);
  const double own = certifier.pair(primal, certifier.dual_of(primal)).gap;
  EXPECT_EQ(result.status, run::Status::optimal)
      << "gap " << result.certificate.gap << ", its own duals prove " << own;
}

TEST(ScheduleParallel, SameSeedSameBits) {
  for (const std::string_view name : {"sdca", "fista"}) {
    for (const penalty::Any& penalty : {penalty::Any(penalty::L2{}), penalty::Any(penalty::ElasticNet{0.5})}) {
      const Medium medium(loss::Logistic{}, penalty, 1e-3, registry::Bias::free, 2 * 4096 + 100, 4);
      std::vector<run::Result> results;
      for (const std::size_t threads : {1, 2, 2}) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        results.push_back(medium.run(solver(name, medium), {.tolerance = 1e-4, .max_passes = 60}, 7));
      }
      for (const run::Result& other : results) {
        EXPECT_EQ(results[0].w, other.w);
        EXPECT_EQ(results[0].b, other.b);
        EXPECT_EQ(results[0].beta, other.beta);
        EXPECT_EQ(results[0].certificate.gap, other.certificate.gap);
        EXPECT_EQ(results[0].passes, other.passes);
      }
    }
  }
  const Medium medium(loss::Hinge{}, penalty::L2{}, 1e-3, registry::Bias::free, 300, 4);
  const run::Options few{.tolerance = 0.0, .max_passes = 5};
  EXPECT_NE(medium.run(solver("sdca", medium), few, 1).w, medium.run(solver("sdca", medium), few, 2).w);
}

}  // namespace
}  // namespace fenchel::test
