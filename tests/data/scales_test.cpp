// The deviations of columns against a formula without cancellation, whatever the weights and the storage.
#include "fenchel/data/scales.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/random.hpp"
#include "tests/support/binary_samples.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test::scales_test {
namespace {

using Numbers = std::vector<double>;
using Rows = std::vector<Numbers>;

// All of these are exact in float32, too. Column 2 is constant; 3 is constant but for a zero in row 4; 4 is rare; 5 has
// a mean far larger than its deviation; 6 is zero but for row 4.
Rows sample() {
  Random random(3);
  Rows rows;
  for (std::size_t i = 0; i < 60; ++i) {
    const double noise = std::round(64 * random.normal()) / 64;
    const bool rare = random.below(8) == 0;
    rows.push_back({noise, std::fabs(noise) + 3, 5.5, i == 4 ? 0.0 : 5.5, rare ? noise : 0.0,
                    1048576.0 + static_cast<double>(i % 2) / 8, i == 4 ? 0.25 : 0.0});
  }
  return rows;
}

struct Kind {
  std::string_view name;
  double (*weight)(std::size_t row);
};

const std::vector<Kind> kinds{
    {"equal", [](std::size_t) { return 1.0; }},
    {"equal and no power of two", [](std::size_t) { return 0.1; }},
    {"unequal", [](std::size_t i) { return 0.3 + static_cast<double>(i % 7); }},
    {"tiny in row 4", [](std::size_t i) { return i == 4 ? 1e-300 : 1.0; }},
    {"small in row 4", [](std::size_t i) { return i == 4 ? 1e-13 : 1.0 + static_cast<double>(i % 3); }},
    {"tiny but in row 4", [](std::size_t i) { return i == 4 ? 1.0 : 1e-300; }},
    {"zero in row 4", [](std::size_t i) { return i == 4 ? 0.0 : 1.0; }},
    {"zero in every third", [](std::size_t i) { return i % 3 == 0 ? 0.0 : 1.0 + static_cast<double>(i % 5); }},
    {"over many orders", [](std::size_t i) { return std::pow(10.0, -5.0 * static_cast<double>(i)); }},
};

data::Dataset with_columns(const data::Dataset& dataset) {
  static std::vector<std::string> files;  // the data sets are views of them
  return data::opened(files.emplace_back(data::stored(dataset, {.columns = true})));
}

TEST(Scales, AreTheSameForAllStorageAndWeights) {
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    Case setup{.rows = sample(), .labels = Numbers(60, 1.0)};
    for (std::size_t i = 0; i < 60; ++i) setup.weights.push_back(kind.weight(i));
    const Numbers expected = deviations_of(setup.rows, setup.weights);
    for (const Storage storage : {Storage::csr64, Storage::dense64, Storage::csr32, Storage::dense32}) {
      setup.storage = storage;
      const data::Dataset plain = dataset_of(setup);
      for (const data::Dataset& dataset : {plain, with_columns(plain)}) {
        const Numbers scales = data::column_scales(dataset.matrix(), setup.weights);
        ASSERT_EQ(scales.size(), expected.size());
        for (std::size_t j = 0; j < scales.size(); ++j) {
          EXPECT_NEAR(scales[j], expected[j], 2e-15 * expected[j])
              << "column " << j << " storage " << static_cast<int>(storage);
        }
      }
    }
  }
}

// Nearly all of the weight on one number, and the rest next to it, in any order of rows.
TEST(Scales, DeviationsFarBelowTheRoundingOfTheMean) {
  const double up = std::nextafter(1.0, 2.0), down = std::nextafter(1.0, 0.0);
  for (const Numbers& values :
       {Numbers{1.0, up, down, 1.0}, {up, 1.0, 1.0, down}, {1e16, 1.0, up, 1.0}, {-1e300, 1.0, 1.0, 1.0}}) {
    for (std::size_t light = 0; light < 4; ++light) {
      Numbers weights(4, 1.0);
      weights[light] = values[light] == -1e300 ? 0.0 : 1e-200;
      if (values[0] == -1e300 && light != 0) continue;
      Rows rows;
      for (const double x : values) rows.push_back({x});
      const double expected = deviations_of(rows, weights)[0];
      const double found = data::column_scales(data::DenseRows<double>{values, 4, 1}, weights)[0];
      EXPECT_NEAR(found, expected, 1e-14 * expected) << values[0] << " " << light;
    }
  }
}

TEST(Scales, SquaresThatAreNoNormalDoublesAreRefused) {
  Case setup{.rows = {{1.0, 1e-155}, {2.0, 2e-155}, {3.0, 0.0}}, .labels = {1.0, -1.0, 1.0}};
  setup.settings.standardize = true;
  const data::Dataset dataset = dataset_of(setup);
  const std::string sentence = refusal(Fault::input, [&] { registry::Plan(dataset, setup.settings, {}, {}); });
  EXPECT_NE(sentence.find("feature 2 (counted from 1)"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("multiply the feature by 1e100"), std::string::npos) << sentence;
}

TEST(Scales, OthersThanTheDataHaveAreRefused) {
  Case setup{.rows = {{1.0, 1.0}, {2.0, 4.0}, {3.0, 0.0}}, .labels = {1.0, -1.0, 1.0}};
  setup.settings.standardize = true;
  const data::Dataset dataset = dataset_of(setup);
  Numbers scales = data::column_scales(dataset.matrix());
  EXPECT_NO_THROW(registry::Plan(dataset, setup.settings, {}, {}, scales));
  scales[1] *= 1 + 1e-10;
  const std::string sentence =
      refusal(Fault::input, [&] { registry::Plan(dataset, setup.settings, {}, {}, scales); });
  EXPECT_NE(sentence.find("the scale of feature 2 (counted from 1)"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace fenchel::test::scales_test
