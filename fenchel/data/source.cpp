#include "fenchel/data/source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/pages.hpp"

namespace fenchel::data {

namespace {

constexpr std::size_t head_bytes = std::size_t{1} << 16;

[[noreturn]] void unreadable(const std::string& name, int code) {
  throw Error(Fault::input, fmt::format("{}: cannot be read: {}", name, std::generic_category().message(code)));
}

// A file in memory without being read: pages come when they are touched, and are shared between processes.
class Mapping {
 public:
  Mapping(int file, std::size_t bytes, const std::string& name) {
    // The file lies over zero pages that reach beyond its end, so that looking ahead is allowed.
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    size_ = (bytes / page + 2) * page;
    data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) unreadable(name, errno);
    if (::mmap(data_, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
      const int code = errno;
      ::munmap(data_, size_);
      unreadable(name, code);
    }
  }
  ~Mapping() { ::munmap(data_, size_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] const char* data() const { return static_cast<const char*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

Source::Source(const std::string& path) : name_(path == "-" ? "<stdin>" : path) {
  const int file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) unreadable(name_, errno);
  std::unique_ptr<Stream> bytes = file_stream(file, name_);  // owns the file from here on
  struct stat status = {};
  if (::fstat(file, &status) != 0) unreadable(name_, errno);
  if (S_ISDIR(status.st_mode)) unreadable(name_, EISDIR);

  // A regular file of size 0 may still have content, as those of /proc do. Standard input may be a file that was read
  // in part already, and is left to the stream.
  const bool mappable = S_ISREG(status.st_mode) && status.st_size > 0 && path != "-";
  if (S_ISREG(status.st_mode)) size_on_disk_ = static_cast<std::size_t>(status.st_size);
  constexpr std::size_t longest_magic = 16;
  if (mappable) {
    const auto mapping = std::make_shared<const Mapping>(file, size_on_disk_, name_);
    text_ = {mapping->data(), size_on_disk_};
    if (compression_of(text_.substr(0, longest_magic)).empty()) {
      owner_ = mapping;
      mapped_ = true;
      return;
    }
  }
  const std::string_view compression = compression_of(bytes->peek(longest_magic));
  stream_ = compression.empty() ? std::move(bytes) : decompressed(std::move(bytes), compression, name_);
}

Source Source::of_text(std::string_view text, std::string name) {
  Source source;
  source.name_ = std::move(name);
  const auto pages = std::make_shared<Pages>(text.size() + padding);
  char* const at = reinterpret_cast<char*>(pages->data());
  std::copy(text.begin(), text.end(), at);
  source.text_ = {at, text.size()};
  source.owner_ = pages;
  return source;
}

Source Source::of_stream(std::unique_ptr<Stream> bytes, std::string name) {
  Source source;
  source.name_ = std::move(name);
  source.stream_ = std::move(bytes);
  return source;
}

std::string_view Source::head() const {
  return whole() ? text_.substr(0, head_bytes) : stream_->peek(head_bytes).substr(0, head_bytes);
}

std::string_view Source::text() {
  if (whole()) return text_;
  Pages pages(std::max(size_on_disk_, head_bytes) + padding);
  std::size_t filled = 0;
  while (true) {
    const std::size_t room = pages.size() - padding - filled;
    char* const at = reinterpret_cast<char*>(pages.data());
    const std::size_t got = stream_->read({at + filled, room});
    filled += got;
    if (got < room) break;
    pages.grow(2 * pages.size());
  }
  pages.shrink(filled + padding);
  const auto owner = std::make_shared<Pages>(std::move(pages));
  text_ = {reinterpret_cast<const char*>(owner->data()), filled};
  owner_ = owner;
  stream_.reset();
  return text_;
}

void Source::finished(std::string_view part) const {
  if (mapped_) let_go(part);
}

Place place_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t newline = before.rfind('\n');
  return {.line = line, .column = newline == std::string_view::npos ? offset + 1 : offset - newline};
}

void reject(const std::string& name, Place place, const std::string& reason) {
  throw Error(Fault::input, fmt::format("{}:{}:{}: {}", name, place.line, place.column, reason));
}

void reject(std::string_view text, const std::string& name, std::size_t offset, const std::string& reason) {
  reject(name, place_of(text, offset), reason);
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
