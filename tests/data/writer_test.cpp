// Writers: the shortest numbers that read back as the same; every format and compression gives back the same matrix,
// bit for bit; what a format cannot hold is refused before a file appears.
#include "fenchel/data/writer.hpp"

#include <bit>
#include <cfloat>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/svmlight.hpp"
#include "fenchel/data/text_block.hpp"
#include "tests/support/refusal.hpp"

namespace fenchel::data {
namespace {

std::string text_of(double number) {
  TextBlock block;
  block.add(number);
  return std::string(block.text());
}

TEST(TextBlock, NumbersAreTheShortestOnes) {
  const std::vector<std::pair<double, std::string>> known{{0.0, "0"},
                                                          {-0.0, "-0"},
                                                          {1.0, "1"},
                                                          {-1.0, "-1"},
                                                          {0.1, "0.1"},
                                                          {-0.5, "-0.5"},
                                                          {0.1 + 0.2, "0.30000000000000004"},
                                                          {1e-4, "0.0001"},
                                                          {9999999.99999999, "9999999.99999999"},
                                                          {9999999.0, "9999999"},
                                                          {1e7, "10000000"},
                                                          {123456.00000001, "123456.00000001"},
                                                          {1e-5, "1e-05"},
                                                          {1e22, "1e+22"},
                                                          {DBL_MAX, "1.7976931348623157e+308"},
                                                          {5e-324, "5e-324"},
                                                          {static_cast<double>(0.1F), "0.10000000149011612"}};
  for (const auto& [number, text] : known) EXPECT_EQ(text_of(number), text);
}

// The short cut for numbers of few digits must not be seen.
TEST(TextBlock, NumbersAreThoseOfTheLibraryThatFormatsThem) {
  Random random(7);
  for (int k = 0; k < 300000; ++k) {
    const double scale = std::pow(10.0, std::floor(12.0 * random.uniform()));
    const double size = std::pow(10.0, std::floor(14.0 * random.uniform()) - 6.0);
    double number = std::round(random.normal() * scale) / scale * size;
    if (k % 3 == 0) number = std::nextafter(number, 1e300);
    ASSERT_EQ(text_of(number), fmt::format("{}", number));
  }
}

TEST(TextBlock, GrowsAsNeeded) {
  TextBlock block;
  std::string expected;
  for (std::uint64_t k = 0; k < 50000; ++k) {
    block.add(k);
    block.add(' ');
    block.add("ab");
    expected += fmt::format("{} ab", k);
  }
  EXPECT_EQ(block.text(), expected);
  block.add(std::string_view());
  EXPECT_EQ(block.text(), expected);
}

TEST(TextBlockParallel, BlocksAreWrittenInOrder) {
  for (const std::size_t items : {0, 1, 7, 1000}) {
    for (const std::size_t in_block : {1, 3, 2000}) {
      StringSink sink;
      std::string expected;
      for (std::size_t i = 0; i < items; ++i) expected += fmt::format("{}\n", i);
      write_in_order(sink, items, in_block, [](TextBlock& block, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          block.add(std::uint64_t{i});
          block.add('\n');
        }
      });
      EXPECT_EQ(sink.text(), expected);
    }
  }
}

TEST(TextBlockParallel, AnErrorWithinABlockGetsOut) {
  StringSink sink;
  const auto fill = [](TextBlock&, std::size_t begin, std::size_t) {
    if (begin == 500) throw Error(Fault::input, "row 500");
  };
  EXPECT_THROW(write_in_order(sink, 1000, 10, fill), Error);
}

Dataset from_svmlight(const std::string& text, const ReadOptions& options = {}) {
  Source source = Source::of_text(text, "s");
  return read_svmlight(source, options);
}

std::string svmlight_of(const Dataset& data) {
  StringSink sink;
  write_svmlight(sink, data);
  return sink.text();
}

TEST(Svmlight, WhatIsWritten) {
  for (const std::string text : {"1 1:0.5 3:-2\n-1\n2.5 2:1e-30\n", "1 qid:3 1:1\n0 qid:0 2:5\n", "1 0:0 2:1\n",
                                 "1 0:1 7:0\n2 3:4\n", "1 1:1 9:0\n-1 4:1\n", "1\n2\n", "1 0:0\n", "1 1:0\n"}) {
    EXPECT_EQ(svmlight_of(from_svmlight(text)), text);
  }
}

TEST(Svmlight, RowsWithoutLabelsCannotBeWritten) {
  Dataset data = from_svmlight("1 1:1\n");
  data.targets = Array<double>{};
  EXPECT_THROW(svmlight_of(data), Error);
}

TEST(FileKind, ByExtension) {
  const auto kind = [](std::string_view path) {
    const FileKind found = kind_of(path);
    return found.format + "|" + found.compression;
  };
  EXPECT_EQ(kind("a.svm"), "svmlight|");
  EXPECT_EQ(kind("a.svmlight"), "svmlight|");
  EXPECT_EQ(kind("a.libsvm"), "svmlight|");
  EXPECT_EQ(kind("dir.csv/a.txt"), "svmlight|");
  EXPECT_EQ(kind("a.csv.gz"), "csv|gzip");
  EXPECT_EQ(kind("a.tsv.zst"), "tsv|zstd");
  EXPECT_EQ(kind("a.b.npy.bz2"), "npy|bzip2");
  EXPECT_EQ(kind("/x/a.mtx.xz"), "mtx|xz");
  EXPECT_EQ(kind("a.fbin"), "fenchel-binary|");
  for (const std::string_view none : {"-", "", "a", "svm", ".svm", "x/.csv", "a.svm/b", "a.svm.zip", "a.svm~"}) {
    EXPECT_EQ(kind(none), "|") << none;
  }
  EXPECT_EQ(kind("a.gz"), "|gzip");
  EXPECT_EQ(kind("a.svm.gz.gz"), "|gzip");
}

TEST(FileKind, NamesOfLabelFiles) {
  EXPECT_EQ(labels_path_for("d/a.npy", "npy"), "d/a.labels.npy");
  EXPECT_EQ(labels_path_for("a.mtx.gz", "mtx"), "a.labels.txt");
  EXPECT_EQ(labels_path_for("a.b", "mtx"), "a.b.labels.txt");
}

TEST(FileKind, UnknownNames) {
  const auto refusal = [](const FileKind& kind) { return test::refusal(Fault::usage, [&] { check_kind(kind); }); };
  EXPECT_EQ(refusal({"arff", ""}),
            "--to 'arff' is unknown; choose one of: svmlight, csv, tsv, npy, mtx, fenchel-binary");
  EXPECT_EQ(refusal({"csv", "zip"}), "--compress 'zip' is unknown; choose one of: gzip, zstd, bzip2, xz");
  EXPECT_NO_THROW(check_kind({"", ""}));
}

// --- through files ---

class FormatsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "fenchel-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_), {}));
  }

  // Writes and reads again.
  [[nodiscard]] Dataset through(const Dataset& data, const std::string& name) const {
    const WriteOptions options{.kind = kind_of(name), .labels_path = {}};
    const std::size_t bytes = write(path(name), data, options);
    EXPECT_EQ(bytes, std::filesystem::file_size(path(name)));
    ReadOptions reading{.precision = data.precision};
    const bool apart = !holds_labels(options.kind.format);
    if (apart) reading.labels_path = labels_path_for(path(name), options.kind.format);
    return read(path(name), reading);
  }

  std::string directory_;
};

