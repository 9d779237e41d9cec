// newton: how fast it ends, what it does at the edges, and that threads do not matter.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/registry/solvers.hpp"
#include "fenchel/run/run.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

struct Solved {
  explicit Solved(const Case& setup, std::string_view solver = "newton",
                  const run::Options& options = {.tolerance = 1e-8})
      : dataset(dataset_of(setup)), plan(dataset, setup.settings, setup.weights, setup.factors) {
    const problem::Problem problem = plan.problem(0);
    const auto method = registry::choose(solver, problem).make(problem, {}, {});
    result = run::run(problem, *method, options);
  }

  data::Dataset dataset;
  registry::Plan plan;
  run::Result result;
};

std::vector<loss::Any> losses_of(loss::Task task) {
  std::vector<loss::Any> list;
  for (const loss::Any& loss : every_loss()) {
    if (loss::task(loss) == task) list.push_back(loss);
  }
  return list;
}

void expect_solved(const Case& setup, const std::string& label, double tolerance = 1e-8) {
  for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
    Case with_bias = setup;
    with_bias.settings.bias = bias;
    const Solved solved(with_bias, "newton", {.tolerance = tolerance, .absolute_tolerance = 1e-13});
    EXPECT_EQ(solved.result.status, run::Status::optimal)
        << label << " " << title(*setup.settings.loss.scalar()) << " bias " << static_cast<int>(bias)
        << " relative gap " << solved.result.certificate.relative_gap() << " passes " << solved.result.passes;
  }
}

// Every gap is a fixed share of the one before under linear convergence; here the shares themselves fall.
TEST(Newton, ConvergesSuperlinearlyOnTheHinge) {
  Case setup = random_setup(loss::Hinge{}, 60, 4, Storage::dense64, 3);
  setup.settings.lambda = 1e-2;
  setup.settings.bias = Bias::none;
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const problem::Problem problem = plan.problem(0);
  const auto solver = registry::choose("newton", problem).make(problem, {}, {});
  const problem::Certifier certifier(problem);
  std::vector<double> gaps;
  double best = infinity;
  while (best > 1e-12 && gaps.size() < 60) {
    solver->step();
    const problem::Candidate at = solver->candidate();
    best = std::fmin(best, certifier.pair(certifier.primal(at.w, at.b), certifier.dual(at.alpha)).relative_gap());
    gaps.push_back(best);
  }
  EXPECT_LE(best, 1e-12);
  EXPECT_LE(gaps.size(), 40u);
  // From 1e-3 on, the second half of the remaining decades takes fewer steps than the first.
  std::size_t to_3 = 0, to_7 = 0, to_11 = 0;
  for (const double gap : gaps) {
    if (gap > 1e-3) ++to_3;
    if (gap > 1e-7) ++to_7;
    if (gap > 1e-11) ++to_11;
  }
  EXPECT_LE(to_11 - to_7, to_7 - to_3 + 2);
}

TEST(Newton, FewPassesToHighAccuracy) {
  for (const loss::Any& loss : every_loss()) {
    for (const Bias bias : {Bias::none, Bias::free}) {
      Case setup = random_setup(loss, 2000, 10, Storage::csr64, 17);
      setup.settings.lambda = 1e-3;
      setup.settings.bias = bias;
      const Solved solved(setup, "newton", {.tolerance = 1e-9});
      EXPECT_EQ(solved.result.status, run::Status::optimal) << title(loss);
      EXPECT_LE(solved.result.passes, 400.0) << title(loss) << " bias " << static_cast<int>(bias);
    }
  }
}

TEST(Newton, AgreesWithCoordinateAscent) {
  for (const loss::Any& loss : every_loss()) {
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      Case setup = random_setup(loss, 200, 6, Storage::csr32, 23);
      setup.settings.lambda = 0.02;
      setup.settings.bias = bias;
      const run::Result newton = Solved(setup).result;
      const run::Result sdca = Solved(setup, "sdca", {.tolerance = 1e-5, .max_passes = 2000}).result;
      EXPECT_LE(newton.certificate.primal - sdca.certificate.primal, newton.certificate.gap) << title(loss);
      EXPECT_LE(sdca.certificate.primal - newton.certificate.primal, sdca.certificate.gap) << title(loss);
    }
  }
}

