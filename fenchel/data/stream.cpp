#include "fenchel/data/stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"

namespace fenchel::data {

namespace {

using namespace std::string_view_literals;

class FileStream final : public Stream {
 public:
  FileStream(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  ~FileStream() override {
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

 private:
  std::size_t more(std::span<char> into) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, into.data(), into.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno == EINTR) continue;
      throw Error(Fault::input,
                  fmt::format("{}: cannot be read: {}", name_, std::generic_category().message(errno)));
    }
  }

  int descriptor_;
  std::string name_;
};

struct Magic {
  std::string_view bytes;
  std::string_view compression;
};

constexpr std::array<Magic, 4> magics{{
    {"\x1f\x8b"sv, "gzip"sv},
    {"\x28\xb5\x2f\xfd"sv, "zstd"sv},
    {"BZh"sv, "bzip2"sv},
    {"\xfd\x37zXZ\0"sv, "xz"sv},
}};

}  // namespace

std::size_t Stream::read(std::span<char> into) {
  std::size_t filled = std::min(into.size(), ahead_.size() - taken_);
  std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(taken_), filled, into.begin());
  taken_ += filled;
  if (taken_ == ahead_.size()) {
    ahead_.clear();
    taken_ = 0;
  }
  while (filled < into.size()) {
    const std::size_t got = more(into.subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

std::string_view Stream::peek(std::size_t count) {
  ahead_.erase(0, taken_);
  taken_ = 0;
  std::size_t filled = ahead_.size();
  if (filled < count) ahead_.resize(count);
  while (filled < count) {
    const std::size_t got = more(std::span(ahead_).subspan(filled));
    if (got == 0) break;
    filled += got;
  }
  ahead_.resize(filled);
  return ahead_;
}

std::string_view compression_of(std::string_view head) {
  for (const auto& [bytes, compression] : magics) {
    if (head.starts_with(bytes)) return compression;
  }
  return {};
}

std::unique_ptr<Stream> file_stream(int descriptor, std::string name) {
  return std::make_unique<FileStream>(descriptor, std::move(name));
}

}  // namespace fenchel::data
