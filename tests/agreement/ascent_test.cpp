// The choices of dual coordinate ascent: all of them solve the same problem, certified as the one that was asked for.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <oneapi/tbb/global_control.h>

#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/solvers.hpp"
#include "tests/support/exact.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using kernel::StepOption;
using registry::AscentSettings;
using registry::Bias;
using solver::Iterate;
using solver::Sampling;

Case problem_of(const loss::Any& loss, double lambda, std::size_t n = 80, std::size_t d = 6) {
  Case setup = random_setup(loss, n, d, Storage::csr64, 21);
  setup.settings.lambda = lambda;
  setup.settings.solver = "sdca";
  return setup;
}

registry::Fit fit_of(const Case& setup, double tolerance = 1e-6, double passes = 20000,
                     std::span<const solver::Start> start = {}) {
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings, setup.weights, setup.factors);
  return registry::fit(plan, {.tolerance = tolerance, .max_passes = passes}, start);
}

void expect_agreement(const registry::Fit& a, const registry::Fit& b) {
  EXPECT_EQ(a.status, run::Status::optimal) << a.total.gap;
  EXPECT_EQ(b.status, run::Status::optimal) << b.total.gap;
  EXPECT_LE(std::fabs(a.total.primal - b.total.primal), a.total.gap + b.total.gap);
}

// The value where two choices contradict neither each other nor the loss.
std::vector<AscentSettings> every_choice(bool smooth) {
  std::vector<AscentSettings> all;
  for (int option = 1; option <= (smooth ? 5 : 4); ++option)
    all.push_back({.step = static_cast<StepOption>(option)});
  all.push_back({.sampling = Sampling::uniform});
  all.push_back({.sampling = Sampling::importance});
  all.push_back({.blocks = 2});
  all.push_back({.blocks = 3});
  all.push_back({.step = StepOption::bound, .sampling = Sampling::importance, .blocks = 2});
  all.push_back({.step = StepOption::common_bound, .blocks = 3});
  if (smooth) all.push_back({.step = StepOption::constant, .blocks = 3});
  return all;
}

TEST(AscentChoices, AgreeOnTheOptimum) {
  for (const loss::Any& loss : {loss::Any(loss::Logistic{}), loss::Any(loss::SmoothHinge{}),
                                loss::Any(loss::Huber{}), loss::Any(loss::SquaredEpsilonInsensitive{})}) {
    for (const double ratio : {0.0, 0.3}) {
      for (const Bias bias : {Bias::none, Bias::free}) {
        Case setup = problem_of(loss, 0.02);
        setup.settings.bias = bias;
        if (ratio > 0.0) setup.settings.penalty = penalty::ElasticNet{ratio};
        const registry::Fit reference = fit_of(setup);
        for (const AscentSettings& choice : every_choice(true)) {
          setup.settings.ascent = choice;
          for (const char* solver : {"sdca", "accelerated-sdca"}) {
            SCOPED_TRACE(title(loss) + " " + solver + " option " +
                         std::to_string(static_cast<int>(choice.step.value_or(StepOption::exact))));
            setup.settings.solver = solver;
            expect_agreement(reference, fit_of(setup));
          }
        }
      }
    }
  }
}

TEST(AscentChoices, AveragedAndRandomIteratesCertify) {
  for (const Iterate iterate : {Iterate::averaged, Iterate::random}) {
    for (const double ratio : {0.0, 0.3}) {
      Case setup = problem_of(loss::Logistic{}, 0.02);
      if (ratio > 0.0) setup.settings.penalty = penalty::ElasticNet{ratio};
      const registry::Fit reference = fit_of(setup);
      setup.settings.ascent = {.iterate = iterate};
      expect_agreement(reference, fit_of(setup, 1e-5));
    }
  }
}

// The gap is that of the loss asked for: it ends where smoothing is worth more, and never above its worth.
TEST(AscentChoices, SmoothingKeepsTheGapOfTheLoss) {
  for (const loss::Any& loss :
       {loss::Any(loss::Hinge{}), loss::Any(loss::Absolute{}), loss::Any(loss::Quantile{})}) {
    Case setup = problem_of(loss, 0.05);
    const registry::Fit reference = fit_of(setup, 1e-5);
    ASSERT_EQ(reference.status, run::Status::optimal);
    for (const double smoothing : {1e-1, 1e-3}) {
      for (int option = 1; option <= 5; ++option) {
        setup.settings.ascent = {.step = static_cast<StepOption>(option), .smoothing = smoothing};
        const registry::Fit smoothed = fit_of(setup, 1e-9, 3000);
        EXPECT_LE(std::fabs(smoothed.total.primal - reference.total.primal),
                  smoothed.total.gap + reference.total.gap);
        if (option <= 3) {
          EXPECT_LE(smoothed.total.gap, 0.51 * smoothing) << title(loss) << " option " << option;
        }
        EXPECT_GT(smoothed.total.gap, 0.0);
      }
    }
  }
}

