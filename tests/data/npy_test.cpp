// npy files: every type, order and byte order gives the same numbers; whatever is wrong is refused by name; what was
// written reads back bit for bit.
#include "fenchel/data/npy.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "tests/support/refusal.hpp"

namespace fenchel::data::npy_test {
namespace {

using namespace std::string_literals;

std::string with_header(const std::string& dictionary, const std::string& content, int version = 1) {
  std::string bytes = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  const std::size_t length = dictionary.size();
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) bytes += static_cast<char>(length >> (8 * k) & 255);
  return bytes + dictionary + content;
}

std::string dictionary(const std::string& type, const std::string& shape, bool fortran = false) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, fortran ? "True" : "False", shape);
  text.resize((10 + text.size() + 64) / 64 * 64 - 11, ' ');  // behind a header of version 1 numbers are aligned
  return text + '\n';
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers, bool swapped = false) {
  std::string bytes;
  for (const T number : numbers) {
    char raw[sizeof(T)];
    std::memcpy(raw, &number, sizeof(T));
    if (swapped) std::reverse(std::begin(raw), std::end(raw));
    bytes.append(raw, sizeof(T));
  }
  return bytes;
}

Dataset parse(const std::string& bytes, Precision precision = Precision::f64) {
  Source source = Source::of_text(bytes, "x");
  return read_npy(source, {.precision = precision});
}

const DenseStorage& dense(const Dataset& data) { return std::get<DenseStorage>(data.storage); }

std::vector<double> numbers(const Dataset& data) {
  return std::visit([](const auto& values) { return std::vector<double>(values.begin(), values.end()); },
                    dense(data).values);
}

bool narrow(const Dataset& data) { return std::holds_alternative<Array<float>>(dense(data).values); }

std::string refusal(const std::string& bytes, Precision precision = Precision::f64) {
  return test::refusal(Fault::input, [&] { parse(bytes, precision); });
}

void expect_refused(const std::string& bytes, const std::string& words) {
  EXPECT_NE(refusal(bytes).find(words), std::string::npos) << refusal(bytes);
  EXPECT_TRUE(refusal(bytes).starts_with("x: ")) << refusal(bytes);
}

// A matrix of 3 x 2 with these numbers, however it is written.
const std::vector<double> matrix{1, 2, 3, 4, 5, 100};
const std::vector<double> by_column{1, 3, 5, 2, 4, 100};

template <class T>
void expect_all_orders(const std::string& type) {
  for (const bool fortran : {false, true}) {
    const std::vector<double>& order = fortran ? by_column : matrix;
    const std::vector<T> typed(order.begin(), order.end());
    for (const std::string mark : {"<", ">", "=", "|", ""}) {
      if (mark == "|" && sizeof(T) > 1) continue;
      const bool big = mark == ">" && sizeof(T) > 1;
      for (const int version : {1, 2, 3}) {
        const Dataset data =
            parse(with_header(dictionary(mark + type, "(3, 2)", fortran), bytes_of(typed, big), version));
        EXPECT_EQ(numbers(data), matrix) << mark << type << fortran << version;
        EXPECT_EQ(data.rows(), 3U);
        EXPECT_EQ(cols(data.matrix()), 2U);
        EXPECT_TRUE(data.targets.empty());
      }
    }
  }
}

TEST(Npy, EveryTypeOrderAndVersion) {
  expect_all_orders<std::int8_t>("i1");
  expect_all_orders<std::int16_t>("i2");
  expect_all_orders<std::int32_t>("i4");
  expect_all_orders<std::int64_t>("i8");
  expect_all_orders<std::uint8_t>("u1");
  expect_all_orders<std::uint16_t>("u2");
  expect_all_orders<std::uint32_t>("u4");
  expect_all_orders<std::uint64_t>("u8");
  expect_all_orders<float>("f4");
  expect_all_orders<double>("f8");
}

TEST(Npy, Booleans) {
  EXPECT_EQ(numbers(parse(with_header(dictionary("|b1", "(4,)"), "\0\1\1\0"s))), (std::vector<double>{0, 1, 1, 0}));
}

TEST(Npy, NegativeIntegers) {
  const std::vector<std::int16_t> typed{-32768, 32767, -1};
  EXPECT_EQ(numbers(parse(with_header(dictionary(">i2", "(1, 3)"), bytes_of(typed, true)))),
            (std::vector<double>{-32768, 32767, -1}));
}

TEST(Npy, AVectorIsOneColumn) {
  const Dataset data = parse(with_header(dictionary("<f8", "(6,)"), bytes_of(matrix)));
  EXPECT_EQ(data.rows(), 6U);
  EXPECT_EQ(cols(data.matrix()), 1U);
}

