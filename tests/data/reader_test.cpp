// Formats are recognised by their content; options that a format has no use for are refused; labels may come from a
// second file.
#include "fenchel/data/reader.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "tests/support/refusal.hpp"

namespace fenchel::data::reader_test {
namespace {

using namespace std::string_literals;

TEST(Recognition, ByContent) {
  const auto format = [](const std::string& head) { return recognized(head, "x"); };
  for (const std::string head :
       {"1 1:2\n", "1\t1:2\n", "+1 qid:3 1:2", "1,2,3 4:5\n", "1\n-1\n", "# 1,2,3\n1 2:3\n", "\xEF\xBB\xBF 1 1:1\n",
        "", "\n\n1 1:1,5\n", "1 # a,b,c\n", "hello", "1 2 3\n", "1:2 3:4\n"}) {
    EXPECT_EQ(format(head), "svmlight") << head;
  }
  for (const std::string head : {"1,2,3\n", "1;2\n", "a,b:c,d\n1,2,3\n", "\"x:1\",y\n", "a, b\n",
                                 "1, 2:3\n" /* a time */, "# title\n1,2\n", "\xEF\xBB\xBFlabel,x\n", "1,,3\n"}) {
    EXPECT_EQ(format(head), head == "1, 2:3\n" ? "svmlight" : "csv") << head;
  }
  for (const std::string head : {"1\t2\t3\n", "a\tb\n", "a,b\tc\td\n"}) EXPECT_EQ(format(head), "tsv") << head;
  EXPECT_EQ(format("\x93NUMPY\x01\0"s), "npy");
  EXPECT_EQ(format("%%MatrixMarket matrix"), "mtx");
  EXPECT_EQ(format("%%matrixmarket MATRIX"), "mtx");
  EXPECT_EQ(format("FENCHELB\x04\x03"), "fenchel-binary");
}

TEST(Recognition, ModelsAreNoData) {
  for (const auto& [head, whose] :
       {std::pair{"fenchel\x1a\x01"s, "fenchel"s}, {"solver_type L2R_LR\n", "LIBLINEAR"}}) {
    const std::string& start = head;  // clang 14 captures no structured bindings
    const std::string sentence = test::refusal(Fault::input, [&] { recognized(start, "x"); });
    EXPECT_TRUE(sentence.starts_with("x: is a model of " + whose)) << sentence;
  }
}

class ReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "fenchel-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string file(const std::string& name, const std::string& content) const {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  [[nodiscard]] std::string mtx() const {
    return file("m", "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 5\n3 2 7\n");
  }

  std::string directory_;
};

std::string refusal(Fault fault, const std::string& path, const ReadOptions& options) {
  return test::refusal(fault, [&] { read(path, options); });
}

std::vector<double> targets(const Dataset& data) { return data.targets.vector(); }

TEST_F(ReaderTest, OptionsOfOtherFormats) {
  const std::string path = mtx(), rows = file("s", "1 1:1\n");
  EXPECT_EQ(refusal(Fault::usage, path, {.label = "1"}),
            "--label is for csv and tsv, whose columns have names or positions, but the data are mtx");
  EXPECT_EQ(refusal(Fault::usage, rows, {.drop = {"1"}}),
            "--drop is for csv and tsv, whose columns have names or positions, but the data are svmlight");
  EXPECT_EQ(refusal(Fault::usage, path, {.index_base = 0, .index_base_demanded = true}),
            "--zero-based is for svmlight, but the data are mtx");
  EXPECT_EQ(refusal(Fault::usage, file("c", "1,2\n"), {.label = "1", .labels_path = rows}),
            "--label and --labels exclude each other: give only one of them");
  EXPECT_EQ(refusal(Fault::usage, rows, {.format = "arff"}),
            "--format 'arff' is unknown; choose one of: svmlight, csv, tsv, npy, mtx, fenchel-binary");
  EXPECT_EQ(refusal(Fault::usage, "-", {.labels_path = "-"}),
            "data and --labels cannot both come from standard input");
  EXPECT_EQ(read(path, {.index_base = 0}).rows(), 3U);  // a model may say so, whatever the format
}

TEST_F(ReaderTest, FormatsByName) {
  const std::string path = mtx();
  EXPECT_EQ(read(path, {.format = "mtx"}).rows(), 3U);
  EXPECT_EQ(refusal(Fault::input, path, {.format = "npy"}), path + ": is not in NumPy's npy format");
  EXPECT_TRUE(refusal(Fault::input, path, {.format = "svmlight"}).starts_with(path + ":1:1: "));
  EXPECT_TRUE(refusal(Fault::input, file("s", "1 1:1\n"), {.format = "mtx"}).find("banner") != std::string::npos);
}

TEST_F(ReaderTest, LabelsFromASecondFile) {
  const std::string path = mtx(), labels = file("y", "1\n2\n3\n");
  EXPECT_TRUE(read(path).targets.empty());
  EXPECT_EQ(targets(read(path, {.labels_path = labels})), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(targets(read(path, {.positive = 2.0, .labels_path = labels})), (std::vector<double>{-1, 1, -1}));
  EXPECT_EQ(targets(read(file("s", "7 1:1\n8\n9 2:3\n"), {.labels_path = labels})), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(targets(read(file("s", "7 1:1\n8\n9 2:3\n"), {.positive = 3.0, .labels_path = labels})),
            (std::vector<double>{-1, -1, 1}));
  // All columns of a table are features then.
  const Dataset table = read(file("c", "label,b\n4,5\n6,7\n8,9\n"), {.labels_path = labels});
  EXPECT_EQ(targets(table), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(cols(table.matrix()), 2U);
}

TEST_F(ReaderTest, LabelsThatDoNotFit) {
  const std::string path = mtx(), two = file("y", "1\n2\n"), bad = file("z", "1\nx\n3\n");
  EXPECT_EQ(refusal(Fault::input, path, {.labels_path = two}),
            two + ": holds 2 labels, but " + path + " has 3 rows: one label a row is needed");
  EXPECT_EQ(refusal(Fault::input, path, {.labels_path = bad}), bad + ":2:1: 'x' is not a decimal number");
  EXPECT_TRUE(refusal(Fault::input, path, {.labels_path = directory_ + "/none"}).find("cannot be read"));
  EXPECT_EQ(refusal(Fault::usage, path, {.positive = 1.0}),
            "--positive needs labels, but " + path + " has none: name them with --labels");
}

}  // namespace
}  // namespace fenchel::data::reader_test
