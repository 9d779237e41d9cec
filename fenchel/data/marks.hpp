// Where the tokens of a text end: its colons, blanks, tabs, line ends and everything else up to the blank. Found with
// vector instructions, many bytes at once and ahead of the parser, so that it never waits for the length of one
// token to know where the next one begins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace fenchel::data {

// How many newlines and colons a text has.
struct MarkCounts {
  std::size_t newlines = 0;
  std::size_t colons = 0;
};
MarkCounts count_marks(std::string_view text);

// The marks of a text, window after window.
class Marks {
 public:
  // `text` is padded (see Source).
  explicit Marks(std::string_view text) : next_window_(text.data()), end_(text.data() + text.size()) {}

  // Where the parser is in a window: kept apart, so that a loop can hold it in registers.
  struct Cursor {
    const char* window = nullptr;           // offsets count from here
    const std::uint32_t* mark = nullptr;    // the next one
    const std::uint32_t* last = nullptr;    // one behind the last one
  };

  // The place of the next mark; the end of the text when there is none left.
  const char* next(Cursor& cursor) {
    while (cursor.mark == cursor.last) {
      if (next_window_ >= end_) return end_;
      cursor = next_window();
    }
    return cursor.window + *cursor.mark++;
  }
  // Leaves out the marks before `place`, which must not lie before the last one.
  [[nodiscard]] Cursor skipped_to(const char* place, Cursor cursor);

 private:
  static constexpr std::size_t window_bytes = 4096;
  Cursor next_window();

  const char* next_window_;  // what was not looked at yet
  const char* end_;
  std::array<std::uint32_t, window_bytes + 64> offsets_;
};

}  // namespace fenchel::data
