// The binary form: whatever was changed is found, at the latest before it is used.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/parallel_for.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/interval.hpp"
#include "fenchel/data/columns.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "tests/support/binary_repair.hpp"
#include "tests/support/binary_samples.hpp"

namespace fenchel::data {
namespace {

using test::put;
using test::repair;
using test::repair_header;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The header and the sections, which begin at pages; the rest of the pages is filling.
bool holds_something(std::size_t i) { return i % 4096 < (i < 4096 ? 360 : 56); }
// Of the filling, a part is enough.
bool worth_a_look(std::size_t i) { return holds_something(i) || i % 7 == 0; }

// All bits of what holds something, and one bit of bytes of the filling.
TEST(BinaryDamage, EveryFlippedBitIsFound) {
  for (const Dataset& data : {sparse_sample(), dense_sample()}) {
    std::string text = stored(data, {.columns = true});
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (!worth_a_look(i)) continue;
      const char before = text[i];
      const bool all = holds_something(i);
      for (std::size_t bit = all ? 0 : i % 8; bit < (all ? 8 : i % 8 + 1); ++bit) {
        text[i] = static_cast<char>(before ^ (1 << bit));
        EXPECT_NE(damage(text), "nothing was thrown") << "bit " << bit << " of byte " << i;
      }
      text[i] = before;
    }
  }
}

// Without verify(), what is not found is between the sections and changes nothing.
TEST(BinaryDamage, FlipsThatOpeningAndOnePassMissAreHarmless) {
  const Dataset data = sparse_sample();
  std::string text = stored(data);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!worth_a_look(i)) continue;
    text[i] ^= 16;
    try {
      const Dataset again = opened(text);
      EXPECT_EQ(fingerprint(again.matrix(), again.targets), fingerprint(data.matrix(), data.targets)) << i;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::input);
    }
    text[i] ^= 16;
  }
}

TEST(BinaryDamage, EveryTruncationIsRefused) {
  const std::string text = stored(sparse_sample());
  for (std::size_t size = 0; size < text.size(); ++size) {
    if (!worth_a_look(size)) continue;
    expect_says(refusal(std::string_view(text).substr(0, size)),
                size < 8 ? "is not in fenchel's binary format" : "is truncated");
  }
}

TEST(BinaryDamage, LongerIsRefused) {
  expect_says(refusal(stored(sparse_sample()) + '\0'), "is longer than it should be");
}

TEST(BinaryDamage, ForeignByteOrderAndVersions) {
  std::string text = stored(sparse_sample());
  std::reverse(text.begin() + 8, text.begin() + 12);
  expect_says(refusal(text), "other byte order");
  std::reverse(text.begin() + 8, text.begin() + 12);
  put<std::uint32_t>(text, 12, 2);
  expect_says(refusal(text), "has version 2 of the binary format, but this program reads version 1");
  expect_says(refusal(text.substr(0, 30)), "has version 2");  // whatever else a newer version looks like
  put<std::uint32_t>(text, 12, 0);
  expect_says(refusal(text), "damaged header");
}

TEST(BinaryDamage, ImpossibleHeadersAreRefusedBeforeAnythingIsAllocated) {
  const std::string sparse = stored(sparse_sample());
  const std::string dense = stored(dense_sample());
  constexpr std::uint64_t huge = 1000000000000000000;
  struct Case {
    const std::string& text;
    std::size_t offset;
    std::uint64_t number;
    std::string_view says;
  };
  const Case cases[] = {
      {sparse, 24, huge, "sections"},
      {sparse, 32, 0, "no rows"},
      {sparse, 32, huge, "impossible"},
      {sparse, 32, (1ULL << 48) - 1, "sections"},
      {sparse, 40, 1ULL << 31, "impossible"},
      {sparse, 48, huge, "impossible"},
      {sparse, 48, 7, "sections"},
      {sparse, 56, 6, "column form that is not there"},
      {sparse, 64, 0, "rows in a block"},
      {sparse, 64, 3, "rows in a block"},
      {sparse, 64, 8192, "rows in a block"},
      {sparse, 72, 1, "columns in a block"},
      {sparse, 80, 128, "unknown flags"},
      {sparse, 88, 2, "sections"},
      {sparse, 96, 8192, "sections"},
      {sparse, 96, huge, "sections"},
      {sparse, 104, 31, "sections"},
      {sparse, 4088, 1, "sections"},
      {dense, 32, 1ULL << 40, "number of values"},
      {dense, 40, 0, "number of values"},
      {dense, 48, 5, "number of values"},
  };
  for (const Case& c : cases) {
    std::string text = c.text;
    put(text, c.offset, c.number);
    repair_header(text);
    expect_says(refusal(text), c.says);
    expect_says(refusal(text), "make it again with `fenchel convert`");
  }
  std::string text = sparse;
  put<std::uint32_t>(text, 80, 1 | 4 | 8 | 16 | 32);
  repair_header(text);
  expect_says(refusal(text), "float32 and float64");
  text = dense;
  put<std::uint64_t>(text, 32, 1ULL << 40);
  put<std::uint64_t>(text, 40, 1ULL << 30);
  put<std::uint64_t>(text, 48, 0);  // what the product of the two is in 64 bits
  repair_header(text);
  expect_says(refusal(text), "impossible");
}

