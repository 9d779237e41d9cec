// Fits against optima that were computed outside this library, for every solver that the table says can do them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/registry/solvers.hpp"
#include "fenchel/run/run.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/promise.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using nlohmann::json;

// Where the loss has corners, the excessive gap technique has no linear rate, and smoothing meets rounding without an l2 part.
double tolerance_of(std::string_view solver, const problem::Problem& problem) {
  if (loss::smoothness(problem.loss) > 0.0) return 1e-10;
  if (solver == "pragam") return 1e-5;
  const bool smoothed = solver == "agm-inf" || solver == "agm-1";
  return smoothed && problem.penalty.strong_convexity() == 0.0 ? 1e-8 : 1e-10;
}

// Fits with every able solver; `optimum` is the golden objective.
void expect_optimum(const Case& setup, double optimum) {
  const Instance instance = instance_of(setup);
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const problem::Problem problem = plan.problem(0);
  const auto able = registry::supporting(problem.loss, problem.penalty);
  for (const registry::SolverEntry& entry : registry::solvers()) {
    SCOPED_TRACE(std::string(entry.name));
    if (std::find(able.begin(), able.end(), entry.name) == able.end()) {
      EXPECT_THROW(registry::choose(entry.name, problem), Error);
      continue;
    }
    const double tolerance = tolerance_of(entry.name, problem);
    const auto solver = entry.make(problem, {}, {.seed = 0});
    const run::Options options =
        promised(entry.name, {.tolerance = tolerance, .absolute_tolerance = tolerance, .max_passes = 100000});
    const run::Result result = run::run(problem, *solver, options);
    EXPECT_EQ(result.status, run::Status::optimal) << result.certificate.gap << " after " << result.passes;
    const auto value = static_cast<double>(objective_at(instance, result.w, result.b));
    const double allowed = std::max(tolerance, options.tolerance * value);
    EXPECT_LE(result.certificate.gap, allowed);
    EXPECT_LE(value - optimum, allowed + 1e-9);
    EXPECT_GE(value - optimum, -1e-9);
    EXPECT_GE(result.certificate.gap, value - optimum - 2e-11);  // how well the golden optimum is known
    EXPECT_LE(result.certificate.dual, optimum + 2e-11);
  }
}

Case with_data(const json& data, const std::string& labels) {
  return {.rows = data["X_rows"].get<std::vector<std::vector<double>>>(),
          .labels = data[labels].get<std::vector<double>>(),
          .storage = Storage::dense64};
}

TEST(OptimumGolden, Binary) {
  const json file = golden("optimum-binary.json");
  ASSERT_EQ(file["cases"].size(), 15u);
  for (const json& c : file["cases"]) {
    SCOPED_TRACE(c["loss"].get<std::string>() + " " + c["regularizer"].get<std::string>());
    Case setup = with_data(file["data"], c["labels"]);
    std::string name = c["loss"];
    std::replace(name.begin(), name.end(), '_', '-');
    loss::Any loss = *loss::by_name(name);
    if (auto* smooth = std::get_if<loss::SmoothHinge>(&loss)) smooth->gamma = c["params"]["gamma"];
    setup.settings.loss = loss;
    setup.settings.direct = penalty::Strength{.l1 = c["lambda1"], .l2 = c["lambda2"]};
    setup.settings.lambda = 0.0;
    setup.settings.bias = registry::Bias::none;
    const Instance instance = instance_of(setup);
    const auto w = c["w"].get<std::vector<double>>();
    const double optimum = c["objective"];
    EXPECT_NEAR(static_cast<double>(objective_at(instance, w, 0.0)), optimum, 1e-9) << "the reference is wrong";
    expect_optimum(setup, optimum);
  }
}

TEST(OptimumGolden, LassoWithFreeBias) {
  const json file = golden("optimum-structured.json");
  int found = 0;
  for (const json& c : file["cases"]) {
    if (c["name"] != "l1_logistic_bias" && c["name"] != "l1_squared_bias") continue;
    ++found;
    SCOPED_TRACE(c["name"].get<std::string>());
    Case setup = with_data(file["data"], c["labels"]);
    if (c["name"] == "l1_logistic_bias") {
      setup.settings.loss = loss::Logistic{};
    } else {
      setup.settings.loss = loss::Squared{};
    }
    setup.settings.penalty = penalty::L1{};
    setup.settings.lambda = c["lam"].get<double>();
    auto w = c["w"].get<std::vector<double>>();
    const double b = w.back(), optimum = c["objective"];
    w.pop_back();
    EXPECT_NEAR(static_cast<double>(objective_at(instance_of(setup), w, b)), optimum, 1e-9);
    expect_optimum(setup, optimum);
  }
  EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace fenchel::test
