// Texts of several pieces: the same arrays whether mapped or streamed, by one thread or many, on the fast way or the
// careful one; and the right place for what is wrong deep inside.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/digits.hpp"
#include "fenchel/data/list.hpp"
#include "fenchel/data/marks.hpp"
#include "fenchel/data/pieces.hpp"
#include "fenchel/data/svmlight.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/streams.hpp"

namespace fenchel::data::svmlight_large_test {
namespace {

struct TextSizes {
  std::size_t rows = piece_bytes / 35;
  bool halves = false;  // values that are exact in float
};

std::string random_text(const TextSizes& sizes) {
  Random random(7);
  std::string text;
  for (std::size_t i = 0; i < sizes.rows; ++i) {
    text += i % 3 == 0 ? "+1" : i % 3 == 1 ? "-1" : "2.5";
    std::uint64_t index = 0;
    const std::uint64_t entries = random.below(40);
    for (std::uint64_t k = 0; k < entries; ++k) {
      index += 1 + random.below(k % 5 == 0 ? 10000 : 10);
      const double value = sizes.halves ? static_cast<double>(random.below(64)) / 2 : random.normal();
      switch (random.below(4)) {
        case 0: text += fmt::format(" {}:{}", index, value); break;
        case 1: text += fmt::format(" {}:{:.4f}", index, sizes.halves ? value : value / 10); break;
        case 2: text += fmt::format(" {}:{}", index, random.below(2)); break;
        default: text += fmt::format(" {}:-{}.5", index, random.below(100000)); break;
      }
    }
    if (i % 11 == 0) text += " ";
    if (i % 31 == 0) text += "# a: comment: with colons";
    text += i % 7 == 0 ? "\r\n" : "\n";
    if (i % 43 == 0) text += "\n# only a comment\n";
  }
  return text;
}

Dataset whole(const std::string& text, const ReadOptions& options = {}) {
  Source source = Source::of_text(text, "f");
  return read_svmlight(source, options);
}
Dataset streamed(const std::string& text, const ReadOptions& options = {}) {
  Source source = test::stream_of(text, "f", piece_bytes / 10);
  return read_svmlight(source, options);
}
const CsrStorage& csr_of(const Dataset& data) { return std::get<CsrStorage>(data.storage); }

void expect_equal(const Dataset& a, const Dataset& b) {
  EXPECT_TRUE(csr_of(a).offsets == csr_of(b).offsets);
  EXPECT_TRUE(csr_of(a).columns == csr_of(b).columns);
  EXPECT_TRUE(csr_of(a).values == csr_of(b).values);
  EXPECT_EQ(csr_of(a).column_count, csr_of(b).column_count);
  EXPECT_TRUE(a.targets == b.targets);
  EXPECT_EQ(a.index_base, b.index_base);
}

TEST(ParallelSvmlight, EveryWayGivesTheSameArrays) {
  for (const bool halves : {false, true}) {
    const std::string text = random_text({.halves = halves});
    ASSERT_GT(text.size(), 2 * piece_bytes);
    const Dataset data = whole(text);
    EXPECT_EQ(std::holds_alternative<Array<float>>(csr_of(data).values), halves);
    EXPECT_EQ(data.rows(), TextSizes{}.rows);
    expect_equal(data, streamed(text));
    const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
    expect_equal(data, whole(text));
    expect_equal(data, streamed(text));
  }
}

// Two blanks in place of one make no line simple.
TEST(SvmlightLarge, FastAndCarefulWaysAgree) {
  const std::string text = random_text({});
  std::string wide;
  for (const char c : text) wide += c == ' ' ? "  " : std::string(1, c);
  expect_equal(whole(text), whole(wide));
  expect_equal(whole(text, {.index_base = 0}), whole(wide, {.index_base = 0}));
  expect_equal(whole(text, {.precision = Precision::f32}), whole(wide, {.precision = Precision::f32}));
}

TEST(SvmlightLarge, ZeroBasedAndNumbersThatNeedDoublesMayTurnUpLate) {
  std::string text = random_text({.halves = true});
  const Dataset before = whole(text);
  text += "1 0:0.1\n";
  const Dataset data = whole(text);
  expect_equal(data, streamed(text));
  EXPECT_EQ(data.index_base, 0);
  EXPECT_EQ(csr_of(data).column_count, csr_of(before).column_count + 1);
  EXPECT_EQ(csr_of(data).columns.front(), csr_of(before).columns.front() + 1);
  EXPECT_EQ(std::get<Array<double>>(csr_of(data).values).back(), 0.1);
}

TEST(SvmlightLarge, ErrorsDeepInsideNameTheirPlace) {
  const std::string good = random_text({});
  const auto lines = static_cast<std::size_t>(std::count(good.begin(), good.end(), '\n'));
  const std::string text = good + "1 3:1 5:x\n" + good;
  const std::string expected = fmt::format("f:{}:9: value 'x' is not a decimal number", lines + 1);
  EXPECT_EQ(test::refusal(Fault::input, [&] { whole(text); }), expected);
  EXPECT_EQ(test::refusal(Fault::input, [&] { streamed(text); }), expected);
  // The first of several, and a qid that only the rows of other pieces have.
  const std::string many = text + "also bad\n";
  EXPECT_EQ(test::refusal(Fault::input, [&] { streamed(many); }), expected);
  const std::string query = good + "1 qid:4 3:1\n";
  const std::string mismatch =
      fmt::format("f:{}:3: 'qid:4' where the rows before have no qid: all rows need one, or none", lines + 1);
  EXPECT_EQ(test::refusal(Fault::input, [&] { whole(query); }), mismatch);
  EXPECT_EQ(test::refusal(Fault::input, [&] { streamed(query); }), mismatch);
}

// The arrays have room for as many entries as there are colons: words without one must not be taken for entries, least
// of all where a neighbour's rows lie already.
TEST(SvmlightLarge, WordsWithoutColonsStayOutsideTheArrays) {
  EXPECT_EQ(test::refusal(Fault::input, [] { whole("1 2 3\n"); }), "f:1:3: '2' is not of the form index:value");
  EXPECT_EQ(test::refusal(Fault::input, [] { whole("1 5"); }), "f:1:3: '5' is not of the form index:value");
  std::string comments = "1 1:1\n";
  for (int i = 0; i < 200000; ++i) comments += "1 #ab\n";
  EXPECT_EQ(csr_of(whole(comments)).columns.size(), 1U);

  std::string text;
  std::size_t rows = 0;
  for (int piece = 0; piece < 6; ++piece) {
    const std::size_t words = piece_bytes / 500, end = text.size() + piece_bytes - 2 * words - 100;
    for (; text.size() < end; ++rows) text += "1 1:1 2:2 3:3 4:4 5:5\n";
    text += "-1 1:9 #";
    for (std::size_t k = 0; k < words; ++k) text += " 7";
    text += "\n";
    ++rows;
  }
  const Dataset data = whole(text);
  ASSERT_EQ(data.rows(), rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t begin = csr_of(data).offsets[i];
    const std::uint64_t count = csr_of(data).offsets[i + 1] - begin;
    ASSERT_EQ(count, data.targets[i] > 0 ? 5U : 1U) << i;
    for (std::uint64_t k = 0; k < count; ++k) ASSERT_EQ(csr_of(data).columns[begin + k], k) << i;
  }
}

TEST(SvmlightLarge, ARowOfAMillionEntries) {
  std::string text = "1 1:1\n-1";
  for (int j = 1; j <= 1000000; ++j) text += fmt::format(" {}:{}", j, j % 10);
  text += "\n1 7:0.5";
  const Dataset data = whole(text);
  expect_equal(data, streamed(text));
  EXPECT_EQ(csr_of(data).offsets.vector(), (std::vector<std::uint64_t>{0, 1, 900001, 900002}));
  EXPECT_EQ(csr_of(data).column_count, 1000000U);
}

TEST(Digits, QuickNumbersAreRoundedCorrectly) {
  Random random(3);
  std::size_t quick_ones = 0;
  const auto check = [&](const std::string& text) {
    const std::string padded = text + std::string(padding, '\0');
    const QuickNumber quick = quick_number(padded.data());
    if (quick.end == nullptr) return;
    ++quick_ones;
    const ParsedNumber exact = parse_number(padded.data(), padded.data() + text.size());
    ASSERT_EQ(exact.fault, NumberFault::none) << text;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(quick.value), std::bit_cast<std::uint64_t>(exact.value)) << text;
    EXPECT_EQ(quick.end, exact.end) << text;
  };
  for (int round = 0; round < 200000; ++round) {
    std::string text = random.below(2) == 0 ? "-" : "";
    for (std::uint64_t k = random.below(9); k > 0; --k) text += static_cast<char>('0' + random.below(10));
    if (random.below(4) != 0) text += '.';
    for (std::uint64_t k = random.below(18); k > 0; --k) text += static_cast<char>('0' + random.below(10));
    check(text);
  }
  for (const char* text :
       {"0", "-0", "0.0", "9007199254740993", "0.9007199254740993", "9.007199254740993", "1.", "99999999",
        "9999999.9999999999", "1e5", "1.5E3", "0.00000000", "1234567.123456789012"}) {
    check(text);
  }
  EXPECT_GT(quick_ones, 50000U);
}

TEST(Marks, AreFoundInOrderAndToTheEnd) {
  std::string text = random_text({.rows = 400});
  text.resize(text.size() / 64 * 64 + 17);
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ':' || (text[i] >= 0 && text[i] <= ' ')) expected.push_back(i);
  }
  Source copy = Source::of_text(text, "f");
  const std::string_view padded = copy.text();
  Marks marks(padded);
  Marks::Cursor cursor;
  for (const std::size_t place : expected) ASSERT_EQ(marks.next(cursor), padded.data() + place);
  EXPECT_EQ(marks.next(cursor), padded.data() + padded.size());
  EXPECT_EQ(marks.next(cursor), padded.data() + padded.size());

  Marks again(padded);
  Marks::Cursor begin;
  for (std::size_t k = 0; k < expected.size(); k += 1 + k % 300) {
    begin = again.skipped_to(padded.data() + expected[k], begin);
    ASSERT_EQ(again.next(begin), padded.data() + expected[k]);
  }
  EXPECT_EQ(count_marks(padded).colons, static_cast<std::size_t>(std::count(text.begin(), text.end(), ':')));
  EXPECT_EQ(count_marks(padded).newlines, static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
}

}  // namespace
}  // namespace fenchel::data::svmlight_large_test
