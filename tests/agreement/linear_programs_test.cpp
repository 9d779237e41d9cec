// interior-point on linear programs whose columns have very different scales: a weight that looks like none may decide.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fenchel/registry/fit.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

void scale_columns(Case& setup, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> scales(setup.rows.front().size());
  for (double& scale : scales) scale = std::pow(10.0, static_cast<double>(random.below(9)) - 3.0);
  for (auto& row : setup.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) row[j] *= scales[j];
  }
}

TEST(LinearPrograms, ColumnsOfVeryDifferentScalesAreSolved) {
  const std::vector<loss::Any> losses{loss::Hinge{}, loss::Absolute{}, loss::Quantile{},
                                      loss::EpsilonInsensitive{}};
  for (std::uint64_t seed = 0; seed < 48; ++seed) {
    const loss::Any& loss = losses[seed % losses.size()];
    Case setup = random_setup(loss, 10 + seed, 4 + seed % 11, Storage::dense64, 300 + seed);
    scale_columns(setup, seed);
    setup.settings.penalty = penalty::L1{};
    setup.settings.lambda = std::pow(10.0, -1.0 - static_cast<double>(seed % 4));
    setup.settings.bias = seed % 3 == 0 ? registry::Bias::none : registry::Bias::free;
    setup.settings.solver = "interior-point";
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const registry::Fit fit = registry::fit(plan, {.tolerance = 1e-7, .max_passes = 5000});
    EXPECT_EQ(fit.status, run::Status::optimal)
        << title(loss) << " seed " << seed << " relative gap " << fit.total.relative_gap();
  }
}

}  // namespace
}  // namespace fenchel::test
