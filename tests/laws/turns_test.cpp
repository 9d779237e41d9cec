// What an answer is never worse than, and who goes on where the first solver gets no further.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/turns.hpp"
#include "tests/support/medium.hpp"

namespace fenchel::test {
namespace {

std::vector<std::string> names_of(const std::vector<registry::Turn>& turns) {
  std::vector<std::string> names;
  for (const registry::Turn& turn : turns) names.emplace_back(turn.solver);
  return names;
}

using Names = std::vector<std::string>;

TEST(Turns, WhoIsNamedIsAlone) {
  registry::Settings settings;
  settings.solver = "sdca";
  EXPECT_EQ(names_of(registry::turns_of("sdca", settings, penalty::Separable({.l1 = 0.0, .l2 = 1.0}), 10, 10)),
            Names{"sdca"});
}

TEST(Turns, AutoHasHeirs) {
  registry::Settings settings;
  const penalty::Separable l2({.l1 = 0.0, .l2 = 1.0}), elastic({.l1 = 0.5, .l2 = 0.5});
  // Small: newton early, and the first one again, with the rest of its time.
  const std::vector<registry::Turn> small = registry::turns_of("sdca", settings, l2, 100000, 100);
  EXPECT_EQ(names_of(small), (Names{"sdca", "newton", "sdca"}));
  EXPECT_LT(small.front().most_passes, 1000.0);
  EXPECT_EQ(small.back().most_passes, infinity);
  // Large: only where the first one stalls.
  const std::vector<registry::Turn> large = registry::turns_of("sdca", settings, l2, 100000, 100000);
  EXPECT_EQ(names_of(large), (Names{"sdca", "newton", "pdhg"}));
  for (const registry::Turn& turn : large) EXPECT_EQ(turn.most_passes, infinity);
  EXPECT_EQ(names_of(registry::turns_of("sdca", settings, elastic, 100, 100)), (Names{"sdca", "bmrm", "sdca"}));
  // Options that only some take bind their heirs, too.
  settings.row_order = solver::RowOrder::shuffled;
  for (const std::string& name : names_of(registry::turns_of("sdca", settings, l2, 100, 100))) {
    EXPECT_TRUE(name == "sdca" || name == "accelerated-sdca" || name == "pegasos") << name;
  }
}

// Classes of uncentred data: going row by row ends nowhere.
Case uncentred_classes(const loss::AnyVector& loss) {
  Case setup;
  Random random(5);
  constexpr std::size_t rows = 600, columns = 60, classes = 4;
  std::vector<double> offset(columns);
  std::vector<std::vector<double>> truth(columns, std::vector<double>(classes));
  for (double& x : offset) x = 10.0 * random.normal();
  for (std::vector<double>& row : truth) {
    for (double& x : row) x = random.normal();
  }
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> x(columns), scores(classes, 0.0);
    for (std::size_t j = 0; j < columns; ++j) {
      const double centred = random.normal();
      x[j] = centred + offset[j];
      for (std::size_t l = 0; l < classes; ++l) scores[l] += centred * truth[j][l] / 8.0;
    }
    for (double& score : scores) score += 0.5 * random.normal();
    setup.rows.push_back(x);
    setup.labels.push_back(static_cast<double>(std::distance(scores.begin(), std::ranges::max_element(scores))));
  }
  std::visit([&](const auto& chosen) { setup.settings.loss = chosen; }, loss);
  setup.settings.C = 1.0;
  setup.settings.bias = registry::Bias::free;
  return setup;
}

TEST(Turns, AnotherSolverEndsWhatTheFirstDoesNot) {
  Case setup = uncentred_classes(loss::SmoothMulticlassHinge{});
  const data::Dataset dataset = dataset_of(setup);
  setup.settings.solver = "sdca";
  const registry::Fit alone = registry::fit(registry::Plan(dataset, setup.settings), {.max_passes = 2500});
  ASSERT_NE(alone.status, run::Status::optimal);
  setup.settings.solver = "auto";
  std::vector<run::Progress> seen;
  run::Options options{.max_passes = 2500};
  options.observe = [&](const run::Progress& progress) { seen.push_back(progress); };
  const registry::Fit fit = registry::fit(registry::Plan(dataset, setup.settings), options);
  EXPECT_EQ(fit.status, run::Status::optimal);
  EXPECT_EQ(fit.solver, "newton");
  EXPECT_LE(fit.passes, options.max_passes);
  // One run to those who watch: passes add up, and the gap never grows but by what rounding the duals once more takes.
  ASSERT_GT(seen.size(), 2u);
  for (std::size_t k = 1; k < seen.size(); ++k) {
    EXPECT_GE(seen[k].passes, seen[k - 1].passes);
    EXPECT_GE(seen[k].seconds, seen[k - 1].seconds);
    EXPECT_LE(seen[k].certificate.gap, seen[k - 1].certificate.gap * (1.0 + 1e-9));
  }
  EXPECT_NEAR(seen.back().passes, fit.passes, 1.0);
}

// What is certified on the way, and the best of it.
struct Watched {
  std::vector<run::Progress> seen;
  double least_primal = infinity;