TEST(Npy, UsedInPlaceOnlyIfAligned) {
  const std::string content = bytes_of(std::vector<double>{0.1, 2, 3, 4, 5, 6});
  const std::string header = dictionary("<f8", "(3, 2)");
  for (const int shift : {0, 1, 4, 8}) {
    Source source =
        Source::of_text(with_header(header + std::string(static_cast<std::size_t>(shift), '\n'), content), "x");
    const Dataset data = read_npy(source, {});
    const char* const first = reinterpret_cast<const char*>(std::get<Array<double>>(dense(data).values).data());
    const std::string_view text = source.text();
    const bool inside = first >= text.data() && first < text.data() + text.size();
    EXPECT_EQ(inside, shift % 8 == 0) << shift;
    EXPECT_EQ(numbers(data), (std::vector<double>{0.1, 2, 3, 4, 5, 6}));
  }
}

TEST(Npy, InPlaceDataOutliveTheirSource) {
  const Dataset data = parse(with_header(dictionary("<f8", "(3, 2)"), bytes_of(matrix)));
  EXPECT_EQ(numbers(data), matrix);
}

TEST(Npy, ConvertedNumbersTakeTheSmallestExactType) {
  const auto big = [](double last) {
    return parse(with_header(dictionary(">f8", "(2,)"), bytes_of(std::vector<double>{1.5, last}, true)));
  };
  EXPECT_TRUE(narrow(big(0.25)));
  EXPECT_FALSE(narrow(big(0.1)));
  EXPECT_EQ(numbers(big(0.1)), (std::vector<double>{1.5, 0.1}));
  const auto integer = [](std::int32_t last) {
    return parse(with_header(dictionary("<i4", "(2,)"), bytes_of(std::vector<std::int32_t>{1, last})));
  };
  EXPECT_TRUE(narrow(integer(1 << 24)));
  EXPECT_FALSE(narrow(integer((1 << 24) + 1)));
  EXPECT_EQ(numbers(integer((1 << 24) + 1)), (std::vector<double>{1, (1 << 24) + 1}));
}

TEST(Npy, SinglePrecisionRounds) {
  const std::string bytes = with_header(dictionary("<f8", "(2,)"), bytes_of(std::vector<double>{0.1, 1e-300}));
  const Dataset data = parse(bytes, Precision::f32);
  EXPECT_EQ(data.precision, Precision::f32);
  EXPECT_EQ(numbers(data), (std::vector<double>{static_cast<double>(0.1F), 0.0}));
  const double rounds_down = std::nextafter(double{FLT_MAX}, HUGE_VAL);
  EXPECT_EQ(
      numbers(parse(with_header(dictionary("<f8", "(1,)"), bytes_of(std::vector{rounds_down})), Precision::f32)),
      (std::vector<double>{FLT_MAX}));
  EXPECT_EQ(
      refusal(with_header(dictionary("<f8", "(1, 2)"), bytes_of(std::vector<double>{0, 1e39})), Precision::f32),
      "x: the number in row 0, column 1 (counted from 0) is 1e+39, which overflows a float32: use --precision "
      "f64");
}

TEST(Npy, OnlyFiniteNumbers) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal(with_header(dictionary("<f8", "(3, 2)"), bytes_of(std::vector<double>{1, 2, 3, NAN, NAN, 6}))),
            "x: the number in row 1, column 1 (counted from 0) is nan: only finite numbers can be used");
  EXPECT_EQ(refusal(with_header(dictionary("<f4", "(1, 2)"), bytes_of(std::vector<float>{1, -HUGE_VALF}))),
            "x: the number in row 0, column 1 (counted from 0) is -inf: only finite numbers can be used");
  // In Fortran order the first one in the order of the rows is named: here [0, 1], which stands last in the file.
  EXPECT_EQ(refusal(with_header(dictionary(">f8", "(2, 2)", true),
                                bytes_of(std::vector<double>{1, infinite, infinite, 2}, true))),
            "x: the number in row 0, column 1 (counted from 0) is inf: only finite numbers can be used");
}

