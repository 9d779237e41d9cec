#include "fenchel/data/marks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "fenchel/data/bytes.hpp"

namespace fenchel::data {

namespace {

// Offsets of the marks in `blocks` times 64 bytes. Writes up to eight more than it counts.
std::size_t find_marks(const char* text, std::size_t blocks, std::uint32_t* offsets) {
  std::uint32_t* out = offsets;
  for (std::size_t block = 0; block < blocks; ++block) {
    const Bytes64 bytes(text + block * Bytes64::size);
    std::uint64_t bits = bytes.equal_to(':') | bytes.at_most(' ');
    const auto base = static_cast<std::uint32_t>(block * Bytes64::size);
    const auto count = static_cast<std::size_t>(std::popcount(bits));
    // Eight at a time without asking whether there are so many: cheaper than a wrong guess of the number.
    for (std::size_t written = 0; written < count; written += 8) {
      for (std::size_t i = 0; i < 8; ++i) {
        out[written + i] = base + static_cast<std::uint32_t>(std::countr_zero(bits));
        bits &= bits - 1;
      }
    }
    out += count;
  }
  return static_cast<std::size_t>(out - offsets);
}

}  // namespace

MarkCounts count_marks(std::string_view text) {
  MarkCounts counts;
  for (; text.size() >= Bytes64::size; text.remove_prefix(Bytes64::size)) {
    const Bytes64 bytes(text.data());
    counts.colons += static_cast<std::size_t>(std::popcount(bytes.equal_to(':')));
    counts.newlines += static_cast<std::size_t>(std::popcount(bytes.equal_to('\n')));
  }
  counts.colons += static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
  counts.newlines += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return counts;
}

Marks::Cursor Marks::next_window() {
  const char* const window = next_window_;
  const std::size_t bytes = std::min(window_bytes, static_cast<std::size_t>(end_ - window));
  const std::size_t blocks = (bytes + Bytes64::size - 1) / Bytes64::size;
  std::size_t count = find_marks(window, blocks, offsets_.data());
  while (count > 0 && offsets_[count - 1] > bytes) --count;  // what lies behind the text, its end excepted
  next_window_ += bytes;
  return {window, offsets_.data(), offsets_.data() + count};
}

Marks::Cursor Marks::skipped_to(const char* place, Cursor cursor) {
  if (place >= next_window_) {
    next_window_ = place;
    return {};
  }
  while (cursor.mark != cursor.last && cursor.window + *cursor.mark < place) ++cursor.mark;
  return cursor;
}

}  // namespace fenchel::data
