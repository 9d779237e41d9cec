#include "fenchel/base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"

namespace fenchel {

namespace {

[[noreturn]] void fail(const std::string& path, int code) {
  throw Error(Fault::failure, fmt::format("{}: cannot write: {}", path, std::generic_category().message(code)));
}

// An open file, and where it is a temporary one, its name: whatever was not kept is removed again.
class Output {
 public:
  Output(const std::string& shown, std::string name, int flags, mode_t mode)
      : shown_(shown), name_(std::move(name)), number_(::open(name_.c_str(), flags | O_WRONLY | O_CLOEXEC, mode)) {
    if (number_ < 0) fail(shown_, errno);
    temporary_ = (flags & O_CREAT) != 0;
  }
  ~Output() {
    if (number_ >= 0) ::close(number_);
    if (temporary_) ::unlink(name_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void set_mode(mode_t mode) const {
    if (::fchmod(number_, mode) != 0) fail(shown_, errno);
  }
  void write(std::string_view content) const {
    while (!content.empty()) {
      const ssize_t written = ::write(number_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(shown_, errno);
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  // Delayed errors of the disk show here at the latest. What cannot be synchronised (pipes, some devices) says EINVAL.
  void finish() {
    if (::fsync(number_) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) fail(shown_, errno);
    const int number = std::exchange(number_, -1);
    if (::close(number) != 0 && errno != EINTR) fail(shown_, errno);
  }
  void rename_to(const std::string& target) {
    if (std::rename(name_.c_str(), target.c_str()) != 0) fail(shown_, errno);
    temporary_ = false;
  }

 private:
  const std::string& shown_;
  std::string name_;
  int number_;
  bool temporary_ = false;
};

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::string temporary_name(const std::string& directory) {
  std::random_device entropy;
  return fmt::format("{}/.fenchel-{}-{:08x}{:08x}.tmp", directory, ::getpid(), entropy(), entropy());
}

// Where a symbolic link leads, if it leads anywhere.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

// The renaming survives a power failure only once the directory is written too. The file itself is complete either way, so
// that trouble here is none of the caller's.
void synchronize(const std::string& directory) {
  const int number = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (number < 0) return;
  ::fsync(number);
  ::close(number);
}

class FileSink final : public Sink {
 public:
  explicit FileSink(const std::string& path) : path_(path) {}
  void write(std::string_view bytes) override { text_ += bytes; }
  void finish() override {
    if (path_ == "-") {
      std::fwrite(text_.data(), 1, text_.size(), stdout);
      if (std::fflush(stdout) != 0) fail("standard output", errno);
    } else {
      write_file(path_, text_);
    }
  }

 private:
  std::string path_, text_;
};

}  // namespace

std::unique_ptr<Sink> file_sink(const std::string& path) { return std::make_unique<FileSink>(path); }

void write_file(const std::string& path, std::string_view content) {
  struct stat status = {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    Output device(path, path, 0, 0);
    device.write(content);
    device.finish();
    return;
  }
  if (path.empty() || path.back() == '/') fail(path, path.empty() ? ENOENT : EISDIR);
  const std::string target = exists ? resolved(path) : path;
  const std::string directory = directory_of(target);
  constexpr mode_t before_umask = 0666;
  Output file(path, temporary_name(directory), O_CREAT | O_EXCL, before_umask);
  if (exists) file.set_mode(status.st_mode & 07777);
  file.write(content);
  file.finish();
  file.rename_to(target);
  synchronize(directory);
}

}  // namespace fenchel
