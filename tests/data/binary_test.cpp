// The binary form: what was written comes back bit for bit and in place.
#include "fenchel/data/binary.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "tests/support/binary_samples.hpp"

namespace fenchel::data {
namespace {

TEST(Binary, RoundTrip) {
  for (const Dataset& data : {sparse_sample(), dense_sample(), long_sample()}) {
    for (const bool columns : {false, true}) {
      const std::string text = stored(data, {.columns = columns});
      EXPECT_TRUE(is_binary(text));
      const Dataset again = opened(text);
      verify(again);
      expect_same(data, again);
      EXPECT_EQ(stored(again, {.columns = columns}), text);  // from the mapped columns, too
    }
  }
}

TEST(Binary, RoundTripOfExtremes) {
  // Neither targets nor qids; all rows empty; no columns at all; one row; one value.
  const Dataset nothing{
      .storage = CsrStorage{std::vector<std::uint64_t>{0, 0, 0}, {}, Values{std::vector<float>{}}, 0},
      .targets = {},
      .query = {}};
  const Dataset labels{.storage = DenseStorage{Values{std::vector<double>{}}, 3, 0},
                       .targets = std::vector<double>{1, 2, 3},
                       .query = {}};
  const Dataset wide{.storage = CsrStorage{std::vector<std::uint64_t>{0, 1}, std::vector<std::uint32_t>{2147483646},
                                           std::vector<float>{1}, 2147483647},
                     .targets = std::vector<double>{1},
                     .query = {}};
  for (const Dataset& data : {nothing, labels, wide}) {
    const Dataset again = opened(stored(data));
    verify(again);
    expect_same(data, again);
  }
  verify(opened(stored(nothing, {.columns = true})));
  verify(opened(stored(labels, {.columns = true})));
}

TEST(Binary, NoRowsAreRefusedByTheWriter) {
  StringSink sink;
  EXPECT_THROW(write_binary(sink, Dataset{}), Error);
  const Dataset nothing{.storage = DenseStorage{Values{std::vector<double>{}}, 3, 0}, .targets = {}, .query = {}};
  EXPECT_THROW(write_binary(sink, nothing), Error);
  EXPECT_EQ(sink.text(), "");
}

// So that a block that was hashed is still near the processor when it is checked and used.
TEST(Binary, BlocksFitIntoTheSecondCache) {
  for (const std::uint64_t in_row : {12, 64, 150, 3000, 200000}) {
    const std::uint64_t in_block = lines_in_block(100000, 100000 * in_row);
    EXPECT_LE(in_block * in_row, 256U << 10);
    EXPECT_TRUE(in_block == most_lines_in_block || in_block * in_row > 128U << 10) << in_row;
  }
}

TEST(Binary, ARowMayBeLongerThanABlock) {
  constexpr std::uint32_t width = 400000;
  std::vector<std::uint32_t> columns(width);
  for (std::uint32_t j = 0; j < width; ++j) columns[j] = j;
  const Dataset data{.storage = CsrStorage{std::vector<std::uint64_t>{0, width, width, width + 1},
                                           [&] {
                                             auto c = columns;
                                             c.push_back(5);
                                             return c;
                                           }(),
                                           std::vector<double>(width + 1, 0.1), width},
                     .targets = std::vector<double>{1, 2, 3},
                     .query = {}};
  const Dataset again = opened(stored(data));
  EXPECT_EQ(again.guard->rows_in_block(), 1U);
  verify(again);
  expect_same(data, again);
}

TEST(Binary, ValuesAreUsedInPlace) {
  Source source = Source::of_text(stored(long_sample()), "f.fbin");
  const Dataset data = read_binary(source, {});
  const auto& values = std::get<Array<float>>(std::get<CsrStorage>(data.storage).values);
  EXPECT_GE(reinterpret_cast<const char*>(values.data()), source.text().data());
  EXPECT_LT(reinterpret_cast<const char*>(values.data()), source.text().data() + source.text().size());
}

TEST(Binary, FromAPipe) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    const std::string text = stored(sparse_sample(), {.columns = true});
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t written = ::write(ends[1], rest.data(), std::min<std::size_t>(rest.size(), 1000));
      if (written <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    ::close(ends[1]);
  });
  Source source("/dev/fd/" + std::to_string(ends[0]));
  const Dataset data = read_binary(source, {});
  writer.join();
  ::close(ends[0]);
  verify(data);
  expect_same(sparse_sample(), data);
}

TEST(Binary, SectionsAreAlignedAndNamed) {
  const std::string text = stored(sparse_sample(), {.columns = true});
  const std::vector<BinarySection> sections = binary_sections(opened(text));
  ASSERT_EQ(sections.size(), 11U);
  for (const BinarySection& section : sections) EXPECT_EQ(section.offset % 4096, 0U) << section.name;
  EXPECT_EQ(sections.back().offset + sections.back().bytes, text.size());
  EXPECT_TRUE(binary_sections(sparse_sample()).empty());
}

TEST(Binary, SinglePrecisionOnDemand) {
  Dataset data = sparse_sample();
  std::get<CsrStorage>(data.storage).values = std::vector<double>{0.1, 2, -3, 1e-320, 1e-50, 6};
  const Dataset narrow = opened(stored(data), {.precision = Precision::f32});
  EXPECT_EQ(narrow.precision, Precision::f32);
  const auto& csr = std::get<CsrStorage>(narrow.storage);
  EXPECT_TRUE(same_bits(csr.values, Values{std::vector<float>{0.1F, 2, -3, 6}}));  // what became 0 is not stored
  EXPECT_TRUE(same_bits(csr.columns, Array<std::uint32_t>(std::vector<std::uint32_t>{0, 3, 0, 3})));
  EXPECT_TRUE(same_bits(csr.offsets, Array<std::uint64_t>(std::vector<std::uint64_t>{0, 2, 2, 3, 4})));
  const std::string huge = stored(sparse_sample());
  expect_says(complaint([&] { opened(huge, {.precision = Precision::f32}); }),
              "overflows a float32: use --precision f64");
  // Floats stay where they are.
  const Dataset floats = opened(stored(long_sample()), {.precision = Precision::f32});
  EXPECT_EQ(floats.precision, Precision::f32);
  EXPECT_NE(floats.guard, nullptr);
  // A file about float32 stays one.
  EXPECT_EQ(opened(stored(dense_sample())).precision, Precision::f32);
}

TEST(Binary, SinglePrecisionOfDamagedDataIsRefused) {
  std::string text = stored(sparse_sample());
  text[at(text, SectionKind::values)] ^= 1;
  expect_says(complaint([&] { opened(text, {.precision = Precision::f32}); }), "rows 1 to 4 are damaged");
}

TEST(Binary, IndexBaseOfTheFileHolds) {
  const std::string text = stored(sparse_sample());
  EXPECT_EQ(opened(text, {.index_base = 1}).index_base, 1);
  expect_says(opened(text, {.index_base = 0}).remark, "counts columns from 1 and the model from 0");
  expect_says(opened(stored(dense_sample()), {.index_base = 1}).remark,
              "counts columns from 0 and the model from 1");
  EXPECT_EQ(opened(text, {.index_base = 1}).remark, "");
}

}  // namespace
}  // namespace fenchel::data