// Right checksums over wrong content: what only a faulty writer makes.
TEST(BinaryDamage, WrongContentWithRightChecksums) {
  const std::string sparse = stored(sparse_sample(), {.columns = true});
  const std::string dense = stored(dense_sample());
  const auto changed = [](std::string text, SectionKind kind, std::size_t index, auto number) {
    put(text, at(text, kind, index * sizeof(number)), number);
    repair(text);
    return text;
  };
  using U64 = std::uint64_t;
  using U32 = std::uint32_t;
  const auto order = "rows 1 to 4 are damaged: its offsets are out of order";
  expect_says(damage(changed(sparse, SectionKind::offsets, 0, U64{1})), order);
  expect_says(damage(changed(sparse, SectionKind::offsets, 1, U64{6})), order);
  expect_says(damage(changed(sparse, SectionKind::offsets, 2, U64{1})), order);
  expect_says(damage(changed(sparse, SectionKind::offsets, 2, ~U64{0})), order);
  expect_says(damage(changed(sparse, SectionKind::offsets, 4, U64{5})), order);
  expect_says(damage(changed(sparse, SectionKind::offsets, 4, U64{7})), order);
  expect_says(damage(changed(sparse, SectionKind::offsets, 4, ~U64{0})), order);
  const auto ascending = "not strictly ascending";
  expect_says(damage(changed(sparse, SectionKind::columns, 1, U32{0})), ascending);
  expect_says(damage(changed(sparse, SectionKind::columns, 3, U32{2})), ascending);
  expect_says(damage(changed(sparse, SectionKind::columns, 4, U32{0})), ascending);
  expect_says(damage(changed(sparse, SectionKind::columns, 5, U32{5})), "an index is too large");
  expect_says(damage(changed(sparse, SectionKind::columns, 1, ~U32{0})), "an index is too large");
  const auto value = "a value is not finite";
  for (const double wrong : {0.0, -0.0, nan, -nan, infinity, -infinity}) {
    for (const std::size_t k : {0, 3, 5})
      expect_says(damage(changed(sparse, SectionKind::values, k, wrong)), value);
  }
  for (const float wrong : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    for (const std::size_t k : {0, 5}) expect_says(damage(changed(dense, SectionKind::values, k, wrong)), value);
  }
  expect_says(damage(changed(sparse, SectionKind::targets, 3, nan)),
              "the labels of rows 1 to 4 are damaged: a target");
  expect_says(damage(changed(sparse, SectionKind::targets, 0, -infinity)), "a target is not finite");
  expect_says(damage(changed(sparse, SectionKind::query, 2, std::int64_t{-1})), "a qid is negative");
  // The column form: 0 and 2 in column 0, 2 in columns 1 and 2, 0 and 3 in column 3.
  expect_says(damage(changed(sparse, SectionKind::column_offsets, 1, U64{7})), "columns 1 to 5 are damaged");
  expect_says(damage(changed(sparse, SectionKind::column_rows, 1, U32{0})), ascending);
  expect_says(damage(changed(sparse, SectionKind::column_rows, 5, U32{4})), "an index is too large");
  expect_says(damage(changed(sparse, SectionKind::column_rows, 2, U32{3})), "not the same matrix");
  expect_says(damage(changed(sparse, SectionKind::column_values, 2, 5.0)), "not the same matrix");
}

