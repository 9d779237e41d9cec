// The weights that dual coordinate ascent offers besides its last ones: their average and the best multiple of that.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/problem/certificate.hpp"
#include "fenchel/run/run.hpp"
#include "fenchel/solver/best_multiple.hpp"
#include "fenchel/solver/late_average.hpp"
#include "fenchel/solver/sdca.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

// The weights of the points are those of the recursion written out: ((eta + 1) / (t + eta)) times all later (1 - ...).
TEST(LateAverage, HasPolynomialWeights) {
  constexpr double eta = 8.0;
  constexpr int points = 30;
  solver::LateAverage average;
  EXPECT_TRUE(average.empty());
  double expected = 0.0, expected_bias = 0.0, sum = 0.0;
  for (int t = 1; t <= points; ++t) {
    double weight = t == 1 ? 1.0 : (eta + 1) / (t + eta);
    for (int later = t + 1; later <= points; ++later) weight *= 1.0 - (eta + 1) / (later + eta);
    expected += weight * std::sin(t);
    expected_bias += weight * std::cos(t);
    sum += weight;
    average.take(std::vector{std::sin(t), 1.0}, std::cos(t));
  }
  EXPECT_NEAR(sum, 1.0, 1e-14);
  EXPECT_NEAR(average.weights()[0], expected, 1e-14);
  EXPECT_NEAR(average.weights()[1], 1.0, 1e-14);
  EXPECT_NEAR(average.bias(), expected_bias, 1e-14);
  average.scale(3.0);
  EXPECT_NEAR(average.weights()[1], 3.0, 1e-13);
}

// R(t) = |1 - t s| + g t^2 with its kink at 1/s, which is the minimum as long as 2 g < s^2.
TEST(BestMultiple, IsFoundNearAndFarFromOne) {
  constexpr double penalty = 0.01;
  for (const double s : {0.4, 0.9, 0.999, 1.0 - 1e-6, 1.0, 1.0 + 1e-6, 1.001, 1.5, 5.0}) {
    const solver::Multiple best = solver::best_multiple(
        penalty, [&](double t) { return solver::Ray{.risk = std::fabs(1 - t * s), .slope = t * s < 1 ? -s : s}; });
    const double optimum = 1 / s;
    EXPECT_NEAR(best.factor, optimum, 0.06 * std::fabs(optimum - 1) + 1e-8) << s;
    EXPECT_LE(best.value, std::fabs(1 - s) + penalty) << s;  // never worse than the point itself
  }
}

TEST(BestMultiple, StaysWhereNothingIsBetter) {
  int calls = 0;
  const auto flat = solver::best_multiple(0.0, [&](double /*t*/) {
    ++calls;
    return solver::Ray{.risk = 2.0};
  });
  EXPECT_LE(calls, 10);
  EXPECT_EQ(flat.factor, 1.0);
  EXPECT_EQ(flat.value, 2.0);
  // Only the penalty: the best multiple is 0, or as near to it as is looked for.
  const auto lonely = solver::best_multiple(1.0, [](double /*t*/) { return solver::Ray{}; });
  EXPECT_LE(lonely.value, 0.01);
  // A risk that falls for ever ends at the farthest multiple.
  const auto falling = solver::best_multiple(
      0.0, [](double t) { return solver::Ray{.risk = std::exp(-t), .slope = -std::exp(-t)}; });
  EXPECT_GT(falling.factor, 3.0);
  EXPECT_LE(falling.factor, 4.0);
}

run::Result run_sdca(const problem::Problem& problem, solver::Iterate iterate, double tolerance) {
  solver::Conduct conduct;
  conduct.ascent.iterate = iterate;
  solver::Sdca method(problem, {}, conduct);
  return run::run(problem, method, {.tolerance = tolerance, .max_passes = 5000});
}

void expect_known_gap(const problem::Problem& problem, const std::string& label) {
  solver::Sdca method(problem, {}, {});
  const problem::Certifier certifier(problem);
  int averages = 0;
  for (double passes = 0.0; passes < 200.0;) {
    passes += method.step();
    if (passes < 20.0) continue;
    method.refine_estimate();
    if (method.passes_aside() == 0.0) continue;  // the average was not asked
    const problem::Candidate at = method.candidate();
    const problem::DualPoint dual = certifier.dual(at.alpha);
    const double gap = certifier.pair(certifier.primal(at.w, at.b), dual).gap;
    if (method.estimate().scatter != 1.0) continue;  // the last weights seem better
    EXPECT_NEAR(method.estimate().gap, gap, 1e-9 + 1e-3 * gap) << label << " after " << passes;
    ++averages;
  }
  EXPECT_GT(averages, 0) << label;
}

// Whatever it is worth: the same optimum, and what is known of the average is what a certificate finds. Real data show where
// it is worth much (tests/peers/test_averages.py).
TEST(LateAverage, IsWhatTheEstimateSays) {
  for (const loss::Any& loss : {loss::Any(loss::Hinge{}), loss::Any(loss::EpsilonInsensitive{0.1})}) {
    for (const penalty::Any& penalty : {penalty::Any(penalty::L2{}), penalty::Any(penalty::ElasticNet{0.1})}) {
      for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
        Case setup = random_setup(loss, 300, 8, Storage::csr64, 11);
        setup.settings.penalty = penalty;
        setup.settings.lambda = 1e-3;
        setup.settings.bias = bias;
        const std::string label = title(loss) + " l1 " + std::to_string(penalty.index()) + " bias " +
                                  std::to_string(static_cast<int>(bias));
        const data::Dataset dataset = dataset_of(setup);
        const registry::Plan plan(dataset, setup.settings);
        const problem::Problem problem = plan.problem(0);
        const run::Result a = run_sdca(problem, solver::Iterate::automatic, 1e-5);
        const run::Result b = run_sdca(problem, solver::Iterate::last, 1e-5);
        EXPECT_EQ(a.status, run::Status::optimal) << label;
        EXPECT_EQ(b.status, run::Status::optimal) << label;
        EXPECT_LE(std::fabs(a.certificate.primal - b.certificate.primal), a.certificate.gap + b.certificate.gap);
        if (bias == registry::Bias::none) expect_known_gap(problem, label);
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
