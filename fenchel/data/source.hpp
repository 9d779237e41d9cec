// Where bytes come from, and how a place in them is named. Everything that reads a file gets its content here, so
// that mapping and decompression have one door to come in by; readers only ever see contiguous bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fenchel::data {

// The whole content of a file, or of standard input for the path "-".
class Source {
 public:
  // Error(Fault::input) if the file cannot be read, or is compressed (which this version does not undo).
  explicit Source(const std::string& path);

  [[nodiscard]] std::string_view text() const { return content_; }
  [[nodiscard]] const std::string& name() const { return name_; }  // for messages

 private:
  std::string name_;
  std::string content_;
};

// Throws Error(Fault::input, "NAME:LINE:COLUMN: reason") for the place text[offset]; lines and columns count from
// 1, columns in bytes. The place is found only now, so that readers need not count lines as they go.
[[noreturn]] void reject(std::string_view text, const std::string& name, std::size_t offset,
                         const std::string& reason);

// Foreign text made fit for a message: in quotes, at most 40 characters, everything unprintable escaped.
[[nodiscard]] std::string quote(std::string_view token);

}  // namespace fenchel::data