// Empty rows at both ends and between: no border of theirs hides or makes a descent.
TEST(BinaryDamage, IndexesBesideEmptyRows) {
  const Dataset data{
      .storage = CsrStorage{std::vector<std::uint64_t>{0, 0, 0, 2, 2, 2, 4, 5, 5, 5},
                            std::vector<std::uint32_t>{1, 3, 2, 5, 0}, std::vector<double>(5, 0.1), 6},
      .targets = {},
      .query = {}};
  const std::string text = stored(data);
  verify(opened(text));
  const auto with = [&](std::size_t entry, std::uint32_t column) {
    std::string changed = text;
    put(changed, at(changed, SectionKind::columns, entry * sizeof column), column);
    repair(changed);
    return changed;
  };
  for (const auto& [entry, column] : {std::pair{0U, 3U}, {1U, 1U}, {2U, 5U}, {3U, 2U}})
    expect_says(damage(with(entry, column)), "not strictly ascending");
  for (const std::size_t last : {1, 3, 4}) expect_says(damage(with(last, 6)), "an index is too large");
  verify(opened(with(1, 2)));
  verify(opened(with(4, 5)));
}

TEST(BinaryDamage, DamageIsFoundByTheFirstPassThatTouchesItAndNotBefore) {
  std::string text = stored(long_sample());
  const std::size_t last = std::get<CsrStorage>(long_sample().storage).offsets.back() - 1;
  text[at(text, SectionKind::values, last * 4 + 1)] ^= 1;
  const Dataset data = opened(text);
  ASSERT_EQ(data.guard->rows_in_block(), 4096U);
  EXPECT_EQ(sum_of_row(data, 0), sum_of_row(long_sample(), 0));
  EXPECT_EQ(sum_of_row(data, 8191), sum_of_row(long_sample(), 8191));
  const std::string expected =
      "f.fbin: rows 8193 to 10000 are damaged: the checksum is wrong; make it again with `fenchel convert`";
  for (const std::size_t i : {9999, 8192, 9999}) {
    EXPECT_EQ(complaint([&] { sum_of_row(data, i); }), expected);
  }
  EXPECT_EQ(complaint([&] { verify(data); }), expected);
  EXPECT_EQ(complaint([&] { stored(data); }), expected);
  EXPECT_EQ(complaint([&] { columns_of(data); }), expected);
}

TEST(BinaryDamage, BlocksThatChangedPlacesAreFound) {
  // Two equal blocks of rows but for their number: their checksums differ.
  std::vector<double> values(3 * 4096, 1.5);
  const std::string text = stored({.storage = DenseStorage{values, 3 * 4096, 1}, .targets = {}, .query = {}});
  const auto at_checksums = at(text, SectionKind::row_checksums);
  EXPECT_NE(text.substr(at_checksums, 8), text.substr(at_checksums + 8, 8));
}

// --- threads ---

TEST(BinaryParallel, ManyThreadsMayTouchABlockFirst) {
  const Dataset expected = long_sample();
  const std::string text = stored(expected, {.columns = true});
  for (int round = 0; round < 5; ++round) {
    const Dataset data = opened(text);
    const ColumnStorage storage = columns_of(data);
    std::vector<double> sums(data.rows());
    oneapi::tbb::parallel_for(std::size_t{0}, data.rows(), [&](std::size_t k) {
      const std::size_t i = k * 7919 % data.rows();  // all blocks at once
      sums[i] = sum_of_row(data, i);
    });
    for (std::size_t i = 0; i < sums.size(); i += 501) EXPECT_EQ(sums[i], sum_of_row(expected, i));
    oneapi::tbb::parallel_for(std::size_t{0}, std::size_t{40}, [&](std::size_t j) {
      std::visit([&](const auto& m) { EXPECT_GT(m.column(j).nonzeros(), 0U); }, storage.matrix());
    });
  }
}

TEST(BinaryParallel, DamageEndsAParallelPass) {
  std::string text = stored(long_sample());
  text[at(text, SectionKind::columns, 20000)] ^= 4;
  for (int round = 0; round < 5; ++round) expect_says(damage(text), "are damaged: the checksum is wrong");
}

}  // namespace
}  // namespace fenchel::data