TEST(Newton, StrengthsOfEverySize) {
  for (const loss::Any& loss : every_loss()) {
    for (const double lambda : {1e-9, 1e-5, 1.0, 1e3, 1e9}) {
      Case setup = random_setup(loss, 80, 5, Storage::dense64, 5);
      setup.settings.lambda = lambda;
      expect_solved(setup, "lambda " + std::to_string(lambda), lambda < 1e-6 ? 1e-4 : 1e-7);
    }
  }
}

TEST(Newton, RowsThatRepeatOrAreEmpty) {
  for (const loss::Any& loss : every_loss()) {
    Case setup = random_setup(loss, 60, 4, Storage::csr64, 9);
    for (std::size_t i = 20; i < 40; ++i) {
      setup.rows[i] = setup.rows[i % 5];
      setup.labels[i] = setup.labels[i % 5];
    }
    for (std::size_t i = 40; i < 50; ++i) setup.rows[i].assign(4, 0.0);
    setup.settings.lambda = 1e-3;
    expect_solved(setup, "repeated");
  }
}

TEST(Newton, WeightsThatVanish) {
  for (const loss::Any& loss : every_loss()) {
    Case setup = random_setup(loss, 60, 4, Storage::csr64, 11);
    setup.settings.lambda = 1e-3;
    for (std::size_t i = 0; i < 60; ++i) setup.weights.push_back(i % 2 == 0 ? 0.0 : 1e-3 + static_cast<double>(i));
    expect_solved(setup, "weights");
    if (!has_classes(loss)) continue;
    for (std::size_t i = 0; i < 60; ++i) setup.weights[i] = setup.labels[i] > 5.0 ? 1.0 : 0.0;
    expect_solved(setup, "one class");
  }
}

TEST(Newton, SeparableClasses) {
  for (const loss::Any& loss : losses_of(loss::Task::classification)) {
    Case setup = random_setup(loss, 60, 3, Storage::csr64, 13);
    for (std::size_t i = 0; i < 60; ++i) {
      setup.labels[i] = i % 2 == 0 ? 7.0 : 3.0;
      setup.rows[i][0] = i % 2 == 0 ? 5.0 : -5.0;
    }
    for (const double lambda : {1e-2, 1e-6}) {
      setup.settings.lambda = lambda;
      expect_solved(setup, "separable", 1e-6);
    }
  }
}

TEST(Newton, ColumnsThatAreConstantOrHuge) {
  for (const loss::Any& loss : every_loss()) {
    Case setup = random_setup(loss, 80, 4, Storage::dense64, 15);
    for (auto& row : setup.rows) {
      row[1] = 3.0;
      row[2] *= 1e6;
    }
    setup.settings.lambda = 1e-3;
    expect_solved(setup, "unscaled", 1e-6);
  }
}

TEST(Newton, MoreColumnsThanRows) {
  for (const loss::Any& loss : every_loss()) {
    Case setup = random_setup(loss, 400, 400, Storage::csr64, 19);
    setup.rows.resize(30);
    setup.labels.resize(30);
    setup.settings.lambda = 1e-2;
    expect_solved(setup, "wide");
  }
}

TEST(Newton, WarmStartsFromTheSolution) {
  for (const loss::Any& loss :
       {loss::Any(loss::Hinge{}), loss::Any(loss::Logistic{}), loss::Any(loss::Absolute{})}) {
    Case setup = random_setup(loss, 500, 6, Storage::csr64, 29);
    setup.settings.lambda = 1e-3;
    const Solved cold(setup);
    const problem::Problem problem = cold.plan.problem(0);
    const solver::Start start{.w = cold.result.w, .b = cold.result.b, .alpha = cold.result.beta};
    const auto solver = registry::choose("newton", problem).make(problem, start, {});
    const run::Result warm = run::run(problem, *solver, {.tolerance = 1e-7});
    EXPECT_EQ(warm.status, run::Status::optimal) << title(loss);
    EXPECT_LE(warm.passes, 0.5 * cold.result.passes) << title(loss);
  }
}

