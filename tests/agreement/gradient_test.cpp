// Accelerated gradient methods in every space and pragam, on losses with corners: they agree with sdca within the sum of the gaps, and with
// golden optima.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/solvers.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using solver::Space;

struct Choice {
  std::string solver;
  registry::GradientSettings gradient = {};
};

const std::vector<Choice>& choices() {
  using solver::Curvature;
  static const std::vector<Choice> all{{"agm-inf"},
                                       {"agm-1"},
                                       {"pragam"},
                                       {"agm-inf", {.space = Space::primal}},
                                       {"agm-1", {.space = Space::primal}},
                                       {"agm-inf", {.space = Space::dual}},
                                       {"agm-1", {.space = Space::dual}},
                                       {"agm-1", {.space = Space::dual_smooth, .curvature = Curvature::bound}},
                                       {"pragam", {.curvature = Curvature::bound}}};
  return all;
}

registry::Fit fit_with(const Case& setup, const Choice& choice, double tolerance) {
  registry::Settings settings = setup.settings;
  settings.solver = choice.solver;
  settings.gradient = choice.gradient;
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, settings, setup.weights, setup.factors);
  return registry::fit(plan, {.tolerance = tolerance, .max_passes = 20000});
}

TEST(GradientSpaces, AgreeWithCoordinateAscent) {
  std::uint64_t seed = 70;
  for (const loss::Any& loss : every_loss()) {
    if (loss::smoothness(loss) > 0.0) continue;
    for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
      Case setup = random_setup(loss, 24, 3, Storage::csr64, ++seed);
      setup.settings.lambda = 0.05;
      setup.settings.bias = bias;
      if (seed % 3 == 0) setup.settings.penalty = penalty::ElasticNet{0.3};
      const registry::Fit reference = fit_with(setup, {"sdca"}, 1e-9);
      for (const Choice& choice : choices()) {
        const registry::Fit fit = fit_with(setup, choice, 1e-3);
        SCOPED_TRACE(title(loss) + " " + choice.solver + " seed " + std::to_string(seed));
        EXPECT_EQ(fit.status, run::Status::optimal) << fit.total.gap;
        EXPECT_LE(std::fabs(fit.total.primal - reference.total.primal), fit.total.gap + reference.total.gap);
        EXPECT_GE(fit.total.gap, fit.total.primal - reference.total.primal);
      }
    }
  }
}

Case case_of(const nlohmann::json& one) {
  Case setup = random_setup(loss::Hinge{}, 1, 1, Storage::csr64, 1);
  setup.rows = one["X"].get<std::vector<std::vector<double>>>();
  setup.labels = one["y"].get<std::vector<double>>();
  setup.settings.lambda = one["lam"].get<double>();
  setup.settings.bias = one["bias"].get<bool>() ? registry::Bias::free : registry::Bias::none;
  return setup;
}

TEST(GradientSpaces, MeetGoldenSupportVectorMachines) {
  const nlohmann::json file = golden("svm_bias.json");
  for (const auto& one : file["cases"]) {
    const Case setup = case_of(one);
    for (const Choice& choice : choices()) {
      const registry::Fit fit = fit_with(setup, choice, 1e-5);
      const double optimum = one["J"];
      EXPECT_GE(fit.total.primal, optimum - 1e-10) << choice.solver;
      EXPECT_LE(fit.total.primal, optimum + fit.total.gap + 1e-10) << choice.solver;
      EXPECT_LE(fit.total.dual, optimum + 1e-10) << choice.solver;
      EXPECT_LE(fit.total.gap, 1e-4) << choice.solver;
    }
  }
}

// The gap is that of the loss asked for: it ends where the smoothing costs more, and never above its worth.
TEST(GradientSpaces, AFixedLevelKeepsTheGapOfTheLoss) {
  Case setup = random_setup(loss::Hinge{}, 40, 3, Storage::dense64, 5);
  setup.settings.lambda = 0.05;
  setup.settings.solver = "agm-1";
  setup.settings.gradient.space = Space::primal;
  double last = infinity;
  for (const double mu : {1.0, 0.1, 0.01}) {
    setup.settings.ascent.smoothing = mu;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings, setup.weights, setup.factors);
    const registry::Fit fit = registry::fit(plan, {.tolerance = 1e-9, .max_passes = 3000});
    EXPECT_NE(fit.status, run::Status::optimal);
    EXPECT_LE(fit.total.gap, 0.51 * mu);
    EXPECT_LT(fit.total.gap, last);
    last = fit.total.gap;
  }
}

TEST(GradientSpaces, RefuseWhatContradicts) {
  const penalty::Separable l2({.l1 = 0.0, .l2 = 0.1}), l1({.l1 = 0.1, .l2 = 0.0});
  registry::Settings settings;
  const auto check = [&](Space space, std::optional<double> smoothing, const loss::Any& loss,
                         const penalty::Separable& penalty) {
    settings.gradient.space = space;
    settings.ascent.smoothing = smoothing;
    registry::check_conduct(settings, loss, penalty);
  };
  refusal(Fault::usage, [&] { check(Space::dual, {}, loss::Hinge{}, l1); });
  refusal(Fault::usage, [&] { check(Space::dual_smooth, {}, loss::Hinge{}, l1); });
  refusal(Fault::usage, [&] { check(Space::dual, 0.1, loss::Hinge{}, l2); });
  refusal(Fault::usage, [&] { check(Space::dual_smooth, {}, loss::Logistic{}, l2); });
  check(Space::primal, {}, loss::Hinge{}, l1);
  check(Space::dual, {}, loss::Logistic{}, l2);
  check(Space::dual_smooth, 0.1, loss::Logistic{}, l2);
}

}  // namespace
}  // namespace fenchel::test
