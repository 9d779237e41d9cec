// Whether rows next to each other are more alike than any two.
#include "fenchel/data/neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fenchel/base/random.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::data {
namespace {

bool alike(const std::vector<std::vector<double>>& rows, test::Storage storage) {
  const test::Case setup{.rows = rows, .labels = std::vector<double>(rows.size(), 1.0), .storage = storage};
  const Dataset dataset = test::dataset_of(setup);
  return neighbours_are_alike(dataset.matrix());
}

TEST(Neighbours, SortedRowsAreAlikeAndShuffledOnesAreNot) {
  Random random(3);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < 300; ++i) {
    std::vector<double> row(40, 0.0);
    for (std::size_t j = 0; j < 5; ++j) row[(i / 10 + j) % 40] = 1.0 + random.uniform();
    rows.push_back(row);
  }
  for (const test::Storage storage : {test::Storage::csr64, test::Storage::dense64})
    EXPECT_TRUE(alike(rows, storage));
  random.shuffle(std::span(rows));
  for (const test::Storage storage : {test::Storage::csr64, test::Storage::dense64})
    EXPECT_FALSE(alike(rows, storage));
}

// All cosines are large where numbers are far from 0; angles tell then. Huge numbers overflow nothing.
TEST(Neighbours, AnglesTellWhereCosinesAreLarge) {
  for (const double scale : {1.0, 1e150}) {
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < 300; ++i) {
      std::vector<double> row(40, 3.0 * scale);
      for (std::size_t j = 0; j < 5; ++j) row[(i / 10 + j) % 40] += 2.0 * scale;
      rows.push_back(row);
    }
    EXPECT_TRUE(alike(rows, test::Storage::dense64));
    Random(5).shuffle(std::span(rows));
    EXPECT_FALSE(alike(rows, test::Storage::dense64));
  }
}

TEST(Neighbours, RowsWithoutEntriesAndFewRowsAreNoProblem) {
  EXPECT_TRUE(alike({{1.0, 0.0}, {0.0, 1.0}}, test::Storage::csr64));
  EXPECT_FALSE(alike(std::vector<std::vector<double>>(100, {0.0, 0.0}), test::Storage::csr64));
}

}  // namespace
}  // namespace fenchel::data
