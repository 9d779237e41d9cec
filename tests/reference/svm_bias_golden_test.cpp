// Support vector machines with and without a free bias against optima that were computed outside this library.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fenchel/registry/solvers.hpp"
#include "fenchel/run/run.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using nlohmann::json;

Case svm_case(const json& c) {
  Case setup{.rows = c["X"].get<std::vector<std::vector<double>>>(),
             .labels = c["y"].get<std::vector<double>>(),
             .storage = Storage::dense64};
  setup.settings.bias = c["bias"].get<bool>() ? registry::Bias::free : registry::Bias::none;
  setup.settings.lambda = c["lam"].get<double>();
  return setup;
}

TEST(SvmBiasGolden, BmrmReachesTheOptimum) {
  const json file = golden("svm_bias.json");
  ASSERT_GE(file["cases"].size(), 2u);
  for (const json& c : file["cases"]) {
    const Case setup = svm_case(c);
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::Problem problem = plan.problem(0);
    const auto bmrm = registry::choose("bmrm", problem).make(problem, {}, {});
    const run::Result result = run::run(problem, *bmrm, {.tolerance = 1e-12, .max_passes = 400});
    EXPECT_EQ(result.status, run::Status::optimal) << result.certificate.gap;
    EXPECT_NEAR(result.certificate.primal, c["J"].get<double>(), file["tolerance_J"].get<double>());
    const auto w = c["w"].get<std::vector<double>>();
    for (std::size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(result.w[j], w[j], file["tolerance_w"].get<double>());
  }
}

}  // namespace
}  // namespace fenchel::test
