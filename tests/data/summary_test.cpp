// What `fenchel info` says of data.
#include "fenchel/data/summary.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include "fenchel/base/random.hpp"

namespace fenchel::data::summary_test {
namespace {

Dataset dense(std::size_t n, std::size_t d, std::vector<double> values, std::vector<double> targets = {}) {
  return {.storage = DenseStorage{std::move(values), n, d}, .targets = std::move(targets), .query = {}};
}

// The same numbers as sparse rows.
Dataset sparse(const Dataset& data) {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  const auto m = std::get<DenseRows<double>>(data.matrix());
  for (std::size_t i = 0; i < m.rows(); ++i) {
    m.row(i).for_each([&](std::size_t j, double x) {
      if (x == 0.0) return;
      columns.push_back(static_cast<std::uint32_t>(j));
      values.push_back(x);
    });
    offsets.push_back(values.size());
  }
  return {.storage = CsrStorage{offsets, columns, values, m.cols()}, .targets = data.targets, .query = {}};
}

std::vector<std::string> flags(const Dataset& data) {
  std::vector<std::string> list;
  for (const Suggestion& suggestion : suggestions(summarize(data))) list.push_back(suggestion.flag);
  return list;
}
using Flags = std::vector<std::string>;

TEST(Summary, OfASmallMatrix) {
  const Dataset data = dense(5, 6,
                             {
                                 3,  0, 7, 4, 3,  0,     //
                                 0,  0, 7, 0, 0,  0,     //
                                 3,  0, 7, 4, 3,  0,     //
                                 0,  0, 7, 0, 0,  -0.0,  //
                                 -1, 0, 7, 0, -1, 2,     //
                             },
                             {1, 2, 2, 2, 5});
  for (const Dataset& form : {data, sparse(data)}) {
    const Summary s = summarize(form);
    EXPECT_EQ(s.rows, 5U);
    EXPECT_EQ(s.columns, 6U);
    EXPECT_EQ(s.nonzeros, 14U);
    EXPECT_DOUBLE_EQ(s.density, 14.0 / 30);
    EXPECT_EQ(s.row_nonzeros.smallest, 1);
    EXPECT_EQ(s.row_nonzeros.largest, 4);
    EXPECT_DOUBLE_EQ(s.row_nonzeros.mean, 2.8);
    EXPECT_DOUBLE_EQ(s.row_norms.smallest, 7);
    EXPECT_DOUBLE_EQ(s.row_norms.largest, std::sqrt(83.0));
    EXPECT_DOUBLE_EQ(s.row_norms.mean, (14 + 2 * std::sqrt(83.0) + std::sqrt(55.0)) / 5);
    EXPECT_EQ(s.values.smallest, -1);
    EXPECT_EQ(s.values.largest, 7);
    EXPECT_EQ(s.empty_rows, 0U);
    EXPECT_EQ(s.duplicate_rows, 2U);
    EXPECT_EQ(s.empty_columns.first, std::vector<std::size_t>{1});
    EXPECT_EQ(s.constant_columns.first, std::vector<std::size_t>{2});
    EXPECT_EQ(s.duplicate_columns.first, std::vector<std::size_t>{4});
    EXPECT_DOUBLE_EQ(s.small_scale, 2);
    EXPECT_DOUBLE_EQ(s.large_scale, 7);
    ASSERT_TRUE(s.labels);
    EXPECT_EQ(s.labels->distinct, 3U);
    EXPECT_EQ(s.labels->smallest, 1);
    EXPECT_EQ(s.labels->median, 2);
    EXPECT_EQ(s.labels->largest, 5);
    const std::vector<std::pair<double, std::size_t>> counts{{2, 3}, {1, 1}, {5, 1}};
    EXPECT_EQ(s.labels->most_frequent, counts);
    EXPECT_EQ(s.labels->least_count, 1U);
  }
}

TEST(Summary, EntriesThatOnlyChangedPlacesAreNoDuplicates) {
  const Summary s = summarize(dense(4, 4, {1, 2, 0, 0, 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(s.duplicate_rows, 0U);
  EXPECT_EQ(s.duplicate_columns.count, 0U);
}

TEST(Summary, EmptyRowsAndColumnsAreNoDuplicates) {
  const Summary s = summarize(dense(3, 40, std::vector<double>(120)));
  EXPECT_EQ(s.empty_rows, 3U);
  EXPECT_EQ(s.duplicate_rows, 0U);
  EXPECT_EQ(s.empty_columns.count, 40U);
  EXPECT_EQ(s.empty_columns.first.size(), ColumnKind::most_listed);
  EXPECT_EQ(s.duplicate_columns.count, 0U);
  EXPECT_EQ(s.constant_columns.count, 0U);
  EXPECT_FALSE(s.labels);
  EXPECT_TRUE(suggestions(s).empty());
}

TEST(Summary, RowsWithoutColumns) {
  const Summary s = summarize(dense(2, 0, {}, {1, 2}));
  EXPECT_EQ(s.empty_rows, 2U);
  EXPECT_EQ(s.density, 0.0);
}

TEST(Summary, NothingIsSuggestedWithoutReason) {
  EXPECT_EQ(flags(dense(3, 2, {1, 100, 0, 3, 5, 1}, {1, 2, 2})), Flags{"--standardize"});  // a norm above 100
  EXPECT_EQ(flags(dense(3, 2, {1, 90, 0, 3, 5, 1}, {1, 2, 2})), Flags{});
}

TEST(Summary, Suggestions) {
  EXPECT_EQ(flags(dense(2, 2, {0.01, 2, 0.01, 2}, {1, 2})), Flags{"--standardize"});
  EXPECT_EQ(flags(dense(2, 2, {0.02, 2, 0.02, 2}, {1, 2})), Flags{});  // 100 times, not more
  EXPECT_EQ(flags(dense(3, 1, {1, 1, 1}, {1, 2.5, 2})), Flags{"--loss squared"});
  std::vector<double> labels(12, 1.0);
  labels[0] = 2;
  EXPECT_EQ(flags(dense(12, 1, std::vector<double>(12, 1.0), labels)), Flags{"--class-weight balanced"});
  labels.pop_back();  // 10 to 1 is still in order
  EXPECT_EQ(flags(dense(11, 1, std::vector<double>(11, 1.0), labels)), Flags{});
  std::vector<double> counts(150);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<double>(i);
  EXPECT_EQ(flags(dense(150, 1, std::vector<double>(150, 1.0), counts)), Flags{"--loss squared"});
}

// One column in a hundred may be as it likes.
TEST(Summary, ScalesLeaveOutliersApart) {
  std::vector<double> row(200, 1.0);
  row[7] = 1e6;
  row[9] = 1e-6;
  const Summary s = summarize(dense(1, 200, row));
  EXPECT_EQ(s.small_scale, 1.0);
  EXPECT_EQ(s.large_scale, 1.0);
}

TEST(SummaryParallel, DoesNotDependOnThreads) {
  Random random(3);
  std::vector<double> values(20000 * 9);
  for (double& value : values) value = random.below(3) == 0 ? random.normal() : 0.0;
  const Dataset data = dense(20000, 9, values, std::vector<double>(20000, 1.0));
  const Summary many = summarize(data);
  const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  const Summary single = summarize(data);
  EXPECT_EQ(many.row_norms.mean, single.row_norms.mean);
  EXPECT_EQ(many.small_scale, single.small_scale);
  EXPECT_EQ(many.large_scale, single.large_scale);
  EXPECT_EQ(many.duplicate_rows, single.duplicate_rows);
  EXPECT_EQ(many.nonzeros, single.nonzeros);
}

}  // namespace
}  // namespace fenchel::data::summary_test
