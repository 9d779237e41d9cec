// Tables of many pieces: the result depends neither on the threads, nor on whether the text is in memory or comes as a
// (compressed) stream, nor on where it is cut; and mistakes deep inside are found where they are.
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/compress.hpp"
#include "fenchel/data/csv.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/data/pieces.hpp"
#include "tests/support/streams.hpp"

namespace fenchel::data::csv_large_test {
namespace {

// The sink that compresses is gone when its bytes are needed.
class Into final : public Sink {
 public:
  explicit Into(std::string& text) : text_(text) {}
  void write(std::string_view bytes) override { text_ += bytes; }
  void finish() override {}

 private:
  std::string& text_;
};

std::string packed(const std::string& text, std::string_view compression) {
  std::string bytes;
  const auto sink = compressed(std::make_unique<Into>(bytes), compression);
  sink->write(text);
  sink->finish();
  return bytes;
}

Source in_memory(const std::string& text) { return Source::of_text(text, "f"); }
Source from_pipe(const std::string& text) { return test::stream_of(text, "f", 4096); }
Source from_zstd(const std::string& text) {
  auto bytes = std::make_unique<test::TextStream>(packed(text, "zstd"), 1000);
  return Source::of_stream(decompressed(std::move(bytes), "zstd", "f"), "f");
}
using Way = Source (*)(const std::string&);
constexpr Way ways[] = {in_memory, from_pipe, from_zstd};

struct Read {
  Fingerprint fingerprint;
  std::size_t storage = 0;
  std::size_t columns = 0;
  std::string error;
  friend bool operator==(const Read&, const Read&) = default;
};

Read outcome(Source source, const ReadOptions& options) {
  try {
    const Dataset data = read_csv(source, options, '\0');
    return {fingerprint(data.matrix(), data.targets), data.matrix().index(), cols(data.matrix()), {}};
  } catch (const Error& error) {
    return {{}, 0, 0, error.what()};
  }
}

Read with_threads(std::size_t threads, Way way, const std::string& text, const ReadOptions& options) {
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  return outcome(way(text), options);
}

// The outcome with one thread and, in every way, with several, which must be one and the same.
Read read_all_ways(const std::string& text, const ReadOptions& options = {}) {
  const Read first = with_threads(1, in_memory, text, options);
  for (const Way way : ways) {
    const Read read = with_threads(4, way, text, options);
    EXPECT_EQ(read.error, first.error);
    EXPECT_TRUE(read == first);
  }
  return first;
}

constexpr std::size_t rows_of_pieces = piece_bytes / 17;  // a piece and a half

std::string row(std::size_t i) { return fmt::format("{},{},{}.25,{},0.5,-7\n", i % 2, i, i % 1000, 123456 + i); }

std::string table(std::size_t count = rows_of_pieces, const std::string& header = "label,a,b,c,d,e\n") {
  std::string text = header;
  for (std::size_t i = 0; i < count; ++i) text += row(i);
  return text;
}

TEST(CsvParallel, AllWaysAgree) {
  const std::string text = table(2 * rows_of_pieces);
  ASSERT_GT(text.size(), 3 * piece_bytes);
  const Read read = read_all_ways(text);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.columns, 5U);
  EXPECT_EQ(read.storage, 3U);  // dense floats
  EXPECT_EQ(read_all_ways(text, {.label = "c", .drop = {"a", "1"}}).columns, 3U);
}

// Whether the first rows are those of table(), whatever they are stored in.
template <class Rows>
void expect_rows_of_table(const Rows& matrix, std::size_t first) {
  for (std::size_t i = 0; i < rows_of_pieces; ++i) {
    const auto values = matrix.row(first + i).values;
    const auto number = static_cast<double>(i);
    ASSERT_EQ(values[0], number);
    ASSERT_EQ(values[1], static_cast<double>(i % 1000) + 0.25);
    ASSERT_EQ(values[2], 123456 + number);
    ASSERT_EQ(values[3], 0.5);
    ASSERT_EQ(values[4], -7);
  }
}

TEST(CsvParallel, OneInexactValueAnywhereMakesDoubles) {
  const std::string header = "label,a,b,c,d,e\n";
  const std::string text = table(rows_of_pieces, "");
  const auto check = [&](const std::string& whole, std::size_t first, std::size_t storage) {
    EXPECT_EQ(read_all_ways(whole).storage, storage);
    Source source = in_memory(whole);
    const Dataset data = read_csv(source, {}, ',');
    if (storage == 2) expect_rows_of_table(std::get<DenseRows<double>>(data.matrix()), first);
    if (storage == 3) expect_rows_of_table(std::get<DenseRows<float>>(data.matrix()), first);
  };
  check(header + text, 0, 3);
  check(header + text + "1,0.1,0,0,0,0\n", 0, 2);
  check(header + text + "1,1e300,0,0,0,0\n" + text, 0, 2);
  check(header + "1,0.1,0,0,0,0\n" + text, 1, 2);
}

TEST(CsvLarge, SparseTables) {
  Random random(3);
  std::string text;
  for (std::size_t i = 0; i < piece_bytes / 35; ++i) {
    text += fmt::format("{}", i % 3);
    for (std::size_t j = 0; j < 60; ++j) text += random.uniform() < 0.1 ? fmt::format(",{}", i + j) : ",0";
    text += '\n';
  }
  ASSERT_GT(text.size(), 3 * piece_bytes);
  const Read read = read_all_ways(text);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.storage, 1U);  // sparse floats
  const std::string inexact = text + text.substr(0, text.find(',')) + ",0.1" + text.substr(text.find(',') + 2);
  EXPECT_EQ(outcome(in_memory(inexact), {}).storage, 0U);