TEST(AscentChoices, TheoryOfAcceleration) {
  for (const loss::Any& loss :
       {loss::Any(loss::Logistic{}), loss::Any(loss::Squared{}), loss::Any(loss::Hinge{})}) {
    const bool smooth = loss::smoothness(loss) > 0.0;  // if not, it is smoothed, and the theory's kappa is large
    Case setup = problem_of(loss, smooth ? 1e-3 : 0.05);
    const double tolerance = smooth ? 1e-6 : 1e-2;
    const registry::Fit plain = fit_of(setup, tolerance);
    setup.settings.solver = "accelerated-sdca";
    setup.settings.ascent = {.theory = true};
    SCOPED_TRACE(title(loss));
    expect_agreement(plain, fit_of(setup, tolerance, 100000));
  }
}

// (n + R^2/(lambda gamma)) log((n + R^2/(lambda gamma)) (D* - D(0)) / epsilon) steps are enough on average.
TEST(AscentChoices, TheoremBoundsTheSteps) {
  for (const loss::Any& loss :
       {loss::Any(loss::SmoothHinge{}), loss::Any(loss::Squared{}), loss::Any(loss::Logistic{})}) {
    Case setup = problem_of(loss, 0.02);
    setup.settings.bias = Bias::none;
    const auto n = static_cast<double>(setup.rows.size());
    double radius = 0.0;
    for (const std::vector<double>& row : setup.rows) {
      double norm = 0.0;
      for (const double x : row) norm += x * x;
      radius = std::max(radius, norm);
    }
    const double hardness = n + radius / (0.02 * loss::smoothness(loss));
    const registry::Fit best = fit_of(setup, 1e-9);
    constexpr double epsilon = 1e-4;
    const double bound = hardness * std::log(hardness * best.total.primal / epsilon);
    setup.settings.ascent = {.step = StepOption::common_bound, .sampling = Sampling::uniform};
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::Problem problem = plan.problem(0);
    double steps = 0.0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto solver = registry::choose("sdca", problem)
                              .make(problem, {}, {.seed = seed, .ascent = setup.settings.ascent.resolve()});
      const run::Result result =
          run::run(problem, *solver, {.tolerance = 0.0, .absolute_tolerance = epsilon, .certify_often = true});
      EXPECT_EQ(result.status, run::Status::optimal);
      steps += n * (result.passes - result.certificate_passes) / 5.0;
    }
    EXPECT_LE(steps, bound) << title(loss);
  }
}

TEST(AscentChoices, WarmStartsAlongAPath) {
  for (const char* name : {"sdca", "accelerated-sdca"}) {
    for (const penalty::Any& penalty : {penalty::Any(penalty::L2{}), penalty::Any(penalty::L1{})}) {
      Case setup = problem_of(loss::Logistic{}, 0.1, 200, 10);
      setup.settings.solver = name;
      setup.settings.penalty = penalty;
      registry::Fit last = fit_of(setup);
      double warm_passes = 0.0, cold_passes = 0.0;
      for (const double lambda : {0.08, 0.064, 0.05, 0.04}) {
        setup.settings.lambda = lambda;
        const registry::Fit cold = fit_of(setup);
        std::vector<double> alpha = last.outputs[0].beta;  // unit weights
        const std::vector<solver::Start> start{{.w = last.outputs[0].w, .b = last.outputs[0].b, .alpha = alpha}};
        registry::Fit warm = fit_of(setup, 1e-6, 20000, start);
        expect_agreement(cold, warm);
        warm_passes += warm.passes;
        cold_passes += cold.passes;
        last = std::move(warm);
      }
      EXPECT_LE(warm_passes, 1.1 * cold_passes) << name;
    }
  }
}

TEST(AscentChoices, LassoAndUnpenalizedFeatures) {
  for (const loss::Any& loss :
       {loss::Any(loss::Squared{}), loss::Any(loss::Logistic{}), loss::Any(loss::SquaredHinge{})}) {
    for (const penalty::Any& penalty : {penalty::Any(penalty::L1{}), penalty::Any(penalty::None{})}) {
      Case setup = problem_of(loss, 0.03);
      setup.settings.penalty = penalty;
      setup.settings.solver = "fista";
      const registry::Fit reference = fit_of(setup);
      for (const char* name : {"sdca", "accelerated-sdca"}) {
        SCOPED_TRACE(title(loss) + " " + name);
        setup.settings.solver = name;
        expect_agreement(reference, fit_of(setup));
      }
    }
  }
}

