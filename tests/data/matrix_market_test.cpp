// MatrixMarket files: both forms, every field and symmetry, entries in any order; every fault with its place.
#include "fenchel/data/matrix_market.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/pieces.hpp"
#include "tests/support/refusal.hpp"

namespace fenchel::data::matrix_market_test {
namespace {

using Numbers = std::vector<double>;

const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
const std::string array = "%%MatrixMarket matrix array real general\n";

Dataset parse(const std::string& text, Precision precision = Precision::f64) {
  Source source = Source::of_text(text, "m");
  return read_matrix_market(source, {.precision = precision});
}

// All cells, row by row.
Numbers cells(const Dataset& data) {
  Numbers result(data.rows() * cols(data.matrix()));
  std::visit(
      [&](const auto& m) {
        for (std::size_t i = 0; i < m.rows(); ++i) {
          m.row(i).for_each([&](std::size_t j, double value) { result[i * m.cols() + j] = value; });
        }
      },
      data.matrix());
  return result;
}

const CsrStorage& csr(const Dataset& data) { return std::get<CsrStorage>(data.storage); }

std::string refusal(const std::string& text, Precision precision = Precision::f64) {
  return test::refusal(Fault::input, [&] { parse(text, precision); });
}

TEST(MatrixMarket, CoordinatesInAnyOrder) {
  const Dataset data = parse(coordinate + "3 4 5\n3 4 1e2\n1 3 -2.5\n3 1 0.1\n1 1 1\n3 2 7\n");
  EXPECT_EQ(cells(data), (Numbers{1, 0, -2.5, 0, 0, 0, 0, 0, 0.1, 7, 0, 100}));
  EXPECT_EQ(csr(data).offsets, Array<std::uint64_t>(std::vector<std::uint64_t>{0, 2, 2, 5}));
  EXPECT_EQ(csr(data).columns, Array<std::uint32_t>(std::vector<std::uint32_t>{0, 2, 0, 1, 3}));
  EXPECT_TRUE(data.targets.empty());
}

TEST(MatrixMarket, TheTextAroundEntries) {
  const std::string text =
      "%%matrixmarket MATRIX Coordinate REAL General\r\n% a comment\n%\n\n \t\r\n%% 9 9 9\n  2\t2 2 \r\n\n"
      "% within\n\t1 2\t3 \r\n\r\n2 1 4";
  EXPECT_EQ(cells(parse(text)), (Numbers{0, 3, 4, 0}));
}

TEST(MatrixMarket, Fields) {
  EXPECT_EQ(cells(parse("%%MatrixMarket matrix coordinate double general\n1 2 1\n1 2 .5\n")), (Numbers{0, 0.5}));
  EXPECT_EQ(cells(parse("%%MatrixMarket matrix coordinate integer general\n1 2 1\n1 2 -5\n")), (Numbers{0, -5}));
  EXPECT_EQ(cells(parse("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n2 1\n1 2\n")),
            (Numbers{0, 1, 1, 0}));
}

TEST(MatrixMarket, Symmetries) {
  const auto banner = [](const std::string& symmetry) {
    return "%%MatrixMarket matrix coordinate real " + symmetry + "\n";
  };
  EXPECT_EQ(cells(parse(banner("symmetric") + "2 2 2\n1 1 5\n2 1 3\n")), (Numbers{5, 3, 3, 0}));
  EXPECT_EQ(cells(parse(banner("symmetric") + "2 2 1\n1 2 3\n")), (Numbers{0, 3, 3, 0}));
  EXPECT_EQ(cells(parse(banner("Skew-Symmetric") + "2 2 1\n2 1 3\n")), (Numbers{0, -3, 3, 0}));
  EXPECT_EQ(cells(parse("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n")),
            (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(refusal(banner("skew-symmetric") + "2 2 1\n2 2 3\n"),
            "m:3:1: a skew-symmetric matrix has no entries on its diagonal");
  EXPECT_EQ(refusal(banner("symmetric") + "2 2 2\n2 1 3\n1 2 3\n"), "m: the entry in row 1, column 2 stands twice");
  EXPECT_EQ(refusal(banner("symmetric") + "2 3 0\n"), "m:2:1: a symmetric matrix is square, not 2 x 3");
}

TEST(MatrixMarket, Arrays) {
  EXPECT_EQ(cells(parse(array + "2 3\n1\n2\n3\n4\n5\n6\n")), (Numbers{1, 3, 5, 2, 4, 6}));
  EXPECT_TRUE(std::holds_alternative<DenseStorage>(parse(array + "1 1\n0").storage));
  const auto banner = [](const std::string& symmetry) {
    return "%%MatrixMarket matrix array real " + symmetry + "\n";
  };
  EXPECT_EQ(cells(parse(banner("symmetric") + "3 3\n1\n2\n3\n4\n5\n6\n")), (Numbers{1, 2, 3, 2, 4, 5, 3, 5, 6}));
  EXPECT_EQ(cells(parse(banner("skew-symmetric") + "3 3\n2\n3\n5\n")), (Numbers{0, -2, -3, 2, 0, -5, 3, 5, 0}));
  EXPECT_EQ(cells(parse(banner("skew-symmetric") + "1 1\n")), (Numbers{0}));
  EXPECT_EQ(refusal(array + "2 2\n1\n2\n3\n"), "m: holds 3 entries, but by its header they are 4");
  EXPECT_EQ(refusal(array + "1 2\n1 2\n"), "m:3:3: '2' follows an entry: one entry a line is needed");
  EXPECT_EQ(refusal(array + "3 0\n"), "m:2:1: holds no columns");
}

TEST(MatrixMarket, ZerosAreNotKeptInSparseRows) {
  const Dataset data = parse(coordinate + "2 3 4\n2 3 0\n1 1 0\n2 1 5\n1 3 -0\n");
  EXPECT_EQ(csr(data).columns.size(), 1U);
  EXPECT_EQ(cells(data), (Numbers{0, 0, 0, 5, 0, 0}));
  EXPECT_EQ(cols(data.matrix()), 3U);
  EXPECT_EQ(refusal(coordinate + "1 1 2\n1 1 0\n1 1 0\n"), "m: the entry in row 1, column 1 stands twice");
}

TEST(MatrixMarket, EmptyOnes) {
  EXPECT_EQ(parse(coordinate + "3 2 0").rows(), 3U);
  EXPECT_EQ(cols(parse(coordinate + "3 0 0\n").matrix()), 0U);
  EXPECT_EQ(refusal(coordinate + "0 2 0\n"), "m:2:1: holds no rows");
}

TEST(MatrixMarket, Repeats) {
  EXPECT_EQ(refusal(coordinate + "9 9 4\n8 1 1\n5 7 1\n8 1 2\n5 7 2\n"),
            "m: the entry in row 5, column 7 stands twice");
}

// What a fuzzer found to take long: a short file with millions of rows. Those with entries are looked at all the same.
TEST(MatrixMarket, MillionsOfEmptyRows) {
  EXPECT_EQ(parse(coordinate + "4018954 510 0\n").rows(), 4018954U);
  const Dataset data = parse(coordinate + "4000000 9 3\n4000000 7 2\n2000001 1 4\n4000000 3 1\n");
  const auto rows = std::get<CsrRows<float>>(data.matrix());
  EXPECT_EQ(rows.row(2000000).nonzeros(), 1U);
  EXPECT_EQ(std::vector<std::uint32_t>(rows.columns.begin(), rows.columns.end()),
            (std::vector<std::uint32_t>{0, 2, 6}));
  EXPECT_EQ(refusal(coordinate + "4000000 9 2\n4000000 7 2\n4000000 7 1\n"),
            "m: the entry in row 4000000, column 7 stands twice");
}

TEST(MatrixMarket, Banners) {
  const auto banner = [](const std::string& words) { return refusal("%%MatrixMarket " + words + "\n1 1 0\n"); };
  EXPECT_EQ(banner("matrix coordinate complex general"),
            "m:1:34: 'complex' is none of: real, double, integer, pattern; complex numbers have no meaning here");
  EXPECT_EQ(
      banner("matrix coordinate real hermitian"),
      "m:1:39: 'hermitian' is none of: general, symmetric, skew-symmetric; hermitian matrices are complex, which "
      "has no meaning here");
  EXPECT_EQ(banner("matrix dense real general"), "m:1:23: 'dense' is none of: coordinate, array");
  EXPECT_EQ(banner("vector coordinate real general"),
            "m:1:16: 'vector' is not 'matrix', the only object that is known");
  EXPECT_EQ(banner("matrix array pattern general"),
            "m:1:29: 'pattern' has no meaning for an array: use real or integer");
  EXPECT_EQ(banner("matrix coordinate pattern skew-symmetric"),
            "m:1:42: 'skew-symmetric' has no meaning for a pattern: use general or symmetric");
  EXPECT_TRUE(
      banner("matrix coordinate real").starts_with("m:1:1: '%%MatrixMarket matrix coordinate real' is not"));
  EXPECT_TRUE(refusal("").starts_with("m:1:1: '' is not a banner"));
}

TEST(MatrixMarket, Sizes) {
  EXPECT_EQ(refusal(coordinate + "% only comments\n"),
            "m:3:1: the line with the sizes is missing, or not within the first 64 KiB");
  EXPECT_EQ(refusal(coordinate + "2 2\n"),
            "m:2:1: '2' begins a line where the sizes should be: rows, columns and entries");
  EXPECT_EQ(refusal(array + "2 2 4\n"), "m:2:1: '2' begins a line where the sizes should be: rows and columns");
  EXPECT_EQ(refusal(coordinate + "2 -2 1\n"), "m:2:3: '-2' is not a size: a whole number >= 0");
  EXPECT_EQ(refusal(coordinate + "2 2 1.5\n"), "m:2:5: '1.5' is not a size: a whole number >= 0");
  EXPECT_EQ(refusal(coordinate + "2 2147483647 1\n"),
            "m:2:3: '2147483647' columns are too many: at most 2147483646 are possible");
  EXPECT_EQ(cols(parse(coordinate + "1 2147483646 1\n1 2147483646 1\n").matrix()), 2147483646U);
  EXPECT_EQ(refusal(coordinate + "99999999999999999999 1 1\n"),
            "m:2:1: '99999999999999999999' is more than any file holds");
  EXPECT_EQ(refusal(coordinate + "1000000000000000000 1 0\n"),
            "m:2:1: '1000000000000000000' rows are more than any file holds");
  EXPECT_EQ(refusal(coordinate + "1000000000000 1 1\n1 1 1\n"),
            "m: its header says 1000000000000 rows, but nearly all of them would be empty: there are 1 entries");
  EXPECT_EQ(refusal(array + "281474976710656 2147483646\n"),
            "m:2:1: 281474976710656 x 2147483646 cells are more than any file holds");
  EXPECT_EQ(refusal(array + "1000000000000 1000\n"),
            "m: holds 0 entries, but by its header they are 1000000000000000");
}

TEST(MatrixMarket, Counts) {
  EXPECT_EQ(refusal(coordinate + "2 2 2\n1 1 1\n"), "m: holds 1 entries, but by its header they are 2");
  EXPECT_EQ(refusal(coordinate + "2 2 0\n1 1 1\n"), "m: holds 1 entries, but by its header they are 0");
  EXPECT_EQ(refusal(coordinate + "2 2 1000000000000000000\n1 1 1\n"),
            "m: holds 1 entries, but by its header they are 1000000000000000000");
}

TEST(MatrixMarket, Entries) {
  const auto entry = [](const std::string& line) { return refusal(coordinate + "3 4 1\n" + line); };
  EXPECT_EQ(entry("0 1 5\n"), "m:3:1: row '0' is not between 1 and 3");
  EXPECT_EQ(entry("4 1 5\n"), "m:3:1: row '4' is not between 1 and 3");
  EXPECT_EQ(entry("1 5 5\n"), "m:3:3: column '5' is not between 1 and 4");
  EXPECT_EQ(entry("1 99999999999999999999999 5\n"),
            "m:3:3: column '99999999999999999999999' is not between 1 and 4");
  EXPECT_EQ(entry("1 \t -1 5\n"), "m:3:5: column '-1' is not a whole number");
  EXPECT_EQ(entry("1.0 1 5\n"), "m:3:1: row '1.0' is not a whole number");
  EXPECT_EQ(entry("x\n"), "m:3:1: row 'x' is not a whole number");
  EXPECT_EQ(entry("1\n"), "m:3:2: a column is missing");
  EXPECT_EQ(entry("1"), "m:3:2: a column is missing");
  EXPECT_EQ(entry("1 2\n"), "m:3:4: a value is missing");
  EXPECT_EQ(entry("1 2 \r\n"), "m:3:6: a value is missing");
  EXPECT_EQ(entry("1 2 nan\n"), "m:3:5: value 'nan' is not a decimal number");
  EXPECT_EQ(entry("1 2 inf\n"), "m:3:5: value 'inf' is not a decimal number");
  EXPECT_EQ(entry("1 2 0x1\n"), "m:3:5: value '0x1' is not a decimal number");
  EXPECT_EQ(entry("1 2 1e999\n"), "m:3:5: value '1e999' overflows a double");
  EXPECT_EQ(entry("1 2 3 4\n"), "m:3:7: '4' follows an entry: one entry a line is needed");
  EXPECT_EQ(entry("1 2 3 % no comment here\n"), "m:3:7: '%' follows an entry: one entry a line is needed");
  EXPECT_EQ(entry(std::string("1 2 3\0\n", 7)), "m:3:5: value '3\\x00' is not a decimal number");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1 1\n"),
            "m:3:5: '1' follows an entry: one entry a line is needed");
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n"),
            "m:3:5: value '1.5' is not an integer, as the banner says");
}

TEST(MatrixMarket, SmallestExactType) {
  const auto narrow = [](const Dataset& data) { return std::holds_alternative<Array<float>>(csr(data).values); };
  EXPECT_TRUE(narrow(parse(coordinate + "1 2 2\n1 1 0.5\n1 2 3\n")));
  EXPECT_FALSE(narrow(parse(coordinate + "1 2 2\n1 1 0.5\n1 2 0.1\n")));
  const Dataset rounded = parse(coordinate + "1 3 3\n1 1 0.5\n1 2 0.1\n1 3 1e-99\n", Precision::f32);
  EXPECT_TRUE(narrow(rounded));
  EXPECT_EQ(rounded.precision, Precision::f32);
  EXPECT_EQ(cells(rounded), (Numbers{0.5, static_cast<double>(0.1F), 0}));
  EXPECT_EQ(csr(rounded).columns.size(), 2U);  // what rounds to 0 is 0
  EXPECT_EQ(refusal(coordinate + "1 1 1\n1 1 1e39\n", Precision::f32),
            "m:3:5: value '1e39' overflows a float32: use --precision f64");
}

std::string written(const Dataset& data) {
  StringSink sink;
  write_matrix_market(sink, data);
  return sink.text();
}

TEST(MatrixMarket, WhatIsWritten) {
  const std::string sparse = coordinate + "3 3 3\n1 2 0.1\n3 1 -1e-30\n3 3 1.7976931348623157e+308\n";
  EXPECT_EQ(written(parse(sparse)), sparse);
  const std::string dense = array + "2 2\n1\n0\n-0.25\n5e-324\n";
  EXPECT_EQ(written(parse(dense)), dense);
  Dataset empty;
  empty.storage = DenseStorage{.values = Array<float>{}, .row_count = 2, .column_count = 0};
  EXPECT_EQ(written(empty), coordinate + "2 0 0\n");
}

// Several pieces, in an order that has nothing to do with the rows; faults deep in the text have their place.
TEST(MatrixMarketParallel, ManyPieces) {
  constexpr std::size_t n = piece_bytes / 1000, d = 300;
  std::vector<std::string> lines;
  Numbers expected(n * d);
  Random random(1);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      if (random.uniform() < 0.5) continue;
      expected[i * d + j] = random.normal();
      lines.push_back(fmt::format("{} {} {}\n", i + 1, j + 1, expected[i * d + j]));
    }
  }
  random.shuffle(std::span(lines));
  std::string text = coordinate + fmt::format("{} {} {}\n", n, d, lines.size());
  for (const std::string& line : lines) text += line;
  ASSERT_GT(text.size(), 3 * piece_bytes);
  EXPECT_EQ(cells(parse(text)), expected);
  EXPECT_EQ(cells(parse(written(parse(text)))), expected);
  EXPECT_EQ(refusal(text + "1 1 x\n"), fmt::format("m:{}:5: value 'x' is not a decimal number", lines.size() + 3));
}