  run::Options options(run::Options given) {
    given.observe = [this](const run::Progress& progress) {
      seen.push_back(progress);
      least_primal = std::fmin(least_primal, progress.certificate.primal);
    };
    return given;
  }
};

TEST(Turns, BudgetsOfTheUserEndAFit) {
  for (const loss::AnyVector& loss : {loss::AnyVector(loss::MulticlassHinge{}), loss::AnyVector(loss::Softmax{})}) {
    const Case setup = uncentred_classes(loss);
    const data::Dataset dataset = dataset_of(setup);
    for (const double passes : {20.0, 100.0, 498.0, 505.0, 560.0}) {
      Watched watched;
      const registry::Fit fit =
          registry::fit(registry::Plan(dataset, setup.settings), watched.options({.max_passes = passes}));
      EXPECT_LE(fit.passes, passes + 4.0) << passes;
      EXPECT_LE(fit.total.gap, watched.seen.back().certificate.gap * (1.0 + 1e-9)) << passes;
      EXPECT_LE(fit.total.primal, watched.least_primal * (1.0 + 1e-9)) << passes;
      EXPECT_TRUE(fit.status == run::Status::optimal || fit.status == run::Status::max_passes) << passes;
    }
  }
}

TEST(Turns, OneOutputAfterTheOtherKeepsItsBudget) {
  Case setup = uncentred_classes(loss::MulticlassHinge{});  // for its data
  setup.settings.loss = loss::Hinge{};
  const data::Dataset dataset = dataset_of(setup);
  for (const double passes : {30.0, 200.0, 600.0}) {
    const registry::Fit fit = registry::fit(registry::Plan(dataset, setup.settings), {.max_passes = passes});
    ASSERT_EQ(fit.outputs.size(), 4u);
    for (const registry::Output& output : fit.outputs) EXPECT_LE(output.passes, passes + 40.0) << passes;
  }
}

TEST(Answers, AreNoWorseThanTheStart) {
  for (const std::string_view name : {"sdca", "accelerated-sdca", "newton", "fista", "bmrm", "agm-1"}) {
    const Medium medium(loss::Logistic{}, penalty::L2{}, 1e-4, registry::Bias::none, 400, 10);
    const run::Result good = medium.run(solver("newton", medium), {.tolerance = 1e-9});
    ASSERT_EQ(good.status, run::Status::optimal);
    const solver::Start start{.w = good.w, .b = good.b, .alpha = good.beta};  // weights are all 1
    const auto method = solver(name, medium).make(*medium.problem, start, {});
    // Good enough: nobody is asked.
    const run::Result same = run::run(*medium.problem, *method, {.tolerance = 1e-8}, start);
    EXPECT_EQ(same.status, run::Status::optimal) << name;
    EXPECT_EQ(same.certificate_passes, 2.0) << name;
    EXPECT_EQ(same.passes, 2.0) << name;
    EXPECT_EQ(same.w, good.w) << name;
    // Not good enough, and no time for more.
    const run::Result stopped = run::run(*medium.problem, *method, {.tolerance = 0.0, .max_passes = 12}, start);
    EXPECT_LE(stopped.certificate.gap, good.certificate.gap * (1.0 + 1e-9)) << name;
  }
}

TEST(Answers, AreNoWorseThanZeros) {
  Case setup = random_setup(loss::Squared{}, 100, 3, Storage::csr64, 3);
  for (std::vector<double>& row : setup.rows) row[1] *= 1e6;
  setup.settings.lambda = 1e-9;
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const problem::Problem problem = plan.problem(0);
  const problem::Certifier certifier(problem);
  const double at_zero = certifier.primal_with_best_bias(std::vector<double>(problem.dimension(), 0.0), 0.0).value;
  for (const registry::SolverEntry& entry : registry::solvers()) {
    if (entry.missing(problem.loss, problem.penalty)) continue;
    const auto method = entry.make(problem, {}, {});
    const run::Result result = run::run(problem, *method, {.tolerance = 0.0, .max_passes = 3});
    EXPECT_LE(result.certificate.primal, at_zero) << entry.name;
    EXPECT_GE(result.certificate.dual, -1e-12 * at_zero) << entry.name;  // 0 is that of a dual vector of zeros
  }
}

// Whoever is stopped early still has the best primal it was certified with, and the best dual, zeros included.
TEST(Answers, StoppedEarlyAreTheBestSoFar) {
  for (const loss::Any& loss : {loss::Any(loss::Logistic{}), loss::Any(loss::Hinge{})}) {
    const Medium medium(loss, penalty::L2{}, 1e-6, registry::Bias::free, 300, 30);
    for (const registry::SolverEntry& entry : registry::solvers()) {
      if (entry.missing(medium.problem->loss, medium.problem->penalty)) continue;
      for (const double passes : {5.0, 12.0, 40.0}) {
        Watched watched;
        const run::Result result =
            medium.run(entry, watched.options({.tolerance = 0.0, .max_passes = passes, .certify_often = true}));
        double best_dual = 0.0;
        for (const run::Progress& progress : watched.seen)
          best_dual = std::fmax(best_dual, progress.certificate.dual);
        EXPECT_LE(result.certificate.primal, watched.least_primal * (1.0 + 1e-9)) << entry.name << " " << passes;
        EXPECT_LE(result.certificate.gap, (watched.least_primal - best_dual) * (1.0 + 1e-9) + 1e-12)
            << entry.name << " " << passes;
      }
    }
  }
}

// An optimum of 0 meets a relative tolerance only with a gap of exactly 0.
TEST(Answers, AnOptimumOfZeroIsFound) {
  for (const loss::Any& loss : every_loss()) {
    if (loss::task(loss) != loss::Task::regression) continue;
    for (const double label : {0.0, 5.0}) {
      Case setup;
      setup.rows = {{1.0, 0.5}, {-2.0, 3.0}, {0.3, 0.1}};
      setup.labels = {label, label, label};
      std::visit([&](const auto& chosen) { setup.settings.loss = chosen; }, loss);
      const data::Dataset dataset = dataset_of(setup);
      const registry::Fit fit = registry::fit(registry::Plan(dataset, setup.settings), {});
      EXPECT_EQ(fit.status, run::Status::optimal) << title(loss) << " " << label;
      EXPECT_EQ(fit.total.gap, 0.0) << title(loss) << " " << label;
    }
  }
}

}  // namespace
}  // namespace fenchel::test