bool same_bits(const Dataset& a, const Dataset& b) {
  const auto bits = [](const Dataset& data) {
    std::vector<std::uint64_t> words;
    std::visit(
        [&](const auto& m) {
          for (std::size_t i = 0; i < m.rows(); ++i) {
            m.row(i).for_each([&](std::size_t j, double value) {
              if (value != 0.0) words.insert(words.end(), {i, j, std::bit_cast<std::uint64_t>(value)});
            });
          }
        },
        data.matrix());
    for (const double y : data.targets) words.push_back(std::bit_cast<std::uint64_t>(y));
    return words;
  };
  return bits(a) == bits(b);
}

void expect_same(const Dataset& a, const Dataset& b, const std::string& what) {
  EXPECT_EQ(a.rows(), b.rows()) << what;
  EXPECT_EQ(cols(a.matrix()), cols(b.matrix())) << what;
  EXPECT_TRUE(same_bits(a, b)) << what;
  EXPECT_EQ(fingerprint(a.matrix(), a.targets), fingerprint(b.matrix(), b.targets)) << what;
  EXPECT_EQ(a.precision, b.precision) << what;
}

// Extremes, empty rows and columns, an empty last column.
Dataset sparse_data(Precision precision) {
  Random random(3);
  std::string text = "1 1:0.1 3:-1e30 9:0\n-1\n2.5 8:3\n-1e-7 2:5e-30 3:7\n";
  for (int i = 0; i < 300; ++i) {
    text += fmt::format("{}", random.normal());
    for (int j = 1; j < 9; ++j) {
      if (random.uniform() < 0.3) text += fmt::format(" {}:{}", j, random.normal());
    }
    text += '\n';
  }
  if (precision == Precision::f64) text += "1 1:5e-324 2:1.7976931348623157e308\n";
  return from_svmlight(text, {.precision = precision});
}