// Columns on a scale of 1e6 and a loss without curvature far from its minimum: the first steps have to be as short as 1e-8.
TEST(Newton, FindsItsWayAlongColumnsOfAnyScale) {
  for (const double scale : {1.0, 1e3, 1e6}) {
    Case setup = random_setup(loss::Huber{}, 2000, 8, Storage::dense64, 11);
    for (std::vector<double>& row : setup.rows) {
      row[0] = scale * (2.0 + row[0]);
      row[1] *= scale;
    }
    for (double& label : setup.labels) label = 80.0 + 10.0 * label;
    setup.settings.C = 1.0;
    expect_solved(setup, "columns times " + std::to_string(scale), 1e-6);
  }
}

// Down to steps of 1e-20, and no farther than the slope goes down.
TEST(StepAlong, ShortensAsFarAsItHasTo) {
  for (const double root : {1e-20, 1e-8, 0.3, 1.0, 7.0, 1e6}) {
    int trials = 0;
    const double t = step_along(-1.0, infinity, 0.1, [&](double at) {
      ++trials;
      return LineSlope{.first = at < root ? -1.0 + 0.95 * at / root : 1.0, .second = at < root ? 0.95 / root : 0.0};
    });
    EXPECT_GT(t, 0.0) << root;
    EXPECT_LE(t, root * (1.0 + 1e-9)) << root;
    EXPECT_GT(t, 0.5 * root) << root;
    EXPECT_LE(trials, 30) << root;
  }
}

// What a solver gives back for a certificate it finds anew.
TEST(Newton, OffersChangeNothing) {
  for (const loss::Any& loss : every_loss()) {
    for (const Bias bias : {Bias::none, Bias::free}) {
      Case setup = random_setup(loss, 3000, 10, Storage::csr64, 37);
      setup.settings.lambda = 1e-4;
      setup.settings.bias = bias;
      const data::Dataset dataset = dataset_of(setup);
      const registry::Plan plan(dataset, setup.settings, setup.weights, setup.factors);
      const problem::Problem problem = plan.problem(0);
      const auto asked = registry::choose("newton", problem).make(problem, {}, {});
      const auto quiet = registry::choose("newton", problem).make(problem, {}, {});
      for (int k = 0; k < 12; ++k) {
        asked->candidate();
        EXPECT_EQ(asked->step(), quiet->step()) << title(loss);
      }
      const problem::Candidate a = asked->candidate(), b = quiet->candidate();
      EXPECT_EQ(a.b, b.b);
      EXPECT_TRUE(std::ranges::equal(a.w, b.w)) << title(loss);
      EXPECT_TRUE(std::ranges::equal(a.alpha, b.alpha)) << title(loss);
    }
  }
}

TEST(NewtonParallel, SameBitsForAnyNumberOfThreads) {
  for (const loss::Any& loss :
       {loss::Any(loss::Hinge{}), loss::Any(loss::Logistic{}), loss::Any(loss::SquaredHinge{})}) {
    for (const std::size_t columns : {4, 200}) {
      Case setup = random_setup(loss, columns == 4 ? 6000 : 300, columns, Storage::csr64, 31);
      setup.settings.lambda = 1e-3;
      std::vector<run::Result> results;
      for (const std::size_t threads : {1, 2, 2}) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        results.push_back(Solved(setup, "newton", {.tolerance = 1e-6, .max_passes = 25}).result);
      }
      for (const run::Result& other : results) {
        EXPECT_EQ(results[0].w, other.w);
        EXPECT_EQ(results[0].b, other.b);
        EXPECT_EQ(results[0].beta, other.beta);
        EXPECT_EQ(results[0].passes, other.passes);
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