TEST(Npy, IntegersMustBeExact) {
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  const auto file = [](std::int64_t number) {
    return with_header(dictionary("<i8", "(2, 1)"), bytes_of(std::vector<std::int64_t>{0, number}));
  };
  EXPECT_EQ(
      refusal(file(odd)),
      "x: the number in row 1, column 0 (counted from 0) is 9007199254740993, which is not exact in a double: "
      "scale or round it before saving");
  EXPECT_NE(refusal(file(-odd)).find("-9007199254740993"), std::string::npos);
  EXPECT_NE(refusal(file(std::numeric_limits<std::int64_t>::max())).find("not exact"), std::string::npos);
  EXPECT_EQ(numbers(parse(file(odd - 1))).back(), 0x1p53);
  EXPECT_EQ(numbers(parse(file(std::numeric_limits<std::int64_t>::min()))).back(), -0x1p63);
  const auto unsigned_file = [](std::uint64_t number) {
    return with_header(dictionary("<u8", "(1,)"), bytes_of(std::vector<std::uint64_t>{number}));
  };
  expect_refused(unsigned_file(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(numbers(parse(unsigned_file(std::uint64_t{1} << 63))).front(), 0x1p63);
}

TEST(Npy, LengthsMustAgree) {
  const std::string header = dictionary("<f8", "(3, 2)");
  EXPECT_EQ(refusal(with_header(header, bytes_of(matrix) + "a")),
            "x: 1 bytes follow the numbers, which an array of shape (3, 2) does not have");
  EXPECT_EQ(refusal(with_header(header, bytes_of(matrix).substr(1))),
            "x: is truncated: an array of shape (3, 2) needs 48 bytes, but 47 follow the header");
  expect_refused(with_header(dictionary("<f8", "(1000000000000000000, 1)"), ""), "8000000000000000000 bytes");
  expect_refused(with_header(dictionary("<f8", "(4000000000000000000, 1000)"), ""), "more than 2^64");
  expect_refused(with_header(dictionary("<f8", "(99999999999999999999, 1)"), ""), "a length is expected");
  expect_refused(with_header(dictionary("<f8", "(1, 2147483647)"), ""), "at most 2147483646");
  expect_refused(with_header(dictionary("<f8", "(0, 3)"), ""), "holds no rows");
  expect_refused(with_header(dictionary("<f8", "(1000000000000000000, 0)"), ""), "holds no columns");
  expect_refused(with_header(dictionary("<f8", "()"), "12345678"), "shape ()");
  expect_refused(with_header(dictionary("<f8", "(1, 1, 1)"), "12345678"), "shape (1, 1, 1)");
}

TEST(Npy, EveryTruncationIsRefused) {
  const std::string whole = with_header(dictionary("<f4", "(1, 2)"), bytes_of(std::vector<float>{1, 2}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_TRUE(refusal(whole.substr(0, length)).starts_with("x: ")) << length;
  }
  EXPECT_EQ(numbers(parse(whole)), (std::vector<double>{1, 2}));
}

TEST(Npy, OnlyPlainNumbers) {
  for (const std::string type : {"<f2", "<c8", "|O", "<U8", "|S3", "<M8[ns]", "<f16", "", "<", "|f8", "f", "<i3"}) {
    const std::string reason = refusal(with_header(dictionary(type, "(1,)"), "12345678"));
    EXPECT_EQ(reason,
              "x: holds '" + type + "' where plain numbers are needed: save it in NumPy with x.astype('f8')");
  }
  expect_refused(with_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "12345678"),
                 "a structured type");
}

TEST(Npy, VersionsBeyondAreRefused) {
  EXPECT_EQ(refusal("\x93NUMPY\x04\x00xxxx"s), "x: is of npy version 4.0; 1.0, 2.0 and 3.0 are known");
  EXPECT_EQ(refusal("\x93NUMPY\x01\x07xxxx"s), "x: is of npy version 1.7; 1.0, 2.0 and 3.0 are known");
}

TEST(Npy, HeaderIsOneDictionary) {
  const auto file = [](const std::string& header) { return with_header(header, bytes_of(std::vector<double>{7})); };
  for (const std::string good : {"{'descr':'<f8','fortran_order':False,'shape':(1,)}",
                                 "{\"shape\": (1L,), \"descr\": \"f8\", \"fortran_order\": "
                                 "True,}\n",
                                 " { 'shape' : ( 1 , 1 , ) , 'fortran_order' : False , 'descr' : '=f8' } "}) {
    EXPECT_EQ(numbers(parse(file(good))), (std::vector<double>{7})) << good;
  }
  expect_refused(file("{'descr':'<f8','fortran_order':False}"), "lacks 'shape'");
  expect_refused(file("{'shape':(1,),'fortran_order':False}"), "lacks 'descr'");
  expect_refused(file("{'descr':'<f8','shape':(1,)}"), "lacks 'fortran_order'");
  expect_refused(file("{'descr':'<f8','descr':'<f8'}"), "'descr' twice");
  expect_refused(file("{'order':1}"), "unknown key 'order'");
  expect_refused(file("{'descr':'<f8','fortran_order':0,'shape':(1,)}"), "True or False is expected before '0,");
  expect_refused(file("{'descr':'<f8','fortran_order':False,'shape':(1)}"), "a tuple");
  expect_refused(file("{'descr':'<f8','fortran_order':False,'shape':(-1,)}"), "a length is expected before '-1");
  expect_refused(file("{'descr':'<f8','fortran_order':False,'shape':(,)}"), "a length is expected");
  expect_refused(file("{'descr':'<f8','fortran_order':False,'shape':(1,),,}"), "a string is expected");
  expect_refused(file("{'descr':'<f8','fortran_order':False,'shape':(1,)} x"), "to end is expected before 'x'");
  expect_refused(file("{'descr':'<f8','fortran_order':False,'shape':(1,)"), "',' is expected before its end");
  expect_refused(file("{'descr':'<f\\x38'}"), "without escapes");
  expect_refused(file("{'descr"), "a string is expected");
  expect_refused(file(""), "'{' is expected before its end");
}

TEST(Npy, Vectors) {
  const auto vector = [](const std::string& bytes) {
    Source source = Source::of_text(bytes, "x");
    return read_npy_vector(source);
  };
  EXPECT_EQ(vector(with_header(dictionary("<f8", "(6,)"), bytes_of(matrix))), matrix);
  EXPECT_EQ(vector(with_header(dictionary("<f8", "(6, 1)"), bytes_of(matrix))), matrix);
  EXPECT_EQ(vector(with_header(dictionary("|i1", "(2,)"), "\xff\x01"s)), (std::vector<double>{-1, 1}));
  EXPECT_EQ(
      test::refusal(Fault::input, [&] { vector(with_header(dictionary("<f8", "(3, 2)"), bytes_of(matrix))); }),
      "x: an array of shape (3, 2) is not one number a row");
  StringSink sink;
  write_npy_vector(sink, matrix);
  EXPECT_EQ(vector(sink.text()), matrix);
  EXPECT_EQ((sink.text().size() - matrix.size() * 8) % 64, 0U);
}

TEST(Npy, SparseDataAreFilledUp) {
  Dataset data;
  data.storage = CsrStorage{.offsets = std::vector<std::uint64_t>{0, 1, 1, 3},
                            .columns = std::vector<std::uint32_t>{1, 0, 2},
                            .values = std::vector<float>{0.5F, -1.0F, 3.0F},
                            .column_count = 3};
  StringSink sink;
  write_npy(sink, data);
  const Dataset again = parse(sink.text());
  EXPECT_TRUE(narrow(again));
  EXPECT_EQ(numbers(again), (std::vector<double>{0, 0.5, 0, 0, 0, 0, -1, 0, 3}));
}

TEST(Npy, AbsurdDensityIsRefused) {
  Dataset data;
  data.storage = CsrStorage{.offsets = std::vector<std::uint64_t>{0, 0, 0},
                            .columns = {},
                            .values = {},
                            .column_count = most_cells / 2 + 1};
  StringSink sink;
  const std::string sentence = test::refusal(Fault::usage, [&] { write_npy(sink, data); });
  EXPECT_NE(sentence.find("mtx or fenchel-binary"), std::string::npos) << sentence;
  EXPECT_EQ(sink.text(), "");
}

// Large enough for many blocks, in both orders, with every faulty cell named alike.
TEST(NpyParallel, ManyBlocks) {
  constexpr std::size_t n = 3001, d = 257;
  std::vector<double> rows(n * d), columns(n * d);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) rows[i * d + j] = columns[j * n + i] = static_cast<double>(i * d + j) + 0.1;
  }
  const std::string shape = fmt::format("({}, {})", n, d);
  EXPECT_EQ(numbers(parse(with_header(dictionary("<f8", shape), bytes_of(rows)))), rows);
  EXPECT_EQ(numbers(parse(with_header(dictionary("<f8", shape, true), bytes_of(columns)))), rows);
  StringSink sink;
  write_npy(sink, parse(with_header(dictionary("<f8", shape, true), bytes_of(columns))));
  EXPECT_EQ(sink.text(), with_header(dictionary("<f8", shape), bytes_of(rows)));
  for (const std::size_t i : {2900, 1500}) rows[i * d + 7] = columns[7 * n + i] = NAN;
  const std::string reason =
      "x: the number in row 1500, column 7 (counted from 0) is nan: only finite numbers can be used";
  EXPECT_EQ(refusal(with_header(dictionary("<f8", shape), bytes_of(rows))), reason);
  EXPECT_EQ(refusal(with_header(dictionary("<f8", shape, true), bytes_of(columns))), reason);
}

}  // namespace
}  // namespace fenchel::data::npy_test
