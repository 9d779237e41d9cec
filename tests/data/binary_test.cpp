// The binary form: what was written comes back bit for bit and in place; whatever was changed is found, at the
// latest before it is used.
#include "fenchel/data/binary.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/parallel_for.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/interval.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/binary_layout.hpp"
#include "fenchel/data/columns.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "tests/support/binary_repair.hpp"

namespace fenchel::data {
namespace {

using test::put;
using test::repair;
using test::repair_header;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::string stored(const Dataset& data, const BinaryOptions& options = {}) {
  StringSink sink;
  write_binary(sink, data, options);
  return sink.text();
}

Dataset opened(std::string_view text, const ReadOptions& options = {}) {
  Source source = Source::of_text(text, "f.fbin");
  return read_binary(source, options);
}

// The sentence of the Error(Fault::input) that this must throw.
std::string complaint(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::input) << error.what();
    EXPECT_TRUE(std::string_view(error.what()).starts_with("f.fbin: ")) << error.what();
    return error.what();
  }
  return "nothing was thrown";
}
std::string refusal(std::string_view text) {
  return complaint([&] { opened(text); });
}
std::string damage(std::string_view text) {
  return complaint([&] { verify(opened(text)); });
}

void expect_says(const std::string& sentence, std::string_view words) {
  EXPECT_NE(sentence.find(words), std::string::npos) << sentence << "\nlacks: " << words;
}

template <class T>
bool same_bits(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
bool same_bits(const Values& a, const Values& b) {
  return a.index() == b.index() &&
         std::visit([&]<class A>(const A& values) { return same_bits(values, std::get<A>(b)); }, a);
}

void expect_same(const Dataset& a, const Dataset& b) {
  ASSERT_EQ(a.storage.index(), b.storage.index());
  EXPECT_TRUE(same_bits(a.targets, b.targets));
  EXPECT_TRUE(same_bits(a.query, b.query));
  EXPECT_EQ(a.index_base, b.index_base);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(cols(a.matrix()), cols(b.matrix()));
  std::visit(
      [&](const auto& s) {
        EXPECT_TRUE(same_bits(s.values, std::get<std::decay_t<decltype(s)>>(b.storage).values));
      },
      a.storage);
  if (const auto* const csr = std::get_if<CsrStorage>(&a.storage)) {
    EXPECT_TRUE(same_bits(csr->offsets, std::get<CsrStorage>(b.storage).offsets));
    EXPECT_TRUE(same_bits(csr->columns, std::get<CsrStorage>(b.storage).columns));
  }
}

// 4 x 5, with an empty row and an empty last column.
Dataset sparse_sample() {
  return {
      .storage = CsrStorage{std::vector<std::uint64_t>{0, 2, 2, 5, 6}, std::vector<std::uint32_t>{0, 3, 0, 1, 2, 3},
                            std::vector<double>{0.1, 2, -3, 5e-324, 1.7e308, 6}, 5},
      .targets = std::vector<double>{1, -1, 0.5, -0.0},
      .query = std::vector<std::int64_t>{3, 3, 1, std::numeric_limits<std::int64_t>::max()}};
}

Dataset dense_sample() {
  return {.storage = DenseStorage{std::vector<float>{1, 0, -0.0F, 4, 5.5F, 1e-45F}, 2, 3},
          .targets = std::vector<double>{1, 2},
          .query = {},
          .index_base = 0,
          .precision = Precision::f32};
}

// Three blocks of rows.
Dataset long_sample() {
  constexpr std::size_t n = 10000;
  Random random(7);
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  std::vector<double> targets;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < 40; ++j) {
      if (random.below(10) != 0) continue;
      columns.push_back(j);
      values.push_back(static_cast<float>(1 + random.below(1000)) / 7);
    }
    offsets.push_back(columns.size());
    targets.push_back(static_cast<double>(random.below(2)));
  }
  return {.storage = CsrStorage{offsets, columns, values, 40}, .targets = targets, .query = {}};
}

std::size_t at(std::string_view text, SectionKind kind, std::size_t byte = 0) {
  return decode_header(text, "at").find(kind)->offset + byte;
}

double sum_of_row(const Dataset& data, std::size_t i) {
  double sum = 0.0;
  std::visit([&](const auto& m) { m.row(i).for_each([&](std::size_t, double x) { sum += x; }); }, data.matrix());
  return sum;
}

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
  expect_says(complaint([&] { opened(text, {.index_base = 0}); }), "counted from 1");
  expect_says(complaint([&] { opened(stored(dense_sample()), {.index_base = 1}); }), "counted from 0");
}

// --- damage ---

// One bit of every byte, and all of those that hold the header and the beginnings of the sections.
TEST(Binary, EveryFlippedBitIsFound) {
  for (const Dataset& data : {sparse_sample(), dense_sample()}) {
    std::string text = stored(data, {.columns = true});
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char before = text[i];
      const bool all = i % 4096 < (i < 4096 ? 360 : 56);
      for (std::size_t bit = all ? 0 : i % 8; bit < (all ? 8 : i % 8 + 1); ++bit) {
        text[i] = static_cast<char>(before ^ (1 << bit));
        EXPECT_NE(damage(text), "nothing was thrown") << "bit " << bit << " of byte " << i;
      }
      text[i] = before;
    }
  }
}

// Without verify(), what is not found is between the sections and changes nothing.
TEST(Binary, FlipsThatOpeningAndOnePassMissAreHarmless) {
  const Dataset data = sparse_sample();
  std::string text = stored(data);
  for (std::size_t i = 0; i < text.size(); ++i) {
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

TEST(Binary, EveryTruncationIsRefused) {
  const std::string text = stored(sparse_sample());
  for (std::size_t size = 0; size < text.size(); ++size) {
    expect_says(refusal(std::string_view(text).substr(0, size)),
                size < 8 ? "is not in fenchel's binary format" : "is truncated");
  }
}

TEST(Binary, LongerIsRefused) {
  expect_says(refusal(stored(sparse_sample()) + '\0'), "is longer than it should be");
}

TEST(Binary, ForeignByteOrderAndVersions) {
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

TEST(Binary, ImpossibleHeadersAreRefusedBeforeAnythingIsAllocated) {
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
TEST(Binary, WrongContentWithRightChecksums) {
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
  expect_says(refusal(changed(sparse, SectionKind::targets, 3, nan)),
              "the labels of rows 1 to 4 are damaged: a target");
  expect_says(refusal(changed(sparse, SectionKind::targets, 0, -infinity)), "a target is not finite");
  expect_says(refusal(changed(sparse, SectionKind::query, 2, std::int64_t{-1})), "a qid is negative");
  // The column form: 0 and 2 in column 0, 2 in columns 1 and 2, 0 and 3 in column 3.
  expect_says(damage(changed(sparse, SectionKind::column_offsets, 1, U64{7})), "columns 1 to 5 are damaged");
  expect_says(damage(changed(sparse, SectionKind::column_rows, 1, U32{0})), ascending);
  expect_says(damage(changed(sparse, SectionKind::column_rows, 5, U32{4})), "an index is too large");
  expect_says(damage(changed(sparse, SectionKind::column_rows, 2, U32{3})), "not the same matrix");
  expect_says(damage(changed(sparse, SectionKind::column_values, 2, 5.0)), "not the same matrix");
}

TEST(Binary, DamageIsFoundByTheFirstPassThatTouchesItAndNotBefore) {
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

TEST(Binary, BlocksThatChangedPlacesAreFound) {
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
