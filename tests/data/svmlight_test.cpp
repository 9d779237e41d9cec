// The svmlight reader and writer, and the doors they are reached by: what is accepted means what it should, what is
// not is refused with its exact place.
#include "fenchel/data/svmlight.hpp"

#include <unistd.h>

#include <cfloat>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"
#include "fenchel/data/writer.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/streams.hpp"

namespace fenchel::data::svmlight_test {
namespace {

using namespace std::string_literals;

const CsrStorage& csr(const Dataset& data) { return std::get<CsrStorage>(data.storage); }

std::vector<double> values(const Dataset& data) {
  return std::visit([](const auto& v) { return std::vector<double>(v.begin(), v.end()); }, csr(data).values);
}

bool in_float(const Dataset& data) { return std::holds_alternative<Array<float>>(csr(data).values); }

void expect_alike(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(csr(a).offsets, csr(b).offsets);
  EXPECT_EQ(csr(a).columns, csr(b).columns);
  EXPECT_TRUE(csr(a).values == csr(b).values);
  EXPECT_EQ(csr(a).column_count, csr(b).column_count);
  EXPECT_EQ(a.targets, b.targets);
  EXPECT_EQ(a.query, b.query);
  EXPECT_EQ(a.index_base, b.index_base);
}

// Everything is read twice: as a text in memory, and as a stream.
Dataset parse(const std::string& text, const ReadOptions& options = {}) {
  std::optional<Dataset> streamed;
  std::string streamed_error;
  try {
    Source stream = test::stream_of(text, "f", 3);
    streamed = read_svmlight(stream, options);
  } catch (const Error& error) {
    streamed_error = error.what();
  }
  try {
    Source source = Source::of_text(text, "f");
    Dataset whole = read_svmlight(source, options);
    if (streamed) expect_alike(whole, *streamed);
    EXPECT_EQ(streamed_error, "");
    return whole;
  } catch (const Error& error) {
    EXPECT_EQ(streamed_error, error.what());
    throw;
  }
}

std::string refusal(const std::string& text, const ReadOptions& options = {}) {
  return test::refusal(Fault::input, [&] { parse(text, options); });
}

using Columns = std::vector<std::uint32_t>;
using Offsets = std::vector<std::uint64_t>;
using Numbers = std::vector<double>;

TEST(Svmlight, ReadsRowsOfEntries) {
  const Dataset data = parse("+1 1:0.5 3:-2\n-1 2:1e3\n");
  EXPECT_EQ(data.targets, (Numbers{1, -1}));
  EXPECT_EQ(csr(data).offsets, (Offsets{0, 2, 3}));
  EXPECT_EQ(csr(data).columns, (Columns{0, 2, 1}));
  EXPECT_EQ(values(data), (Numbers{0.5, -2, 1000}));
  EXPECT_EQ(csr(data).column_count, 3U);
  EXPECT_EQ(data.index_base, 1);
  EXPECT_TRUE(data.query.empty());
  EXPECT_EQ(rows(data.matrix()), 2U);
  EXPECT_EQ(cols(data.matrix()), 3U);
  EXPECT_EQ(nonzeros(data.matrix()), 3U);
}

TEST(Svmlight, LabelsAreDecimalNumbersOfAnyForm) {
  const Dataset data = parse("1\n+1\n-1\n+1.0\n-2.5e-1\n.5\n5.\n0\n-0\n1E2\n1e+2\n007\n");
  EXPECT_EQ(data.targets, (Numbers{1, 1, -1, 1, -0.25, 0.5, 5, 0, 0, 100, 100, 7}));
}

TEST(Svmlight, ValuesTakeAPlusSign) { EXPECT_EQ(values(parse("1 1:+2 2:+.5")), (Numbers{2, 0.5})); }

TEST(Svmlight, NumbersAreRoundedCorrectly) {
  const Dataset data = parse(
      "1 1:0.1 2:2.2250738585072011e-308 3:9007199254740993 4:1.7976931348623157e308 "
      "5:0.500000000000000166533453693773481063544750213623046875");
  EXPECT_EQ(values(data), (Numbers{0.1, 2.2250738585072011e-308, 9007199254740992.0, DBL_MAX, 0.5000000000000002}));
}

TEST(Svmlight, UnderflowIsAccepted) {
  const Dataset data = parse("1e-999 1:1e-400 2:4.9e-324 3:-1e-99999999999999999999 4:0e999");
  EXPECT_EQ(data.targets, (Numbers{0}));
  EXPECT_EQ(csr(data).columns, (Columns{1}));
  EXPECT_EQ(values(data), (Numbers{std::numeric_limits<double>::denorm_min()}));
  EXPECT_EQ(csr(data).column_count, 4U);
}

TEST(Svmlight, SeparatorsAreBlanksAndTabs) {
  const Dataset data = parse("  \t1\t1:2   3:4\t\t \n");
  EXPECT_EQ(data.targets, (Numbers{1}));
  EXPECT_EQ(csr(data).columns, (Columns{0, 2}));
}

TEST(Svmlight, CommentsRunToTheEndOfTheLine) {
  const Dataset data = parse("# head 1:2\n1 1:2 # 1:x\n  # indented\n2 2:3# tight\n3#\n#");
  EXPECT_EQ(data.targets, (Numbers{1, 2, 3}));
  EXPECT_EQ(csr(data).offsets, (Offsets{0, 1, 2, 2}));
}

TEST(Svmlight, BlankLinesAreSkipped) { EXPECT_EQ(parse("\n1 1:1\n\n \t\n\r\n2\n\n").targets, (Numbers{1, 2})); }

TEST(Svmlight, CrlfIsALineEnd) {
  const Dataset data = parse("1 1:2\r\n2 1:3 # c\r\n3\r\n4 2:1\r");
  EXPECT_EQ(data.targets, (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(values(data), (Numbers{2, 3, 1}));
}

TEST(Svmlight, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(parse("\xEF\xBB\xBF"
                  "1 1:2")
                .targets,
            (Numbers{1}));
}

TEST(Svmlight, FinalNewlineMayBeMissing) { EXPECT_EQ(values(parse("1 1:2\n1 1:34")), (Numbers{2, 34})); }

TEST(Svmlight, RowsMayBeEmpty) {
  const Dataset data = parse("1\n2 \n3 5:1\n");
  EXPECT_EQ(csr(data).offsets, (Offsets{0, 0, 0, 1}));
  EXPECT_EQ(csr(data).column_count, 5U);
  EXPECT_EQ(csr(parse("1\n2\n")).column_count, 0U);
}

TEST(Svmlight, ZerosAreNotStoredButTheirIndexCounts) {
  const Dataset data = parse("1 1:1 2:0 3:-0.0\n-1 9:0e5\n");
  EXPECT_EQ(csr(data).columns, (Columns{0}));
  EXPECT_EQ(csr(data).offsets, (Offsets{0, 1, 1}));
  EXPECT_EQ(csr(data).column_count, 9U);
}

TEST(Svmlight, IndexBaseIsGuessedOrForced) {
  const Dataset guessed = parse("1 1:1 3:2\n2 0:5\n");
  EXPECT_EQ(guessed.index_base, 0);
  EXPECT_EQ(csr(guessed).columns, (Columns{1, 3, 0}));
  EXPECT_EQ(csr(guessed).column_count, 4U);

  EXPECT_EQ(parse("1 0:0 1:1").index_base, 0);  // an explicit zero is an occurrence too

  const Dataset forced = parse("1 1:1", {.index_base = 0});
  EXPECT_EQ(forced.index_base, 0);
  EXPECT_EQ(csr(forced).columns, (Columns{1}));
  EXPECT_EQ(csr(forced).column_count, 2U);

  EXPECT_EQ(csr(parse("1 1:1", {.index_base = 1})).columns, (Columns{0}));
  EXPECT_EQ(refusal("1 1:1\n2 0:5 1:1\n", {.index_base = 1}),
            "f:2:3: index 0, but the model or the options ask for data whose indexes start at 1");
}

TEST(Svmlight, LargestIndex) {
  const Dataset data = parse("1 2147483646:1");
  EXPECT_EQ(csr(data).columns, (Columns{2147483645}));
  EXPECT_EQ(csr(data).column_count, 2147483646U);
  EXPECT_EQ(csr(parse("1 00000000000000000000000007:1")).columns, (Columns{6}));
  EXPECT_EQ(refusal("1 1:1 2147483647:1"), "f:1:7: index '2147483647' is too large: the largest is 2147483646");
  EXPECT_EQ(refusal("1 4294967297:1"), "f:1:3: index '4294967297' is too large: the largest is 2147483646");
  EXPECT_EQ(refusal("1 18446744073709551617:1"),
            "f:1:3: index '18446744073709551617' is too large: the largest is 2147483646");
}

TEST(Svmlight, QueryIds) {
  const Dataset data = parse("1 qid:3 1:2\n2 qid:9223372036854775807\n");
  EXPECT_EQ(data.query, (std::vector<std::int64_t>{3, 9223372036854775807}));
  EXPECT_EQ(csr(data).columns, (Columns{0}));

  const std::string range = " is not qid:N with an integer from 0 to 9223372036854775807";
  EXPECT_EQ(refusal("1 qid: 1:2"), "f:1:3: 'qid:'" + range);
  EXPECT_EQ(refusal("1 qid:x 1:2"), "f:1:3: 'qid:x'" + range);
  EXPECT_EQ(refusal("1 qid:-1"), "f:1:3: 'qid:-1'" + range);
  EXPECT_EQ(refusal("1 qid:9223372036854775808"), "f:1:3: 'qid:9223372036854775808'" + range);
  EXPECT_EQ(refusal("1 1:2 qid:3"), "f:1:7: 'qid:3' may stand only once, right after the label");
  EXPECT_EQ(refusal("1 qid:1 qid:2"), "f:1:9: 'qid:2' may stand only once, right after the label");
  EXPECT_EQ(refusal("1 qid:1 1:2\n\n 2 1:2\n"),
            "f:3:2: a row without qid where the rows before have one: all rows need one, or none");
  EXPECT_EQ(refusal("1 1:2\n2 qid:1 1:2\n"),
            "f:2:3: 'qid:1' where the rows before have no qid: all rows need one, or none");
}

TEST(Svmlight, OrderOfIndexes) {
  EXPECT_EQ(refusal("1 7:1 7:2"), "f:1:7: index 7 occurs twice");
  EXPECT_EQ(refusal("1 7:0 7:2"), "f:1:7: index 7 occurs twice");
  EXPECT_EQ(refusal("1 0:1 0:1"), "f:1:7: index 0 occurs twice");
  EXPECT_EQ(refusal("1 1:1\n1\t2:1  1:2\n"), "f:2:8: index 1 follows index 2: indexes must ascend");
  EXPECT_EQ(refusal("1 1:1 0:2\n"), "f:1:7: index 0 follows index 1: indexes must ascend");
}

TEST(Svmlight, SeveralLabelsBecomeTwoClasses) {
  const ReadOptions seven{.positive = 7.0};
  const Dataset data = parse("3,7,12 1:1\n 1:2\n7 2:1\n\t3\n3,70 1:1 # 7\n+7.0,1\n1:5 2:5\n", seven);
  EXPECT_EQ(data.targets, (Numbers{1, -1, 1, -1, -1, 1, -1}));
  EXPECT_EQ(csr(data).offsets, (Offsets{0, 1, 2, 3, 3, 4, 4, 6}));
  EXPECT_EQ(parse("7 qid:1 1:1\n1 qid:2\n", seven).query.vector(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(refusal("3,x 1:1", seven), "f:1:3: label 'x' is not a decimal number");
  EXPECT_EQ(refusal("3,,4 1:1", seven), "f:1:3: label '' is not a decimal number");
  EXPECT_EQ(refusal("3, 1:1", seven), "f:1:3: label '' is not a decimal number");
}

TEST(Svmlight, BadLabels) {
  const std::string cure =
      "--positive LABEL makes two classes of rows with several labels or none: 1 where LABEL is among them, else "
      "-1";
  EXPECT_EQ(refusal("abc 1:2"), "f:1:1: label 'abc' is not a decimal number");
  for (const std::string label : {"nan", "-nan", "inf", "+inf", "-Infinity", "0x1p3", "1e", "1e+", ".", "+", "-",
                                  "+-1", "--1", "++1", "1.2.3", "1d5", "\"1\"", "NaN(1)"}) {
    EXPECT_EQ(refusal("1 1:2\n " + label + " 1:2"), "f:2:2: label '" + label + "' is not a decimal number");
  }
  EXPECT_EQ(refusal("1e309 1:2"), "f:1:1: label '1e309' overflows a double");
  EXPECT_EQ(refusal("1,5"), "f:1:1: label '1,5': a row has one label; " + cure);
  EXPECT_EQ(refusal("1 1:1\n1,3 1:2"), "f:2:1: label '1,3': a row has one label; " + cure);
  EXPECT_EQ(refusal("  1:2 2:3"), "f:1:3: '1:2' where the label should be: " + cure);
}

TEST(Svmlight, BadEntries) {
  EXPECT_EQ(refusal("1 1:2 5"), "f:1:7: '5' is not of the form index:value");
  EXPECT_EQ(refusal("1 foo 1:2"), "f:1:3: 'foo' is not of the form index:value");
  EXPECT_EQ(refusal("1 :2"), "f:1:3: index '' of ':2' is not a non-negative integer");
  EXPECT_EQ(refusal("1 -1:2"), "f:1:3: index '-1' of '-1:2' is not a non-negative integer");
  EXPECT_EQ(refusal("1 +1:2"), "f:1:3: index '+1' of '+1:2' is not a non-negative integer");
  EXPECT_EQ(refusal("1 1.5:2"), "f:1:3: index '1.5' of '1.5:2' is not a non-negative integer");
  EXPECT_EQ(refusal("1 7:"), "f:1:5: no value after '7:'");
  EXPECT_EQ(refusal("1 7: 2"), "f:1:5: no value after '7:'");
  EXPECT_EQ(refusal("1 7:\r\n"), "f:1:5: no value after '7:'");
  EXPECT_EQ(refusal("1 7:#1"), "f:1:5: no value after '7:'");
  for (const std::string value : {"nan", "NaN", "-nan", "inf", "+inf", "-INF", "infinity", "0x10", "1e", "1e-",
                                  ".",   "+",   "-",    "+-1", "1:2",  "1,5",  "1_000",    "abc",  "2x", "e5"}) {
    EXPECT_EQ(refusal("1 1:1\n-1 1:2 13:" + value + " 14:1\n"),
              "f:2:11: value '" + value + "' is not a decimal number");
  }
  EXPECT_EQ(refusal("1 1:1e309"), "f:1:5: value '1e309' overflows a double");
  EXPECT_EQ(refusal("1 1:-1e99999999999999999999 2:1"),
            "f:1:5: value '-1e99999999999999999999' overflows a double");
  EXPECT_EQ(refusal("1 1:2\r2 1:3\n"), "f:1:5: value '2\\x0d2' is not a decimal number");  // no lone CR
  EXPECT_EQ(refusal("1 1:2\v2:3\n"), "f:1:5: value '2\\x0b2:3' is not a decimal number");
}

TEST(Svmlight, EmptyTextAndGarbage) {
  EXPECT_EQ(refusal(""), "f: holds no rows");
  EXPECT_EQ(refusal("\n# only words\n\r\n"), "f: holds no rows");
  EXPECT_EQ(refusal("1 1:2\n1 \0 1:2"s), "f:2:3: a NUL byte: this is a binary file, not svmlight text");
  EXPECT_EQ(refusal("1 1:2 # \0\n"s), "f:1:9: a NUL byte: this is a binary file, not svmlight text");
  EXPECT_EQ(refusal("\x7f\xff\x01 1:2"), "f:1:1: label '\\x7f\\xff\\x01' is not a decimal number");
  EXPECT_EQ(refusal("1 1:2 \xc3\xa4"), "f:1:7: '\\xc3\\xa4' is not of the form index:value");
}

TEST(Compaction, FloatOnlyWhereEveryValueIsExactInIt) {
  EXPECT_TRUE(in_float(parse("1 1:0.5 2:3 3:16777216")));
  EXPECT_TRUE(in_float(parse("1 1:1.401298464324817e-45")));  // the smallest float
  EXPECT_FALSE(in_float(parse("1 1:0.5\n1 1:0.1\n")));
  EXPECT_FALSE(in_float(parse("1 1:16777217")));  // 2^24 + 1: exact in a double only
  EXPECT_FALSE(in_float(parse("1 1:1e300")));
  EXPECT_FALSE(in_float(parse("1 1:1e-300")));
  EXPECT_EQ(values(parse("1 1:16777217")), (Numbers{16777217}));
  EXPECT_EQ(parse("0.1 1:1").targets, (Numbers{0.1}));  // targets are doubles always
}

TEST(Compaction, UnderF32TheRoundedValuesAreTheProblem) {
  const Dataset data = parse("0.1 1:0.1 2:16777217 3:1e-60 4:3.4028235e38", {.precision = Precision::f32});
  EXPECT_TRUE(in_float(data));
  EXPECT_EQ(data.precision, Precision::f32);
  EXPECT_EQ(data.targets, (Numbers{0.1}));
  EXPECT_EQ(values(data), (Numbers{static_cast<double>(0.1F), 16777216, static_cast<double>(FLT_MAX)}));
  EXPECT_EQ(csr(data).column_count, 4U);
  EXPECT_EQ(refusal("1 1:1 2:3.5e38", {.precision = Precision::f32}),
            "f:1:9: value '3.5e38' overflows a float32: use --precision f64");
  EXPECT_THROW(compact({1e300}, Precision::f32), Error);
}

std::string written(const Dataset& data) {
  StringSink out;
  write_svmlight(out, data);
  return out.text();
}

TEST(Writer, NumbersAreShortestAndRoundTrip) {
  EXPECT_EQ(written(parse("+1.0 1:0.10 3:1e3\n-1\n 2.50 2:1e-7\n")), "1 1:0.1 3:1000\n-1\n2.5 2:1e-07\n");
  EXPECT_EQ(written(parse("1 qid:5 0:2 1:1\n0 qid:6")), "1 qid:5 0:2 1:1\n0 qid:6\n");
  // A float is written as the double it is, or reading it back would give another number.
  EXPECT_EQ(written(parse("1 1:0.1", {.precision = Precision::f32})), "1 1:0.10000000149011612\n");
}

TEST(Writer, KeepsTheNumberOfColumnsAndTheBase) {
  EXPECT_EQ(written(parse("1 1:5 9:0\n2 2:1\n")), "1 1:5 9:0\n2 2:1\n");
  EXPECT_EQ(written(parse("1 3:5\n2\n", {.index_base = 0})), "1 0:0 3:5\n2\n");
  EXPECT_EQ(written(parse("1 0:0\n")), "1 0:0\n");
  EXPECT_EQ(written(parse("1\n2\n")), "1\n2\n");
}

TEST(Writer, DenseAndSparseGiveTheSameText) {
  Dataset dense;
  dense.storage = DenseStorage{.values = Numbers{1, 0, 2.5, 0, -0.0, 0.1}, .row_count = 2, .column_count = 3};
  dense.targets = Numbers{1, -1};
  EXPECT_EQ(written(dense), "1 1:1 3:2.5\n-1 3:0.1\n");
}

TEST(Writer, LongTextRoundTrips) {
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += fmt::format("{} {}:{} {}:{}\n", i % 3, 1 + i % 7, 1.0 / (i + 1), 100 + i, i * 0.3);
  const Dataset once = parse(text);
  const Dataset again = parse(written(once));
  EXPECT_EQ(fingerprint(once.matrix(), once.targets), fingerprint(again.matrix(), again.targets));
  EXPECT_EQ(written(again), written(once));
}

// Files in a folder of their own, gone with the test.
class Files : public ::testing::Test {
 protected:
  Files() : folder_(std::filesystem::temp_directory_path() / fmt::format("fenchel-data-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  [[nodiscard]] std::string folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

TEST_F(Files, AreReadWhole) {
  const std::string path = file("a.svm", "1 1:2\n-1 2:3\n");
  Source source(path);
  EXPECT_EQ(source.text(), "1 1:2\n-1 2:3\n");
  EXPECT_EQ(source.name(), path);
  EXPECT_EQ(Source(file("empty", "")).text(), "");
  const std::string large(1000000, '7');
  EXPECT_EQ(Source(file("large", large)).text(), large);
  EXPECT_EQ(Source("/dev/null").text(), "");
  EXPECT_EQ(read(path).targets, (Numbers{1, -1}));
  EXPECT_EQ(read(path, {.format = "svmlight", .index_base = 0}).index_base, 0);
  EXPECT_EQ(read(path, {.precision = Precision::f32}).precision, Precision::f32);
}

TEST_F(Files, ThatCannotBeReadSayWhy) {
  const std::string missing = folder() + "/missing";
  EXPECT_EQ(test::refusal(Fault::input, [&] { Source{missing}; }),
            missing + ": cannot be read: No such file or directory");
  EXPECT_EQ(test::refusal(Fault::input, [&] { Source{folder()}; }), folder() + ": cannot be read: Is a directory");
  const std::string secret = file("secret", "1 1:1\n");
  std::filesystem::permissions(secret, std::filesystem::perms::none);
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  EXPECT_EQ(test::refusal(Fault::input, [&] { Source{secret}; }), secret + ": cannot be read: Permission denied");
}

TEST_F(Files, OfOneValueARowAreRecognized) {
  EXPECT_TRUE(csr(read(file("ones", "1 1:1 3:1\n2\n1 2:5\n"))).uniform);
  EXPECT_FALSE(csr(read(file("others", "1 1:1 3:1\n2\n1 2:5 3:1\n"))).uniform);
}

TEST_F(Files, WithTabsAreNoTablesYet) {
  EXPECT_EQ(read(file("y", "1\t# a, b\n2\t\n")).targets, (Numbers{1, 2}));
  EXPECT_EQ(read(file("z", "1\t\n")).targets, (Numbers{1}));
  // An empty file has no format to be mistaken for.
  const std::string empty = file("empty", "");
  EXPECT_EQ(test::refusal(Fault::input, [&] { read(empty); }), empty + ": holds no rows");
}

}  // namespace
}  // namespace fenchel::data::svmlight_test
