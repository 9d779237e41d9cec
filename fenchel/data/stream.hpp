// Bytes that come one after the other: from a file descriptor, through a decompressor if their beginning says so.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fenchel::data {

class Stream {
 public:
  virtual ~Stream() = default;

  // Fills `into` as far as there are bytes, and returns how many; fewer than asked for only at the end.
  // Error(Fault::input) where the bytes cannot be read or decompressed.
  std::size_t read(std::span<char> into);
  // Looks at the next bytes without taking them: at least `count`, or all that are left.
  std::string_view peek(std::size_t count);

 protected:
  // Some more bytes, at least one; 0 at the end.
  virtual std::size_t more(std::span<char> into) = 0;

 private:
  std::string ahead_;  // peeked at, not taken yet
  std::size_t taken_ = 0;
};

// What compressed bytes begin with; empty: not compressed.
[[nodiscard]] std::string_view compression_of(std::string_view head);

// The bytes of an open file; closes it in the end, standard input excepted. `name` is for messages.
std::unique_ptr<Stream> file_stream(int descriptor, std::string name);
// Undoes `compression` (a name that compression_of gives): gzip, zstd, bzip2, xz, each also with several members one
// after the other.
std::unique_ptr<Stream> decompressed(std::unique_ptr<Stream> bytes, std::string_view compression, std::string name);

}  // namespace fenchel::data
