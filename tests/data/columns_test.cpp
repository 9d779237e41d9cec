// The column form is the transposed matrix: entry by entry, rows ascending, zeros left out.
#include "fenchel/data/columns.hpp"

#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include "fenchel/base/random.hpp"
#include "fenchel/data/binary.hpp"

namespace fenchel::data {
namespace {

using Entries = std::map<std::pair<std::size_t, std::size_t>, double>;  // by column and row

Entries entries_of(const Dataset& data) {
  Entries entries;
  std::visit(
      [&](const auto& m) {
        for (std::size_t i = 0; i < m.rows(); ++i) {
          m.row(i).for_each([&](std::size_t j, double x) {
            if (x != 0.0) entries[{j, i}] = x;
          });
        }
      },
      data.matrix());
  return entries;
}

void expect_transposed(const Dataset& data, const ColumnStorage& storage) {
  const Entries entries = entries_of(data);
  auto next = entries.begin();
  std::visit(
      [&](const auto& m) {
        ASSERT_EQ(m.rows(), data.rows());
        ASSERT_EQ(m.cols(), cols(data.matrix()));
        ASSERT_EQ(m.nonzeros(), entries.size());
        for (std::size_t j = 0; j < m.cols(); ++j) {
          m.column(j).for_each([&](std::size_t i, double x) {
            ASSERT_NE(next, entries.end());
            EXPECT_EQ(next->first, std::pair(j, i));
            EXPECT_EQ(next->second, x);
            ++next;
          });
        }
      },
      storage.matrix());
  EXPECT_EQ(next, entries.end());
}

template <class Value>
Dataset random_sparse(std::size_t n, std::uint32_t d, std::uint64_t one_in) {
  Random random(n + d);
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<Value> values;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < d; ++j) {
      if (random.below(one_in + j / 4) != 0) continue;  // columns of very different sizes
      columns.push_back(j);
      values.push_back(static_cast<Value>(random.normal()));
    }
    offsets.push_back(columns.size());
  }
  return {.storage = CsrStorage{offsets, columns, values, d}, .targets = std::vector<double>(n, 1.0), .query = {}};
}

template <class Value>
Dataset random_dense(std::size_t n, std::size_t d) {
  Random random(n + d);
  std::vector<Value> values(n * d);
  for (Value& value : values) value = static_cast<Value>(random.below(3)) - 1;
  return {.storage = DenseStorage{values, n, d}, .targets = std::vector<double>(n, 1.0), .query = {}};
}

TEST(Columns, AreTheTransposedMatrix) {
  for (const Dataset& data :
       {random_sparse<double>(300, 50, 3), random_sparse<float>(1000, 7, 1), random_sparse<float>(5, 900, 2),
        random_dense<double>(70, 9), random_dense<float>(3, 200)}) {
    expect_transposed(data, columns_of(data));
  }
}

TEST(Columns, EmptyMatrices) {
  const Dataset no_columns{
      .storage = CsrStorage{std::vector<std::uint64_t>{0, 0}, {}, {}, 0}, .targets = {}, .query = {}};
  expect_transposed(no_columns, columns_of(no_columns));
  const Dataset no_entries{
      .storage = CsrStorage{std::vector<std::uint64_t>{0, 0}, {}, {}, 9}, .targets = {}, .query = {}};
  expect_transposed(no_entries, columns_of(no_entries));
  const Dataset zeros{.storage = DenseStorage{std::vector<double>(12), 3, 4}, .targets = {}, .query = {}};
  expect_transposed(zeros, columns_of(zeros));
}

TEST(Columns, OfAMappedFileAreUsedInPlace) {
  const Dataset data = random_sparse<float>(500, 30, 2);
  StringSink sink;
  write_binary(sink, data, {.columns = true});
  Source source = Source::of_text(sink.text(), "f.fbin");
  const Dataset mapped = read_binary(source, {});
  const ColumnStorage columns = columns_of(mapped);
  ASSERT_NE(columns.guard, nullptr);
  EXPECT_GE(reinterpret_cast<const char*>(columns.offsets.data()), source.text().data());
  EXPECT_LT(reinterpret_cast<const char*>(columns.offsets.data()), source.text().data() + source.text().size());
  expect_transposed(data, columns);
}

// A model may know more columns than the file.
TEST(Columns, OfAWidenedMappedFileAreBuilt) {
  const Dataset data = random_sparse<float>(50, 30, 2);
  StringSink sink;
  write_binary(sink, data, {.columns = true});
  Source source = Source::of_text(sink.text(), "f.fbin");
  Dataset mapped = read_binary(source, {});
  std::get<CsrStorage>(mapped.storage).column_count = 77;
  expect_transposed(mapped, columns_of(mapped));
}

TEST(ColumnsParallel, DoNotDependOnThreads) {
  const Dataset data = random_sparse<double>(3000, 60, 2);
  const ColumnStorage many = columns_of(data);
  const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  const ColumnStorage single = columns_of(data);
  EXPECT_EQ(many.offsets, single.offsets);
  EXPECT_EQ(many.row_numbers, single.row_numbers);
  EXPECT_EQ(many.values, single.values);
}

}  // namespace
}  // namespace fenchel::data
