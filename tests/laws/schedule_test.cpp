// run(): limits, interruption, statuses, and the same bits for the same seed.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/base/clock.hpp"
#include "fenchel/run/schedule.hpp"
#include "tests/support/medium.hpp"
#include "tests/support/promise.hpp"

namespace fenchel::test {
namespace {

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

// Until the first verdict a guess far below the target needs no look; one that says nothing of its certainty always does.
TEST(Schedule, GuessesAreCertainOnlyBeforeTheFirstVerdict) {
  const run::Options options{.tolerance = 1e-3};
  run::Schedule schedule(options);
  const solver::Estimate likely{.gap = 5e-4, .primal = 1.0, .scatter = 1.3, .certain = 3.0};
  const solver::Estimate certain{.gap = 3e-4, .primal = 1.0, .scatter = 1.3, .certain = 3.0};
  const solver::Estimate silent{.gap = 1e-9, .primal = 1.0};
  EXPECT_TRUE(schedule.due(10.0, likely));
  EXPECT_FALSE(schedule.certain(likely));
  EXPECT_TRUE(schedule.certain(certain));
  EXPECT_FALSE(schedule.certain(silent));
  schedule.certified(10.0, 2.0, 3e-4, 2e-3);
  EXPECT_FALSE(schedule.certain(certain));
  EXPECT_FALSE(schedule.due(20.0, certain));  // nothing is left of the budget
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

void expect_same_bits(const Medium& medium, std::string_view name, const run::Options& options) {
  std::vector<run::Result> results;
  for (const std::size_t threads : {1, 2, 2}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    results.push_back(medium.run(solver(name, medium), options, 7));
  }
  for (const run::Result& other : results) {
    EXPECT_EQ(results[0].w, other.w);
    EXPECT_EQ(results[0].b, other.b);
    EXPECT_EQ(results[0].beta, other.beta);
    EXPECT_EQ(results[0].certificate.gap, other.certificate.gap);
    EXPECT_EQ(results[0].passes, other.passes);
  }
}

TEST(ScheduleParallel, SameSeedSameBits) {
  constexpr std::size_t rows = 2 * 4096 + 100;
  for (const std::string_view name : {"sdca", "fista"}) {
    for (const penalty::Any& penalty : {penalty::Any(penalty::L2{}), penalty::Any(penalty::ElasticNet{0.5})}) {
      const Medium medium(loss::Logistic{}, penalty, 1e-3, registry::Bias::free, rows, 4);
      expect_same_bits(medium, name, {.tolerance = 1e-4, .max_passes = 60});
    }
  }
  // Long enough for an average of weights to be offered, in two blocks.
  const Medium cornered(loss::Hinge{}, penalty::L2{}, 1e-4, registry::Bias::none, rows, 20);
  expect_same_bits(cornered, "sdca", {.tolerance = 0.0, .max_passes = 25});
  const Medium medium(loss::Hinge{}, penalty::L2{}, 1e-3, registry::Bias::free, 300, 4);
  const run::Options few{.tolerance = 0.0, .max_passes = 5};
  EXPECT_NE(medium.run(solver("sdca", medium), few, 1).w, medium.run(solver("sdca", medium), few, 2).w);
}

}  // namespace
}  // namespace fenchel::test