Dataset dense_data(Precision precision) {
  Random random(4);
  std::vector<double> values(70 * 5), targets(70);
  for (double& value : values) value = random.normal();
  for (double& target : targets) target = random.normal();
  values[3] = 0.0;
  if (precision == Precision::f64) values[4] = DBL_MAX;
  Dataset data;
  data.storage = DenseStorage{.values = compact(std::move(values), precision), .row_count = 70, .column_count = 5};
  data.targets = std::move(targets);
  data.precision = precision;
  return data;
}

const std::vector<std::string> names{"a.svm", "a.csv", "a.tsv", "a.npy", "a.mtx", "a.fbin"};

TEST_F(FormatsTest, EveryPairGivesBackTheSameBits) {
  for (const Precision precision : {Precision::f64, Precision::f32}) {
    for (const Dataset& data : {sparse_data(precision), dense_data(precision)}) {
      for (const std::string& first : names) {
        const Dataset once = through(data, first);
        expect_same(data, once, first);
        for (const std::string& second : names)
          expect_same(data, through(once, "b" + second), first + " " + second);
      }
    }
  }
}

TEST_F(FormatsTest, CompressedOnes) {
  const Dataset data = sparse_data(Precision::f64);
  for (const std::string& name : names) {
    for (const std::string extension : {".gz", ".zst", ".bz2", ".xz"}) {
      if (name == "a.fbin") continue;  // mapped as it is
      expect_same(data, through(data, name + extension), name + extension);
    }
  }
}

TEST_F(FormatsTest, QueriesAndBases) {
  const Dataset data = from_svmlight("1 qid:9 0:0 3:1\n2 qid:4 1:5\n");
  for (const std::string name : {"a.svm", "a.fbin"}) {
    const Dataset again = through(data, name);
    expect_same(data, again, name);
    EXPECT_EQ(again.query, data.query);
    EXPECT_EQ(again.index_base, 0);
  }
}

std::string refusal_of(const std::string& path, const Dataset& data, const WriteOptions& options) {
  return test::refusal(Fault::usage, [&] { write(path, data, options); });
}

TEST_F(FormatsTest, WhatAFormatCannotHold) {
  const Dataset queries = from_svmlight("1 qid:9 1:1\n");
  for (const std::string format : {"csv", "tsv", "npy", "mtx"}) {
    EXPECT_EQ(refusal_of(path("a"), queries, {.kind = {format, ""}, .labels_path = {}}),
              format + " has no place for the qid of the rows: write svmlight or fenchel-binary (.fbin) instead");
  }
  Dataset unlabeled = from_svmlight("1 1:1\n");
  EXPECT_EQ(refusal_of("-", unlabeled, {.kind = {"mtx", ""}, .labels_path = {}}),
            "mtx has no place for the labels: give them a file of their own with --labels-out");
  unlabeled.targets = Array<double>{};
  EXPECT_EQ(refusal_of(path("a"), unlabeled, {.kind = {"svmlight", ""}, .labels_path = {}}),
            "svmlight has a label in every row, but these data have none: name them with --labels");
  EXPECT_EQ(refusal_of(path("a"), unlabeled, {.kind = {"mtx", ""}, .labels_path = {}, .columns = true}),
            "--columns is for fenchel-binary (.fbin) only, not for mtx");
  EXPECT_EQ(refusal_of(path("a"), unlabeled, {.kind = {"", ""}, .labels_path = {}}),
            "a format to write must be named");
  EXPECT_EQ(files(), 0U);
}

TEST_F(FormatsTest, WithoutLabels) {
  Dataset data = sparse_data(Precision::f64);
  data.targets = Array<double>{};
  for (const std::string name : {"a.npy", "a.mtx", "a.fbin"}) {
    write(path(name), data, {.kind = kind_of(name), .labels_path = {}});
    EXPECT_TRUE(read(path(name)).targets.empty()) << name;
  }
  EXPECT_EQ(files(), 3U);
}

TEST_F(FormatsTest, LabelsInFilesOfTheirOwn) {
  const Dataset data = sparse_data(Precision::f64);
  for (const std::string labels : {"y", "y.txt", "y.npy", "y.txt.gz", "y.npy.zst"}) {
    write(path("a"), data, {.kind = {"mtx", ""}, .labels_path = path(labels)});
    expect_same(data, read(path("a"), {.labels_path = path(labels)}), labels);
  }
}

TEST(WriterParallel, ManyRows) {
  std::string text;
  Random random(5);
  for (int i = 0; i < 40000; ++i) text += fmt::format("{} 1:{} {}:1\n", i % 7, random.normal(), 2 + i % 11);
  EXPECT_EQ(svmlight_of(from_svmlight(text)), text);
}

}  // namespace
}  // namespace fenchel::data
