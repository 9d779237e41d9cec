#include "fenchel/data/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"

namespace fenchel::data {

namespace {

using namespace std::string_view_literals;

[[noreturn]] void unreadable(const std::string& name, int code) {
  throw Error(Fault::input, fmt::format("{}: cannot be read: {}", name, std::generic_category().message(code)));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ > STDERR_FILENO) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::string read_all(const std::string& path, const std::string& name) {
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) unreadable(name, errno);
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) unreadable(name, errno);
  if (S_ISDIR(status.st_mode)) unreadable(name, EISDIR);

  // The size is a hint only: pipes have none, and a file may grow or shrink while it is read. One byte more than
  // the hint lets the read that finds the end of a regular file happen without growing the buffer.
  constexpr std::size_t least = std::size_t{1} << 16;
  const auto hint = S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) + 1 : least;
  std::string content(hint, '\0');
  std::size_t filled = 0;
  while (true) {
    if (filled == content.size()) content.resize(std::max(least, 2 * filled));
    const ssize_t got = ::read(file.number(), content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) unreadable(name, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  content.resize(filled);
  return content;
}

struct Compression {
  std::string_view magic;
  std::string_view program;
  std::string_view keeping;  // arguments that decompress a file next to the original
};

constexpr Compression compressions[] = {
    {"\x1f\x8b"sv, "gzip"sv, "-dk"sv},
    {"\x28\xb5\x2f\xfd"sv, "zstd"sv, "-d"sv},
    {"BZh"sv, "bzip2"sv, "-dk"sv},
    {"\xfd"
     "7zXZ\0"sv,
     "xz"sv, "-dk"sv},
};

void refuse_compressed(std::string_view content, const std::string& path, const std::string& name) {
  for (const auto& [magic, program, keeping] : compressions) {
    if (!content.starts_with(magic)) continue;
    const std::string cure = path == "-" ? fmt::format("pipe it through `{} -dc`", program)
                                         : fmt::format("run `{} {} {}`", program, keeping, path);
    throw Error(Fault::input,
                fmt::format("{}: is compressed with {}, and this version reads uncompressed text only: {} first",
                            name, program, cure));
  }
}

}  // namespace

Source::Source(const std::string& path) : name_(path == "-" ? "<stdin>" : path), content_(read_all(path, name_)) {
  refuse_compressed(content_, path, name_);
}

void reject(std::string_view text, const std::string& name, std::size_t offset, const std::string& reason) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
  throw Error(Fault::input, fmt::format("{}:{}:{}: {}", name, line, column, reason));
}

std::string quote(std::string_view token) {
  constexpr std::size_t longest = 40;
  constexpr std::string_view dots = "...";
  std::string shown;
  std::size_t cut = 0;  // where the dots go if the rest turns out not to fit
  for (const char c : token) {
    const bool plain = c >= ' ' && c <= '~' && c != '\\';
    const std::string piece = plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    if (shown.size() + piece.size() > longest) {
      shown.resize(cut);
      shown += dots;
      break;
    }
    shown += piece;
    if (shown.size() + dots.size() <= longest) cut = shown.size();
  }
  return "'" + shown + "'";
}

}  // namespace fenchel::data