  Source source = in_memory(text);
  const Dataset data = read_csv(source, {}, ',');
  StringSink again;
  write_csv(again, data, ',');
  EXPECT_EQ(again.text().substr(again.text().find('\n') + 1), text);
}

TEST(CsvLarge, QuotesAcrossThePlacesWhereTextIsCut) {
  std::string text = "y,note,x\n";
  std::size_t lines = 1;
  for (std::size_t i = 0; text.size() < 3 * piece_bytes; ++i) {
    const std::string note(i % 50, i % 7 == 0 ? '\n' : 'n');
    text += fmt::format("{},\"a \"\"quoted\"\" note, {}\",{}\n", i, note, 2 * i);
    lines += 1 + (i % 7 == 0 ? i % 50 : 0);
  }
  EXPECT_EQ(read_all_ways(text, {.drop = {"note"}}).error, "");
  const Read bad = read_all_ways(text + "1,2,x\n", {.drop = {"note"}});
  EXPECT_TRUE(bad.error.starts_with(fmt::format("f:{}:5: row ", lines + 1))) << bad.error;
}

TEST(CsvParallel, MistakesDeepInsideAreFoundWhereTheyAre) {
  const std::string text = table();
  const std::size_t rows = rows_of_pieces;
  EXPECT_EQ(
      read_all_ways(text + "1,2,3,,5,6\n" + text).error,
      fmt::format("f:{}:7: row {}, column 4 ('c'): missing value '': fill it in, or leave the column out with "
                  "--drop c",
                  rows + 2, rows + 1));
  EXPECT_EQ(read_all_ways(text + "1,2,3\n" + table(rows, "")).error,
            fmt::format("f:{}:6: row {}: 3 cells where the first line has 6", rows + 2, rows + 1));
  // The first of several, whoever finds its own first.
  EXPECT_EQ(read_all_ways(text + "1,2\n" + table(rows, "") + "x\n").error,
            fmt::format("f:{}:4: row {}: 2 cells where the first line has 6", rows + 2, rows + 1));
  EXPECT_EQ(read_all_ways(text + "\n\n1,2,\"3,4,5,6\n" + table(rows, "")).error,
            fmt::format("f:{}:5: row {}: quotes that are never closed", rows + 4, rows + 1));
}

// A header that comes again is text among numbers, also where it happens to be the first line of a piece.
TEST(CsvLarge, TheHeaderAgain) {
  const std::string header = "label,a\n";
  std::string text = header;
  std::size_t rows = 0;
  while (text.size() + 4 < piece_bytes) {
    text += "1,2\n";
    ++rows;
  }
  for (const std::string& filling : {std::string("1,2\n"), std::string("1,-2\n")}) {
    std::string again = text + filling;  // ends around the place of the cut
    EXPECT_EQ(read_all_ways(again + "1,2\n").error, "");
    again += header + "3,4\n";
    EXPECT_EQ(
        read_all_ways(again).error,
        fmt::format("f:{}:1: row {}, column 1 ('label'): label 'label' is not a finite decimal number: number "
                    "the classes, or choose another column with --label",
                    rows + 3, rows + 2));
    EXPECT_TRUE(read_all_ways(text + filling + "\n\n" + header)
                    .error.starts_with(fmt::format("f:{}:1: row {}, column 1 ('label')", rows + 5, rows + 2)));
    const std::string mark = "\xEF\xBB\xBF";
    EXPECT_EQ(read_all_ways(text + filling + mark + "1,2\n").error, "");
    EXPECT_TRUE(read_all_ways(text + filling + mark + header)
                    .error.starts_with(fmt::format("f:{}:4: row {}, column 1 ('label')", rows + 3, rows + 2)));
  }
}

TEST(CsvLarge, AFirstRecordLongerThanAPiece) {
  std::string names = "y", numbers = "1";
  for (std::size_t j = 0; names.size() < piece_bytes + piece_bytes / 8; ++j) {
    names += fmt::format(",x{}", j);
    numbers += ",3";
  }
  const Read read = read_all_ways(names + "\n" + numbers + "\r\n\n" + numbers);
  EXPECT_EQ(read.error, "");
  EXPECT_GT(read.columns, piece_bytes / 20);
  EXPECT_EQ(read_all_ways(names).error, "f: holds no rows");
}

TEST(CsvLarge, BlankLinesBeforeTheHeader) {
  const std::string blank(piece_bytes + 10, '\n');
  const Read read = read_all_ways(blank + "a,y\n1,2\n" + blank + "3,4");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.columns, 1U);
  const std::string error = read_all_ways(blank + "a,y\n1,x\n").error;
  EXPECT_TRUE(error.starts_with(fmt::format("f:{}:3: row 1, column 2 ('y')", blank.size() + 2))) << error;
}

TEST(CsvLarge, TruncatedStreams) {
  const std::string bytes = packed(table(), "gzip");
  auto half = std::make_unique<test::TextStream>(bytes.substr(0, bytes.size() / 2), 1000);
  const Read read = outcome(Source::of_stream(decompressed(std::move(half), "gzip", "f"), "f"), {});
  EXPECT_TRUE(read.error.starts_with("f: the gzip stream is cut off")) << read.error;
}

}  // namespace
}  // namespace fenchel::data::csv_large_test
