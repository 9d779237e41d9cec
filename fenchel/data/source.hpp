// Where bytes come from, and how a place in them is named. Everything that reads a file gets its content here:
// a regular file is mapped; what is compressed, and pipes, come as a stream, decompressed on the way.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fenchel/data/stream.hpp"

namespace fenchel::data {

// So many bytes behind every text that is handed out can be read, and are zero: parsers may look ahead.
inline constexpr std::size_t padding = 64;

// The content of a file, or of standard input for the path "-".
class Source {
 public:
  // Error(Fault::input) if the file cannot be read.
  explicit Source(const std::string& path);
  // Text that is in memory already (copied, for the padding).
  static Source of_text(std::string_view text, std::string name);
  // Bytes from anywhere else.
  static Source of_stream(std::unique_ptr<Stream> bytes, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }  // for messages
  // The bytes of the file on disk; 0 where nobody knows (pipes).
  [[nodiscard]] std::size_t size_on_disk() const { return size_on_disk_; }

  // Whether the whole content lies in memory already; otherwise it comes from stream().
  [[nodiscard]] bool whole() const { return stream_ == nullptr; }
  // The beginning, enough to recognise a format: the first 64 KiB, or all of it. Takes nothing away.
  [[nodiscard]] std::string_view head() const;
  // The content as a stream; only if !whole(). What head() showed comes first.
  [[nodiscard]] Stream& stream() { return *stream_; }
  // The whole content. A stream is read to its end first, once.
  std::string_view text();
  // Only an error message may still want this part of text(): the pages of a mapped file leave memory.
  void finished(std::string_view part) const;
  // What keeps text() alive, for those that keep views of it.
  [[nodiscard]] std::shared_ptr<const void> owner() const { return owner_; }

 private:
  Source() = default;

  std::string name_;
  std::size_t size_on_disk_ = 0;
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<const void> owner_;
  std::string_view text_;
  bool mapped_ = false;  // text_ is that of a file
};

// A place in a text: lines and columns count from 1, columns in bytes.
struct Place {
  std::size_t line = 1;
  std::size_t column = 1;
};
[[nodiscard]] Place place_of(std::string_view text, std::size_t offset);

// Throws Error(Fault::input, "NAME:LINE:COLUMN: reason").
[[noreturn]] void reject(const std::string& name, Place place, const std::string& reason);
// The same for the place text[offset], which is found only now, so that readers need not count lines as they go.
[[noreturn]] void reject(std::string_view text, const std::string& name, std::size_t offset,
                         const std::string& reason);

// Foreign text made fit for a message: in quotes, at most 40 characters, everything unprintable escaped.
[[nodiscard]] std::string quote(std::string_view token);

}  // namespace fenchel::data
