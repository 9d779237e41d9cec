// Sums over lists of rows: what they are, and that the number of threads does not matter.
#include "fenchel/solver/row_sums.hpp"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "fenchel/solver/row_model.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using solver::RowSums;

// Every row has about a tenth of the entries, so that outer products are scattered.
Case sparse_setup(std::size_t n, std::size_t d) {
  Case setup = random_setup(loss::Hinge{}, n, d, Storage::csr64, 7);
  Random random(5);
  for (std::vector<double>& row : setup.rows) {
    for (double& value : row) value = random.below(10) == 0 ? 1.0 + static_cast<double>(random.below(8)) : 0.0;
  }
  return setup;
}

TEST(RowSums, ListsKeepTheirOrder) {
  std::vector<std::uint32_t> list(20000);
  LargeList rows{3};
  std::iota(list.begin(), list.end(), 10u);
  RowSums::append(
      list, [](std::uint32_t i) { return i % 3 == 0; }, rows);
  LargeList expected{3};
  for (const std::uint32_t i : list) {
    if (i % 3 == 0) expected.push_back(i);
  }
  EXPECT_EQ(rows, expected);
}

// Most of the work is in the last column.
Case heavy_end(std::size_t n, std::size_t d) {
  Case setup = random_setup(loss::Hinge{}, n, d, Storage::csr64, 7);
  for (std::size_t i = 0; i < n; ++i) {
    setup.rows[i].assign(d, 0.0);
    setup.rows[i][i % 40 == 0 ? i % d : d - 1] = 1.0 + static_cast<double>(i % 3);
  }
  return setup;
}

// Whole numbers: the sums are exact, in any order.
void check_outer_products(const Case& setup) {
  const std::size_t n = setup.rows.size(), columns = setup.rows.front().size();
  const data::Dataset dataset = dataset_of(setup);
  for (const double constant : {0.0, 2.0}) {
    const std::size_t d = columns + (constant != 0.0 ? 1 : 0);
    std::vector<double> change(n), expected(d * d, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      change[i] = static_cast<double>(i % 5) - 1.0;
      std::vector<double> row = setup.rows[i];
      row.resize(d, constant);
      for (std::size_t j = 0; j < d; ++j) {
        for (std::size_t k = j; k < d; ++k) expected[j * d + k] += change[i] * row[j] * row[k];
      }
    }
    for (const std::size_t threads : {1, 2, 7, 100}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      RowSums sums({.matrix = dataset.matrix(), .constant = constant});
      RowSums::Cut all;
      all.rows.resize(n);
      std::iota(all.rows.begin(), all.rows.end(), 0u);
      sums.bind(all);
      std::vector<double> lower(d * d, 0.0);
      sums.add_gram(all, change, lower);
      EXPECT_EQ(lower, expected) << threads << " threads, constant " << constant;
    }
  }
}

TEST(RowSumsParallel, OuterProductsOfSparseRows) { check_outer_products(sparse_setup(6000, 40)); }
TEST(RowSumsParallel, OuterProductsOfFewColumns) { check_outer_products(heavy_end(400000, 7)); }

// The hinge about the centre 0 with q = 1 has psi'' = 1 for y z in (0, 1).
TEST(RowModel, SecantsAreMeanCurvatures) {
  Case setup;
  setup.rows.assign(4, {1.0});
  setup.labels = {1.0, 1.0, 1.0, -1.0};
  setup.settings.loss = loss::Any(loss::Hinge{});
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const problem::Problem problem = plan.problem(0);
  solver::RowModel model(problem);
  const std::vector<std::uint32_t> list{0, 1, 2, 3};
  model.center(std::vector<double>(4, 0.0), 1.0);
  const std::vector<double> z{2.0, 0.5, 2.0, 1.0}, dz{-3.0, -4.0, 1.0, 0.0};
  std::vector<double> alpha(4), weight(4), secant(4), change(4, 7.0);
  model.locate(list, z, alpha, weight, change, false);
  EXPECT_EQ(change, (std::vector{0.0, 0.25 * 0.5, 0.0, 0.25 * -1.0}));  // of s alpha, from 0
  model.secants(list, z, dz, 0.5, alpha, weight, secant);
  EXPECT_DOUBLE_EQ(secant[0], 0.25 / 3.0);  // from 2 to 1/2: a third of the way is curved
  EXPECT_DOUBLE_EQ(secant[1], 0.25);        // inside at z: keeps its weight
  EXPECT_DOUBLE_EQ(secant[2], 0.0);         // moves away
  EXPECT_DOUBLE_EQ(secant[3], weight[3]);   // does not move
  // What follows a change that is pending comes on top of it.
  model.locate(list, std::vector<double>{0.75, 0.25, 2.0, 1.0}, alpha, weight, change, true);
  EXPECT_EQ(change, (std::vector{0.25 * 0.25, 0.25 * 0.75, 0.0, 0.25 * -1.0}));
}

TEST(Shares, OneNumberOrOneARow) {
  const std::vector<double> weights{1.0, 0.0, 3.0}, shares{0.25, 0.0, 0.75};
  const solver::Shares equal({.targets = {}, .weights = {}, .weight_sum = 3.0});
  const solver::Shares divided({.targets = {}, .weights = weights, .weight_sum = 4.0});
  const solver::Shares given({.targets = {}, .weights = shares, .weight_sum = 1.0});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(equal[i], 1.0 / 3.0);
    EXPECT_EQ(divided[i], shares[i]);
    EXPECT_EQ(given[i], shares[i]);
  }
}

}  // namespace
}  // namespace fenchel::test
