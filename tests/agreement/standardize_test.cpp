// --standardize against its meaning: the same optimum as on data that were centred and scaled by hand.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/scales.hpp"
#include "fenchel/model/audit.hpp"
#include "fenchel/model/file.hpp"
#include "fenchel/registry/fit.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using Numbers = std::vector<double>;

// Columns of very different means and spreads; the third is constant, the fourth mostly 0.
Case uneven(std::uint64_t seed) {
  Random random(seed);
  Case setup{.rows = {}, .labels = {}};
  for (int i = 0; i < 80; ++i) {
    const double rare = random.below(5) == 0 ? 1e-3 * random.normal() : 0.0;
    setup.rows.push_back({1000.0 + 30.0 * random.normal(), 0.01 * random.normal(), 7.3, rare, random.normal()});
    const std::vector<double>& x = setup.rows.back();
    const double score = (x[0] - 1000.0) / 30.0 + 100.0 * x[1] + 300.0 * x[3] - x[4] + 0.5 * random.normal();
    setup.labels.push_back(score > 0.2 ? 1.0 : -1.0);
  }
  setup.settings.lambda = 0.05;
  return setup;
}

struct Moments {
  Numbers mean, deviation;
};

Moments moments(const Case& setup, const Numbers& weights) {
  const std::size_t d = setup.rows.front().size();
  Moments found{Numbers(d, 0.0), Numbers(d, 0.0)};
  double total = 0.0;
  for (const double c : weights) total += c;
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t i = 0; i < weights.size(); ++i) found.mean[j] += weights[i] * setup.rows[i][j] / total;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      found.deviation[j] += weights[i] * std::pow(setup.rows[i][j] - found.mean[j], 2) / total;
    }
    found.deviation[j] = std::sqrt(found.deviation[j]);
    if (found.deviation[j] < 1e-12 * std::fabs(found.mean[j])) found.deviation[j] = 1.0;
  }
  return found;
}

TEST(Standardize, ScalesAreWeightedDeviationsInEveryStorage) {
  Case setup = uneven(1);
  Numbers weights(setup.rows.size());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = i % 3 == 0 ? 0.0 : 1.0 + static_cast<double>(i % 5);
  for (const bool weighted : {false, true}) {
    const Moments expected = moments(setup, weighted ? weights : Numbers(setup.rows.size(), 1.0));
    for (const Storage storage : {Storage::csr64, Storage::dense64}) {
      setup.storage = storage;
      const data::Dataset dataset = dataset_of(setup);
      const Numbers scales = data::column_scales(dataset.matrix(), weighted ? weights : Numbers{});
      ASSERT_EQ(scales.size(), 5U);
      for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(scales[j], expected.deviation[j], 1e-12 * scales[j]) << j;
      EXPECT_EQ(scales[2], 1.0);
    }
  }
}

// The mean of many equal numbers is off by its rounding; their deviation must not be.
TEST(Standardize, ConstantColumnsAreFoundExactly) {
  constexpr std::size_t n = 150000;
  Numbers values;
  for (std::size_t i = 0; i < n; ++i) {
    values.push_back(0.1);
    values.push_back(static_cast<double>(i % 7));
    values.push_back(1e8 + static_cast<double>(i % 2));
  }
  const data::DenseRows<double> rows{values, n, 3};
  const Numbers scales = data::column_scales(rows);
  EXPECT_EQ(scales[0], 1.0);
  EXPECT_NEAR(scales[1], 2.0, 1e-4);
  EXPECT_NEAR(scales[2], 0.5, 1e-9);
  const Numbers huge{1e200, -1e200, 1e200, 3.0};
  EXPECT_THROW(data::column_scales(data::DenseRows<double>{huge, 4, 1}), Error);
}

struct Kind {
  std::string_view name;
  loss::Any loss;
  penalty::Any penalty;
  registry::Bias bias;
};

class StandardizeOf : public ::testing::TestWithParam<Kind> {};

TEST_P(StandardizeOf, IsTheProblemOnDataScaledByHand) {
  Case raw = uneven(2);
  raw.settings.loss = GetParam().loss;
  raw.settings.penalty = GetParam().penalty;
  raw.settings.bias = GetParam().bias;
  raw.weights = Numbers(raw.rows.size(), 1.0);
  for (std::size_t i = 0; i < raw.weights.size(); ++i) raw.weights[i] = 1.0 + static_cast<double>(i % 4);
  raw.factors = {1.0, 2.0, 1.0, 0.5, 1.0};
  const Moments known = moments(raw, raw.weights);
  const bool centred = raw.settings.bias == registry::Bias::free;
  Case scaled = raw;
  for (Numbers& row : scaled.rows) {
    for (std::size_t j = 0; j < row.size(); ++j)
      row[j] = (row[j] - (centred ? known.mean[j] : 0.0)) / known.deviation[j];
  }
  raw.settings.standardize = true;

  const data::Dataset raw_data = dataset_of(raw), scaled_data = dataset_of(scaled);
  const registry::Plan raw_plan(raw_data, raw.settings, raw.weights, raw.factors);
  const registry::Plan scaled_plan(scaled_data, scaled.settings, scaled.weights, scaled.factors);
  const run::Options options{.tolerance = 1e-8, .max_passes = 200000};
  registry::Fit raw_fit = registry::fit(raw_plan, options);
  const registry::Fit scaled_fit = registry::fit(scaled_plan, options);
  ASSERT_EQ(raw_fit.status, run::Status::optimal);
  ASSERT_EQ(scaled_fit.status, run::Status::optimal);
  EXPECT_NEAR(raw_fit.total.primal, scaled_fit.total.primal, raw_fit.total.gap + scaled_fit.total.gap + 1e-13);
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_NEAR(raw_fit.outputs[0].w[j] * known.deviation[j], scaled_fit.outputs[0].w[j], 2e-3) << j;
  }

  // A model remembers the scales, certifies again, and refuses others.
  const model::Model model = model::make_model(raw_plan, std::move(raw_fit), raw_data);
  const model::Model again = model::deserialize(model::serialize(model), "m");
  EXPECT_EQ(again.scales, model.scales);
  EXPECT_TRUE(model::audit(again, raw_data).certified) << model::audit(again, raw_data).reason;
  model::Model forged = again;
  forged.scales[0] *= 1.001;
  EXPECT_FALSE(model::audit(forged, raw_data).certified);
  forged = again;
  forged.settings.standardize = false;
  EXPECT_FALSE(model::audit(forged, raw_data).certified);
  forged.scales.clear();
  EXPECT_FALSE(model::audit(forged, raw_data).certified);
}

INSTANTIATE_TEST_SUITE_P(
    All, StandardizeOf,
    ::testing::Values(Kind{"HingeL2Free", loss::Hinge{}, penalty::L2{}, registry::Bias::free},
                      Kind{"LogisticElasticFree", loss::Logistic{}, penalty::ElasticNet{}, registry::Bias::free},
                      Kind{"LogisticL1Free", loss::Logistic{}, penalty::L1{}, registry::Bias::free},
                      Kind{"SquaredHingeL2Regularized", loss::SquaredHinge{}, penalty::L2{},
                           registry::Bias::regularized},
                      Kind{"SquaredElasticNone", loss::Squared{}, penalty::ElasticNet{}, registry::Bias::none}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace fenchel::test
