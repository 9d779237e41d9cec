// Files that appear whole or not at all, written in one go or little by little.
#include "fenchel/base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "tests/support/refusal.hpp"

namespace fenchel {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
  AtomicFile() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::temp_directory_path() / fmt::format("fenchel-{}-{}", test->name(), ::getpid());
    fs::create_directory(directory_);
  }
  ~AtomicFile() override { fs::remove_all(directory_); }

  [[nodiscard]] std::string file(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] auto entries() const { return std::distance(fs::directory_iterator(directory_), {}); }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  template <class Call>
  static std::string failure(Call&& call) {
    return test::refusal(Fault::failure, call);
  }

 private:
  fs::path directory_;
};

TEST_F(AtomicFile, AppearsWithFinish) {
  const std::string path = file("a");
  {
    const auto sink = file_sink(path);
    sink->write("one ");
    sink->write("");
    EXPECT_FALSE(fs::exists(path));
    sink->write("two");
    sink->finish();
  }
  EXPECT_EQ(content(path), "one two");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFile, WithoutFinishNothingIsLeft) {
  write_file(file("old"), "old");
  {
    const auto fresh = file_sink(file("new"));
    const auto replacing = file_sink(file("old"));
    const std::string large(3 << 20, 'x');
    fresh->write(large);
    replacing->write(large);
  }
  EXPECT_EQ(entries(), 1);
  EXPECT_EQ(content(file("old")), "old");
}

TEST_F(AtomicFile, WritesOfAllSizesKeepTheirOrder) {
  std::string all;
  const auto sink = file_sink(file("a"));
  std::size_t size = 1;
  for (char letter = 'a'; letter <= 'v'; ++letter, size *= 2) {  // up to 2 MiB
    const std::string piece(size + (letter % 2), letter);
    sink->write(piece);
    all += piece;
  }
  sink->finish();
  EXPECT_EQ(content(file("a")), all);
}

TEST_F(AtomicFile, ReplacesAndKeepsPermissions) {
  const std::string path = file("a");
  write_file(path, "first");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_exec);
  const auto sink = file_sink(path);
  sink->write("second");
  sink->finish();
  EXPECT_EQ(content(path), "second");
  EXPECT_EQ(fs::status(path).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_exec);
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFile, NewFilesObeyTheUmask) {
  const mode_t before = ::umask(027);
  write_file(file("a"), "x");
  ::umask(before);
  struct stat status = {};
  ASSERT_EQ(::stat(file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST_F(AtomicFile, FollowsLinks) {
  write_file(file("a"), "first");
  fs::create_symlink("a", file("link"));
  write_file(file("link"), "second");
  EXPECT_TRUE(fs::is_symlink(file("link")));
  EXPECT_EQ(content(file("a")), "second");
}

TEST_F(AtomicFile, DevicesAndPipesAreWrittenDirectly) {
  EXPECT_NO_THROW(write_file("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(failure([] { write_file("/dev/full", "x"); }), "/dev/full: cannot write: No space left on device");

  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = content(file("pipe")); });
  const std::string large(300000, 'y');
  const auto sink = file_sink(file("pipe"));
  sink->write(large);
  sink->finish();
  reader.join();
  EXPECT_EQ(got, large);
  EXPECT_TRUE(fs::is_fifo(file("pipe")));
}

TEST_F(AtomicFile, FailuresNameThePath) {
  EXPECT_EQ(failure([&] { file_sink(file("no/such")); }),
            file("no/such") + ": cannot write: No such file or directory");
  EXPECT_EQ(failure([&] { file_sink(file("")); }), file("") + ": cannot write: Is a directory");
  EXPECT_EQ(failure([&] { file_sink(file("new/")); }), file("new/") + ": cannot write: Is a directory");
  EXPECT_EQ(failure([] { file_sink(""); }), ": cannot write: No such file or directory");
  EXPECT_EQ(entries(), 0);
}

TEST_F(AtomicFile, StandardOutput) {
  // Standard output becomes a file for a moment.
  const int kept = ::dup(STDOUT_FILENO);
  const int other = ::open(file("out").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(kept, 0);
  ASSERT_GE(other, 0);
  ::dup2(other, STDOUT_FILENO);
  const auto sink = file_sink("-");
  sink->write("to standard output");
  sink->finish();
  const bool still_open = ::fcntl(STDOUT_FILENO, F_GETFD) != -1;
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  ::close(other);
  EXPECT_TRUE(still_open);
  EXPECT_EQ(content(file("out")), "to standard output");
}

}  // namespace
}  // namespace fenchel
