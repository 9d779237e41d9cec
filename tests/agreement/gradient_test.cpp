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
  using solver::SmoothingWeights;
  static const std::vector<Choice> all{
      {"agm-inf"},
      {"agm-1"},
      {"pragam"},
      {"agm-inf", {.space = Space::primal}},
      {"agm-1", {.space = Space::primal}},
      {"agm-inf", {.space = Space::dual}},
      {"agm-1", {.space = Space::dual}},
      {"agm-1", {.space = Space::dual_smooth, .curvature = Curvature::bound}},
      {"agm-1", {.space = Space::primal, .weights = SmoothingWeights::norms}},
      {"agm-inf", {.space = Space::dual_smooth, .weights = SmoothingWeights::norms}},
      {"agm-inf", {.space = Space::primal, .curvature = Curvature::bound, .weights = SmoothingWeights::norms}},
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
  for (const Space space : {Space::primal, Space::dual_smooth}) {
    for (const auto weights : {solver::SmoothingWeights::equal, solver::SmoothingWeights::norms}) {
      setup.settings.gradient = {.space = space, .weights = weights};
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
  }
}

// Rows whose norms differ by orders of magnitude: levels by row make do with far fewer passes, and are what `auto` takes; on
// rows of like norms it takes none, for less than the price of ten passes.
TEST(GradientSpaces, LevelsByRowPayWhereNormsDiffer) {
  using solver::SmoothingWeights;
  for (const double spread : {2.0, 0.0}) {
    Random random(11);
    Case setup;
    std::vector<double> slope(8);
    for (double& w : slope) w = random.normal();
    for (std::size_t i = 0; i < 400; ++i) {
      std::vector<double> x(slope.size());
      const double norm = std::exp(spread * random.normal());
      double z = 0.5 * random.normal();
      for (std::size_t j = 0; j < x.size(); ++j) {
        x[j] = random.normal() / std::sqrt(8.0);
        z += slope[j] * x[j];
        x[j] *= norm;
      }
      setup.rows.push_back(x);
      setup.labels.push_back(z > 0.0 ? 1.0 : -1.0);
    }
    setup.settings.lambda = 0.01;
    for (const Space space : {Space::primal, Space::dual_smooth}) {
      for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
        setup.settings.bias = bias;
        const auto fit_by = [&](SmoothingWeights weights) {
          return fit_with(setup, {"agm-1", {.space = space, .weights = weights}}, 1e-4);
        };
        const registry::Fit equal = fit_by(SmoothingWeights::equal), norms = fit_by(SmoothingWeights::norms),
                            chosen = fit_by(SmoothingWeights::automatic);
        EXPECT_LE(std::fabs(equal.total.primal - norms.total.primal), equal.total.gap + norms.total.gap);
        if (spread > 0.0) {
          EXPECT_LT(2 * norms.passes, equal.passes);
          EXPECT_LT(1.5 * chosen.passes, equal.passes);
        } else {
          EXPECT_LT(chosen.passes, equal.passes + 10);
        }
      }
    }
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
  settings.gradient.weights = solver::SmoothingWeights::norms;
  refusal(Fault::usage, [&] { check(Space::dual, {}, loss::Hinge{}, l2); });
  refusal(Fault::usage, [&] { check(Space::primal, 0.1, loss::Logistic{}, l2); });
  check(Space::dual_smooth, {}, loss::Hinge{}, l2);
  check(Space::primal, 0.1, loss::Hinge{}, l1);
}

}  // namespace
}  // namespace fenchel::test
