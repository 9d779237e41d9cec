// The reader and writer of csv and tsv: which column is what, what a cell may look like, and the exact place of all that
// is wrong.
#include "fenchel/data/csv.hpp"

#include <bit>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "tests/support/refusal.hpp"

namespace fenchel::data::csv_test {
namespace {

using namespace std::string_literals;
using Numbers = std::vector<double>;

Dataset parse(const std::string& text, const ReadOptions& options = {}, char separator = '\0') {
  Source source = Source::of_text(text, "f");
  return read_csv(source, options, separator);
}

// All cells of the features, row by row.
Numbers cells(const Dataset& data) {
  Numbers all;
  std::visit(
      [&](const auto& matrix) {
        for (std::size_t i = 0; i < matrix.rows(); ++i) {
          Numbers row(matrix.cols());
          matrix.row(i).for_each([&](std::size_t j, double value) { row[j] = value; });
          all.insert(all.end(), row.begin(), row.end());
        }
      },
      data.matrix());
  return all;
}

bool is_sparse(const Dataset& data) { return std::holds_alternative<CsrStorage>(data.storage); }

bool in_float(const Dataset& data) {
  return std::visit([](const auto& storage) { return std::holds_alternative<Array<float>>(storage.values); },
                    data.storage);
}

std::string refusal(const std::string& text, const ReadOptions& options = {}, char separator = '\0',
                    Fault fault = Fault::input) {
  return test::refusal(fault, [&] { parse(text, options, separator); });
}

std::string misuse(const std::string& text, const ReadOptions& options) {
  return refusal(text, options, '\0', Fault::usage);
}

void expect(const Dataset& data, const Numbers& targets, const Numbers& values) {
  EXPECT_EQ(data.targets.vector(), targets);
  EXPECT_EQ(cells(data), values);
}

TEST(Csv, TakesTheFirstColumnOfPlainNumbersAndSaysSo) {
  const Dataset data = parse("1,2,3\n-1,5,6\n");
  expect(data, {1, -1}, {2, 3, 5, 6});
  EXPECT_EQ(data.rows(), 2U);
  EXPECT_EQ(cols(data.matrix()), 2U);
  EXPECT_EQ(data.index_base, 1);
  EXPECT_EQ(data.remark,
            "the labels were taken from column 1; --label chooses another column, by name or position");
  const Dataset named = parse("a,b\n1,2\n");
  EXPECT_EQ(named.remark,
            "the labels were taken from column 1 ('a'); --label chooses another column, by name or position");
}

TEST(Csv, FindsTheUsualNamesOfLabels) {
  expect(parse("a,Label,b\n1,2,3\n"), {2}, {1, 3});
  expect(parse("a,b,TARGET\n1,2,3\n"), {3}, {1, 2});
  expect(parse("Y,b\n1,2\n"), {1}, {2});
  expect(parse("b,class\n1,2\n"), {2}, {1});
  // The order is that of the list, not of the columns; a dropped column is none.
  expect(parse("class,y,target,label\n1,2,3,4\n"), {4}, {1, 2, 3});
  expect(parse("class,y,target\n1,2,3\n"), {3}, {1, 2});
  expect(parse("class,y,label\n1,2,3\n", {.drop = {"label"}}), {2}, {1});
  EXPECT_EQ(parse("a,y\n1,2\n").remark, "");
  EXPECT_EQ(parse("a,b\n1,2\n", {.label = "b"}).remark, "");
}

TEST(Csv, ChoosesTheLabelByNameOrPosition) {
  const std::string text = "a,b,c\n1,2,3\n4,5,6\n";
  expect(parse(text, {.label = "b"}), {2, 5}, {1, 3, 4, 6});
  expect(parse(text, {.label = "3"}), {3, 6}, {1, 2, 4, 5});
  expect(parse(text, {.label = "-1"}), {3, 6}, {1, 2, 4, 5});
  expect(parse(text, {.label = "-3"}), {1, 4}, {2, 3, 5, 6});
  expect(parse(text, {.label = "none"}), {}, {1, 2, 3, 4, 5, 6});
  expect(parse(text, {.labels_path = "elsewhere"}), {}, {1, 2, 3, 4, 5, 6});
  expect(parse(text, {.label = "none", .labels_path = "elsewhere"}), {}, {1, 2, 3, 4, 5, 6});
  expect(parse("1,2,3\n", {.label = "2"}), {2}, {1, 3});
  // A name wins over a position.
  expect(parse("x,3,1\n7,8,9\n", {.label = "3"}), {8}, {7, 9});
  expect(parse("x,3,1\n7,8,9\n", {.label = "2"}), {8}, {7, 9});
}

TEST(Csv, DropsColumns) {
  const std::string text = "id,a,b,c\nrow 1,1,2,3\nrow 2,4,5,6\n";
  expect(parse(text, {.label = "a", .drop = {"id", "-1"}}), {1, 4}, {2, 5});
  expect(parse(text, {.drop = {"1"}}), {1, 4}, {2, 3, 5, 6});
  expect(parse(text, {.drop = {"1", "id"}}), {1, 4}, {2, 3, 5, 6});
  expect(parse("Iris,1,2\nRose,3,4\n", {.drop = {"1"}}), {1, 3}, {2, 4});  // no header: the rest are numbers
  expect(parse("id,1,2\n7,8,9\n", {.drop = {"id"}}), {8}, {9});            // a name was used: a header
  expect(parse("a,,b\n1,\"x, \"\"y\"\"\nz\",2\n3,,4\n", {.drop = {"2"}}), {1, 3}, {2, 4});
}

TEST(Csv, TellsAHeaderFromNumbers) {
  EXPECT_EQ(parse("1,2\n3,4\n").rows(), 2U);
  EXPECT_EQ(parse("1e3,-.5\n3,4\n").rows(), 2U);
  EXPECT_EQ(parse("\"1\", 2 \n3,4\n").rows(), 2U);
  EXPECT_EQ(parse("1,x\n3,4\n").rows(), 1U);
  // What looks like a number that went wrong is no name, and must not make a first row of data vanish.
  for (const std::string cell : {"2x", "0x10", "inf", "-Infinity", "nan", "2.5.1", "1e"}) {
    EXPECT_EQ(refusal("1," + cell + "\n3,4\n").substr(0, 23), "f:1:3: row 1, column 2:") << cell;
  }
  EXPECT_EQ(parse("\"a\nb\",\"c,d\"\n3,4\n").rows(), 1U);
  EXPECT_EQ(parse(",0,1\n0,3,4\n").rows(), 1U);  // an index as pandas writes it
  // A missing value in the first row of numbers must not make it vanish.
  EXPECT_EQ(refusal("1,,3\n4,5,6\n"),
            "f:1:3: row 1, column 2: missing value '': fill it in, or leave the column out with --drop 2");
  EXPECT_EQ(refusal("1,NA,3\n4,5,6\n"),
            "f:1:3: row 1, column 2: missing value 'NA': fill it in, or leave the column out with --drop 2");
  EXPECT_EQ(refusal("1e999,1\n1,2\n"), "f:1:1: row 1, column 1: label '1e999' overflows a double");
}

TEST(Csv, CommentsMayStandBeforeTheFirstRecord) {
  expect(parse("# a, b and c\ny,a\n1,2\n"), {1}, {2});
  expect(parse("\n#\n\n## more; of them\r\n\n1;2\n3;4\n"), {1, 3}, {2, 4});
  expect(parse("\xEF\xBB\xBF# a\n1,2\n"), {1}, {2});
  expect(parse("#y,a\n1,2\n", {.label = "#y"}), {1}, {2});
  EXPECT_EQ(refusal("# nothing else"), "f: holds no rows");
  EXPECT_EQ(refusal("# nothing else\n#\n"), "f: holds no rows");
  EXPECT_EQ(refusal("# a\ny,b\n1,x\n").substr(0, 32), "f:3:3: row 1, column 2 ('b'): va");
  EXPECT_EQ(refusal("# a\n1,2\n1,x\n").substr(0, 24), "f:3:3: row 2, column 2: ");
  // Later on they would be rows that vanish.
  EXPECT_EQ(refusal("1,2\n# a\n3,4\n").substr(0, 39), "f:2:1: row 2, column 1: label '# a' is ");
}

TEST(Csv, ReadsWhatRfc4180Allows) {
  expect(parse("1,2\r\n3,4\r\n"), {1, 3}, {2, 4});
  expect(parse("1,2\n3,4"), {1, 3}, {2, 4});
  expect(parse("1,2\r\n3,4\r"), {1, 3}, {2, 4});
  expect(parse("\n \n\t\n1,2\n\n\r\n \r\n3,4\n\n  "), {1, 3}, {2, 4});
  expect(parse("\xEF\xBB\xBFy,a\n1,2\n"), {1}, {2});
  expect(parse("\xEF\xBB\xBF"
               "1,2\n"),
         {1}, {2});
  expect(parse("\xEF\xBB\xBF\r\n\"y\",a\n1,2\n"), {1}, {2});
  expect(parse("y,a\n\xEF\xBB\xBF"
               "1,2\n\xEF\xBB\xBF\n\xEF\xBB\xBF 3,4\n"),
         {1, 3}, {2, 4});
  expect(parse(" 1 ,\t2\t\n"), {1}, {2});
  expect(parse("\"1\",\"2\"\n \" 3 \" ,\"4\"\r\n"), {1, 3}, {2, 4});
  expect(parse("\"a \"\"b\"\"\",y\n\"1\",\"2\"\n", {.label = "a \"b\""}), {1}, {2});
  expect(parse("+1,2.\n.5,-0.5e-3\n"), {1, .5}, {2, -0.5e-3});
  expect(parse("5\n\n6\n"), {5, 6}, {});
}

TEST(Csv, Separators) {
  expect(parse("1;2\n3;4\n"), {1, 3}, {2, 4});
  expect(parse("\"a,b\";y\n1;2\n"), {2}, {1});
  expect(parse("a;\"b,c\"\n1;2\n"), {1}, {2});
  expect(parse("y\tb c\n1\t 2 \n", {}, '\t'), {1}, {2});
  expect(parse("1;2\n", {}, ';'), {1}, {2});
  EXPECT_EQ(refusal("1\t\t2\n", {}, '\t'),
            "f:1:3: row 1, column 2: missing value '': fill it in, or leave the column out with --drop 2");
  EXPECT_EQ(refusal("y;a\n1;2,5\n"),
            "f:2:3: row 1, column 2 ('a'): value '2,5' is not a finite decimal number: "
            "write a point, not a comma");
}

TEST(Csv, MissingValuesNameTheirCell) {
  for (const std::string word : {"", "NA", "nan", "NaN", "null", "?", "\"\"", "\" NA \""}) {
    const std::string message = refusal("y,age\n1,2\n\n1," + word + "\n");
    const std::string shown = word == "\"\"" ? "" : word == "\" NA \"" ? "NA" : word;
    const std::size_t column = word == "\"\"" ? 4 : word == "\" NA \"" ? 5 : 3;
    EXPECT_EQ(message, fmt::format("f:4:{}: row 2, column 2 ('age'): missing value '{}': fill it in, or leave the "
                                   "column out with --drop age",
                                   column, shown));
  }
  EXPECT_EQ(refusal("a,y\n1,2\n3,?\n"), "f:3:3: row 2, column 2 ('y'): missing label '?': every row needs one");
  EXPECT_EQ(refusal("y,a b\n1,\n"),
            "f:2:3: row 1, column 2 ('a b'): missing value '': fill it in, or leave the column out with --drop 2");
  // A separator at the end of every line makes an empty column.
  EXPECT_EQ(refusal("y,a,\n1,2,\n"),
            "f:2:5: row 1, column 3 (''): missing value '': fill it in, or leave the column out with --drop 3");
  expect(parse("y,a,\n1,2,\n", {.drop = {"-1"}}), {1}, {2});
}

TEST(Csv, TextIsRefusedWithItsCure) {
  EXPECT_EQ(
      refusal("y,colour\n1,2\n1,red\n"),
      "f:3:3: row 2, column 2 ('colour'): value 'red' is not a finite decimal number: write it as numbers, or "
      "leave the column out with --drop colour");
  EXPECT_EQ(
      refusal("y,a\nno,2\n"),
      "f:2:1: row 1, column 1 ('y'): label 'no' is not a finite decimal number: number the classes, or choose "
      "another column with --label");
  for (const std::string word :
       {"inf", "-inf", "Infinity", "0x10", "1e", "--1", "1 2", "1_000", "-", ".", "1.2.3"}) {
    EXPECT_EQ(refusal("y,a\n1,2\n3," + word + "\n"),
              fmt::format("f:3:3: row 2, column 2 ('a'): value '{}' is not a finite decimal number: write it as "
                          "numbers, or leave the column out with --drop a",
                          word));
  }
  EXPECT_EQ(refusal("y,a\n1,1e400\n"), "f:2:3: row 1, column 2 ('a'): value '1e400' overflows a double");
  EXPECT_EQ(refusal("y,a\n1,\"-1e400\"\n"), "f:2:4: row 1, column 2 ('a'): value '-1e400' overflows a double");
  EXPECT_EQ(refusal("1,2\r3,4\r"), "f:1:4: a carriage return without a newline: lines must end with LF or CRLF");
  EXPECT_EQ(
      refusal("1,2\n3,4\r5,6\n"),
      "f:2:3: row 2, column 2: value '4\\x0d5' holds a carriage return without a newline: lines must end with LF "
      "or CRLF");
}

TEST(Csv, CountsCells) {
  EXPECT_EQ(refusal("1,2,3\n4,5\n"), "f:2:4: row 2: 2 cells where the first line has 3");
  EXPECT_EQ(refusal("y,a\n1,2\n4,5,6,7\n"), "f:3:4: row 2: 4 cells where the first line has 2");
  EXPECT_EQ(refusal("1,2\n3,4,\r\n"), "f:2:4: row 2: 3 cells where the first line has 2");
  EXPECT_EQ(refusal("1,2\n3"), "f:2:2: row 2: 1 cell where the first line has 2");
  EXPECT_EQ(refusal("1,2\n3\r\n"), "f:2:2: row 2: 1 cell where the first line has 2");
}

TEST(Csv, Quotes) {
  EXPECT_EQ(refusal("1,2\n\"3,4\n5,6\n"), "f:2:1: row 2: quotes that are never closed");
  EXPECT_EQ(refusal("\"1,2\n"), "f:1:1: quotes that are never closed");
  EXPECT_EQ(refusal("a,b\"c\n"),
            "f:1:4: '\"' in a cell: quotes go around the whole cell, and are doubled within it");
  EXPECT_EQ(refusal("1,2\n3,\"4\"5\n"),
            "f:2:6: row 2: '5' in a cell: quotes go around the whole cell, and are doubled within it");
  EXPECT_EQ(refusal("1,2\n3,4\"\n"),
            "f:2:4: row 2: '\"' in a cell: quotes go around the whole cell, and are doubled within it");
  EXPECT_EQ(refusal("y,a,b\n1,2,5\" disk\n", {.drop = {"b"}}),
            "f:2:6: row 1: '\"' in a cell: quotes go around the whole cell, and are doubled within it");
}

TEST(Csv, LinesCountThroughQuotes) {
  const std::string text = "y,\"a\n\nb\",c\n1,\"2\",\"x\n\n\"\n3,z,4\n";
  EXPECT_EQ(
      refusal(text, {.drop = {"c"}}),
      "f:7:3: row 2, column 2 ('a\\x0a\\x0ab'): value 'z' is not a finite decimal number: write it as numbers, or "
      "leave the column out with --drop 2");
}

TEST(Csv, NothingToRead) {
  EXPECT_EQ(refusal(""), "f: holds no rows");
  EXPECT_EQ(refusal("\xEF\xBB\xBF\n \r\n"), "f: holds no rows");
  EXPECT_EQ(refusal("a,b"), "f: holds no rows");
  EXPECT_EQ(refusal("a,b\r\n\n"), "f: holds no rows");
  EXPECT_EQ(refusal("1,a\0b\n"s), "f:1:4: a NUL byte: this is a binary file, or text in UTF-16, not csv");
  EXPECT_EQ(refusal("a,b\na,b\n"),
            "f:2:1: row 1, column 1 ('a'): label 'a' is not a finite decimal number: number the classes, or choose "
            "another column with --label");
}

TEST(Csv, ColumnsThatAreNotThere) {
  const std::string text = "a,b,a\n1,2,3\n";
  EXPECT_EQ(misuse(text, {.label = "z"}), "--label 'z': f has no such column; it has 3, from 'a' to 'a'");
  EXPECT_EQ(misuse(text, {.label = "0"}), "--label '0': f has no such column; it has 3, from 'a' to 'a'");
  EXPECT_EQ(misuse(text, {.drop = {"4"}}), "--drop '4': f has no such column; it has 3, from 'a' to 'a'");
  EXPECT_EQ(misuse(text, {.drop = {"-4"}}), "--drop '-4': f has no such column; it has 3, from 'a' to 'a'");
  EXPECT_EQ(misuse(text, {.drop = {""}}), "--drop '': f has no such column; it has 3, from 'a' to 'a'");
  EXPECT_EQ(
      misuse("1,2\n", {.label = "y"}),
      "--label 'y': f has no such column; it has 2, without names: give a position (from 1, or from -1 at the "
      "end)");
  EXPECT_EQ(misuse(text, {.label = "a"}),
            "--label 'a': 2 columns of f have this name: give a position instead (from 1, or from -1 at the end)");
  EXPECT_EQ(misuse(text, {.label = "b", .drop = {"2"}}), "--label 'b': --drop leaves this column out");
  EXPECT_EQ(misuse(text, {.drop = {"1", "2", "3"}}), "f: --drop leaves no column");
  EXPECT_EQ(misuse(text, {.label = "b", .labels_path = "l"}),
            "--label and --labels: the labels are in a column or in a file of their own, not both");
}

TEST(Csv, Precision) {
  EXPECT_TRUE(in_float(parse("0.1,0.5,-16777216\n1,3,4\n")));  // the label is a double anyway
  EXPECT_EQ(parse("0.1,0.5\n").targets.vector(), Numbers{0.1});
  EXPECT_FALSE(in_float(parse("1,0.5,16777217\n")));
  expect(parse("1,0.5,0.1\n2,0.25,4\n"), {1, 2}, {0.5, 0.1, 0.25, 4});
  EXPECT_FALSE(in_float(parse("1,1e39\n")));
  EXPECT_FALSE(in_float(parse("1,1e-46\n")));
  EXPECT_TRUE(in_float(parse("1,1e-400\n")));  // nothing but 0 is left of it

  const ReadOptions single{.precision = Precision::f32};
  const Dataset rounded = parse("0.1,0.1\n", single);
  EXPECT_TRUE(in_float(rounded));
  EXPECT_EQ(rounded.precision, Precision::f32);
  expect(rounded, {0.1}, {static_cast<double>(0.1F)});
  EXPECT_EQ(refusal("y,a\n1,2\n1,1e39\n", single),
            "f:3:3: row 2, column 2 ('a'): '1e39' overflows a float32: use --precision f64");
  expect(parse("1e39,2\n", single), {1e39}, {2});
  expect(parse("1,1e-60\n", single), {1}, {0});
  expect(parse("1,1.7976931348623157e308,4.9e-324\n"), {1}, {1.7976931348623157e308, 4.9e-324});
}

TEST(Csv, StorageFollowsTheNumberOfZeros) {
  EXPECT_FALSE(is_sparse(parse("1,0,0,0,5\n")));  // a quarter is not fewer than a quarter
  const Dataset sparse = parse("1,0,0,0,0,5\n2,0,-0,0.0,0,0\n3,1,0,0,0,1e-400\n");
  ASSERT_TRUE(is_sparse(sparse));
  const auto& csr = std::get<CsrStorage>(sparse.storage);
  EXPECT_EQ(csr.offsets.vector(), (std::vector<std::uint64_t>{0, 1, 1, 2}));
  EXPECT_EQ(csr.columns.vector(), (std::vector<std::uint32_t>{4, 0}));
  EXPECT_EQ(csr.column_count, 5U);
  EXPECT_TRUE(in_float(sparse));
  expect(parse("1,0,0,0,0,.1\n2,0,0,0,0,3\n"), {1, 2}, {0, 0, 0, 0, .1, 0, 0, 0, 0, 3});
  // Dropped columns and the label do not count.
  EXPECT_FALSE(is_sparse(parse("0,0,0,0,5\n0,0,0,0,6\n", {.drop = {"2", "3", "4"}})));
}

// --- the writer ---

std::string written(const Dataset& data, char separator = ',') {
  StringSink sink;
  write_csv(sink, data, separator);
  return sink.text();
}

TEST(CsvWriter, WritesAllCells) {
  EXPECT_EQ(written(parse("1,2,.5\n-1,0,1e300\n")), "label,x1,x2\n1,2,0.5\n-1,0,1e+300\n");
  EXPECT_EQ(written(parse("1,0,0,0,0,5\n-1,0,3,0,0,0\n")), "label,x1,x2,x3,x4,x5\n1,0,0,0,0,5\n-1,0,3,0,0,0\n");
  EXPECT_EQ(written(parse("1,2\n", {.label = "none"})), "x1,x2\n1,2\n");
  EXPECT_EQ(written(parse("1,2\n"), '\t'), "label\tx1\n1\t2\n");
  EXPECT_EQ(written(parse("1,2\n"), '\0'), "label,x1\n1,2\n");
  EXPECT_EQ(written(parse("7\n8\n")), "label\n7\n8\n");
}

TEST(CsvWriter, ReadsBackBitForBit) {
  const std::string text =
      "0.1,1.7976931348623157e308,4.9e-324,-0.0,3\n-2e-310,0.3333333333333333,1e22,123456789012345680,-1\n";
  for (const Precision precision : {Precision::f64, Precision::f32}) {
    const ReadOptions options{.precision = precision};
    const std::string used =
        precision == Precision::f64 ? text : "0.1,0.1,1e-45,-0.0,3\n1,16777217,.3,3e38,1e-60\n";
    const Dataset data = parse(used, options);
    const Dataset again = parse(written(data), options);
    EXPECT_EQ(data.targets, again.targets);
    const Numbers before = cells(data), after = cells(again);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(before[k]), std::bit_cast<std::uint64_t>(after[k]));
    }
    EXPECT_EQ(again.remark, "");
  }
}

TEST(CsvWriter, RefusesWhatTheFormatCannotHold) {
  const auto refused = [](const Dataset& data) { return test::refusal(Fault::usage, [&] { written(data); }); };
  Dataset data = parse("1,2\n");
  data.query = std::vector<std::int64_t>{3};
  EXPECT_EQ(refused(data), "csv and tsv cannot hold query ids: write svmlight or .fbin, which do");

  CsrStorage csr;
  csr.offsets = std::vector<std::uint64_t>{0, 0, 0, 0};
  csr.column_count = 500'000'000;
  Dataset wide;
  wide.storage = csr;
  wide.targets = Numbers{1, 2, 3};
  EXPECT_EQ(refused(wide),
            "csv and tsv have a cell for every zero too, 3 x 500000000 here: write svmlight, mtx or "
            ".fbin");
}

}  // namespace
}  // namespace fenchel::data::csv_test
