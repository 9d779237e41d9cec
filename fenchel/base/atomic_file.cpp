#include "fenchel/base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"

namespace fenchel {

namespace {

// Small writes are gathered: a system call each would cost more than the bytes.
constexpr std::size_t gathered_bytes = std::size_t{1} << 20;
constexpr mode_t before_umask = 0666;

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

// An open file that gathers what is written. What follows from its kind is up to finish().
class Output : public Sink {
 public:
  ~Output() override { close(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view bytes) final {
    if (gathered_.size() + bytes.size() > gathered_bytes) flush();
    if (bytes.size() >= gathered_bytes) {
      put(bytes);
    } else {
      gathered_ += bytes;
    }
  }

 protected:
  explicit Output(std::string shown) : shown_(std::move(shown)) {}

  [[noreturn]] void fail(int code) const {
    throw Error(Fault::failure, fmt::format("{}: cannot write: {}", shown_, std::generic_category().message(code)));
  }
  bool open(const std::string& name, int flags, mode_t mode = 0) {
    number_ = ::open(name.c_str(), flags | O_WRONLY | O_CLOEXEC, mode);
    return number_ >= 0;
  }
  void adopt(int number) { number_ = number; }
  [[nodiscard]] int number() const { return number_; }
  void flush() {
    put(gathered_);
    gathered_.clear();
  }
  // Delayed errors of the disk show here at the latest. What cannot be synchronised (pipes, some devices) says EINVAL.
  void flush_to_disk() {
    flush();
    if (::fsync(number_) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) fail(errno);
  }
  // How closing went. Standard output is not ours to close.
  int close() {
    const int number = std::exchange(number_, -1);
    return number > STDERR_FILENO && ::close(number) != 0 && errno != EINTR ? errno : 0;
  }

 private:
  void put(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(number_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  std::string shown_;
  int number_ = -1;
  std::string gathered_;
};

// Something that is written to as it is.
class DirectOutput final : public Output {
 public:
  explicit DirectOutput(const std::string& path) : Output(path) {
    if (!open(path, 0)) fail(errno);
  }
  explicit DirectOutput(int number) : Output("<stdout>") { adopt(number); }

  void finish() override {
    flush_to_disk();
    if (const int code = close(); code != 0) fail(code);
  }
};

// A file that gets its name when it is finished.
class FileOutput final : public Output {
 public:
  FileOutput(const std::string& path, const struct stat* replaced)
      : Output(path), target_(replaced != nullptr ? resolved(path) : path), directory_(directory_of(target_)) {
    if (!open_nameless() && !open_temporary()) fail(errno);
    constexpr mode_t permissions = 07777;
    if (replaced != nullptr && ::fchmod(number(), replaced->st_mode & permissions) != 0) {
      const int code = errno;
      remove_temporary();
      fail(code);
    }
  }
  ~FileOutput() override { remove_temporary(); }
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  void finish() override {
    flush_to_disk();
    if (temporary_.empty()) name();
    if (const int code = close(); code != 0) fail(code);
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
    temporary_.clear();
    synchronize(directory_);
  }

 private:
  // Such a file vanishes with the process, however that ends. Not every file system has them, and without /proc they
  // cannot be named.
  bool open_nameless() { return ::access("/proc/self/fd", X_OK) == 0 && open(directory_, O_TMPFILE, before_umask); }
  bool open_temporary() {
    std::string chosen = temporary_name(directory_);
    if (!open(chosen, O_CREAT | O_EXCL, before_umask)) return false;
    temporary_ = std::move(chosen);
    return true;
  }
  // A name cannot be given over one that exists: a temporary one first, to be renamed.
  void name() {
    std::string chosen = temporary_name(directory_);
    const std::string self = fmt::format("/proc/self/fd/{}", number());
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, chosen.c_str(), AT_SYMLINK_FOLLOW) != 0) fail(errno);
    temporary_ = std::move(chosen);
  }
  void remove_temporary() const {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  std::string target_;
  std::string directory_;
  std::string temporary_;  // its name, while it has one
};

std::unique_ptr<Sink> open_path(const std::string& path) {
  const auto fail = [&](int code) {
    throw Error(Fault::failure, fmt::format("{}: cannot write: {}", path, std::generic_category().message(code)));
  };
  struct stat status = {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return std::make_unique<DirectOutput>(path);
  if (path.empty() || path.back() == '/') fail(path.empty() ? ENOENT : EISDIR);
  return std::make_unique<FileOutput>(path, exists ? &status : nullptr);
}

}  // namespace

std::unique_ptr<Sink> file_sink(const std::string& path) {
  if (path == "-") return std::make_unique<DirectOutput>(STDOUT_FILENO);
  return open_path(path);
}

void write_file(const std::string& path, std::string_view content) {
  const std::unique_ptr<Sink> file = open_path(path);
  file->write(content);
  file->finish();
}

}  // namespace fenchel