TEST(AscentChoices, SameBitsForAnyNumberOfThreads) {
  for (const char* name : {"sdca", "accelerated-sdca"}) {
    for (AscentSettings choice : every_choice(true)) {
      Case setup = problem_of(loss::Logistic{}, 0.01, 300, 8);
      setup.settings.solver = name;
      setup.settings.seed = 3;
      setup.settings.ascent = choice;
      std::vector<double> w;
      for (const std::size_t threads : {1u, 2u, 4u}) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        const registry::Fit fit = fit_of(setup, 1e-6, 40);
        if (w.empty()) w = fit.outputs[0].w;
        EXPECT_EQ(w, fit.outputs[0].w) << name << " " << threads;
      }
    }
  }
}

// The second row holds the bias back; were it to rest for good, the bias would run away from it.
TEST(AscentChoices, ABiasCannotRunAwayFromRowsAtRest) {
  Case setup = problem_of(loss::Hinge{}, 0.5, 2, 1);
  setup.rows = {{2.0}, {0.0}};
  setup.labels = {1.0, -1.0};
  setup.settings.bias = Bias::free;
  setup.settings.solver = "sdca";
  EXPECT_EQ(fit_of(setup, 1e-6).status, run::Status::optimal);
}

// Far fewer rows than columns and a tiny penalty: subproblems of an accelerated method that are solved too roughly lead away from the
// optimum, farther each time.
TEST(AscentChoices, AccelerationDoesNotRunAway) {
  Case setup;
  Random random(7);
  constexpr std::size_t rows = 80, columns = 200;
  std::vector<double> truth(columns);
  for (double& x : truth) x = random.normal();
  for (std::size_t i = 0; i < rows; ++i) {
    double label = random.normal();
    std::vector<double> x(columns);
    for (std::size_t j = 0; j < columns; ++j) label += (x[j] = random.normal()) * truth[j];
    setup.rows.push_back(x);
    setup.labels.push_back(label);
  }
  setup.settings.C = 1000.0;
  for (const loss::Any& loss :
       {loss::Any(loss::Squared{}), loss::Any(loss::SquaredEpsilonInsensitive{}), loss::Any(loss::Huber{})}) {
    std::visit([&](const auto& chosen) { setup.settings.loss = chosen; }, loss);
    for (const Bias bias : {Bias::none, Bias::free}) {
      setup.settings.bias = bias;
      setup.settings.solver = "sdca";
      const registry::Fit plain = fit_of(setup, 1e-4, 10000);
      setup.settings.solver = "accelerated-sdca";
      const registry::Fit fast = fit_of(setup, 1e-2, 10000);
      EXPECT_EQ(plain.status, run::Status::optimal) << title(loss);
      EXPECT_EQ(fast.status, run::Status::optimal) << title(loss);
      EXPECT_LE(std::fabs(plain.total.primal - fast.total.primal), plain.total.gap + fast.total.gap);
      setup.settings.solver = "auto";  // momentum does more here
      EXPECT_EQ(fit_of(setup).solver, "sdca") << title(loss);
    }
  }
}

// An epoch moves the bias by a thousandth of this offset at most.
TEST(AscentChoices, TheBiasStartsWhereTheTargetsAre) {
  for (const loss::Any& loss : {loss::Any(loss::Absolute{}), loss::Any(loss::EpsilonInsensitive{}),
                                loss::Any(loss::Quantile{0.3}), loss::Any(loss::Huber{})}) {
    Case setup = random_setup(loss, 200, 5, Storage::dense64, 3);
    for (double& label : setup.labels) label += 1000.0;
    setup.settings.lambda = 10.0;
    setup.settings.bias = Bias::free;
    setup.settings.solver = "sdca";
    const registry::Fit fit = fit_of(setup, 1e-4, 300);
    EXPECT_EQ(fit.status, run::Status::optimal) << title(loss);
    EXPECT_NEAR(fit.outputs[0].b, 1000.0, 5.0) << title(loss);
  }
}

TEST(AscentChoices, RefuseWhatTheyCannot) {
  Case setup = problem_of(loss::Hinge{}, 0.1);
  setup.settings.ascent = {.step = StepOption::constant};
  refusal(Fault::usage, [&] { fit_of(setup); });
  setup.settings.ascent = {.sampling = Sampling::uniform};
  setup.settings.row_order = solver::RowOrder::windows;
  refusal(Fault::usage, [&] { fit_of(setup); });
  setup.settings.row_order = std::nullopt;
  setup.settings.ascent = {.iterate = Iterate::averaged};
  setup.settings.solver = "accelerated-sdca";
  refusal(Fault::usage, [&] { fit_of(setup); });
  setup.settings.ascent = {.theory = true};
  setup.settings.penalty = penalty::L1{};
  refusal(Fault::usage, [&] { fit_of(setup); });
  setup.settings.ascent = {.iterate = Iterate::averaged, .theory = true};
  setup.settings.penalty = penalty::L2{};
  setup.settings.solver = "auto";
  refusal(Fault::usage, [&] { fit_of(setup); });
}

}  // namespace
}  // namespace fenchel::test