TEST(MatrixMarketParallel, ArraysOfManyPieces) {
  const auto n = static_cast<std::size_t>(0.7 * std::sqrt(piece_bytes));
  std::string text = array + fmt::format("{} {}\n", n, n);
  std::string lower = "%%MatrixMarket matrix array real symmetric\n" + fmt::format("{} {}\n", n, n);
  Numbers expected(n * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      expected[i * n + j] = 0.1 * static_cast<double>(i * j) + static_cast<double>(i + j);
      const std::string line = fmt::format("{}\n", expected[i * n + j]);
      text += line;
      if (i >= j) lower += line;
    }
  }
  ASSERT_GT(lower.size(), piece_bytes);
  EXPECT_EQ(cells(parse(text)), expected);
  EXPECT_EQ(cells(parse(lower)), expected);
  EXPECT_EQ(written(parse(lower)), text);
}

TEST(MatrixMarketParallel, TwoFilesInOne) {
  const std::string header = coordinate + "1 1 1\n";
  std::string text = header + "1 1 1\n";
  text += "%" + std::string(piece_bytes - text.size() - 2, 'x') + "\n";
  EXPECT_EQ(cells(parse(text + coordinate)), (Numbers{1}));  // a banner is but a comment there
  EXPECT_EQ(refusal(text + header), "m: the header stands a second time, within the entries");
  EXPECT_EQ(refusal(text + header.substr(0, header.size() - 1)),
            "m: holds 2 entries, but by its header they are 1");
}

}  // namespace
}  // namespace fenchel::data::matrix_market_test
