#include "fenchel/data/marks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

// Highway compiles what follows once for every instruction set, by including this file again and again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fenchel/data/marks.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fenchel::data::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Offsets of the marks in `blocks` times 64 bytes. Writes up to eight more than it counts.
std::size_t find_marks(const char* text, std::size_t blocks, std::uint32_t* offsets) {
  constexpr std::size_t block_bytes = 64;
  const hn::CappedTag<std::uint8_t, block_bytes> d;
  const auto colon = hn::Set(d, std::uint8_t{':'});
  const auto blank = hn::Set(d, std::uint8_t{' '});
  std::uint32_t* out = offsets;
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto* const at = reinterpret_cast<const std::uint8_t*>(text + block * block_bytes);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < block_bytes; i += hn::Lanes(d)) {
      const auto bytes = hn::LoadU(d, at + i);
      const auto found = hn::Or(hn::Eq(bytes, colon), hn::Eq(hn::Min(bytes, blank), bytes));
      std::uint64_t some = 0;
      hn::StoreMaskBits(d, found, reinterpret_cast<std::uint8_t*>(&some));
      if constexpr (std::endian::native == std::endian::big) some = __builtin_bswap64(some);
      bits |= some << i;
    }
    const auto base = static_cast<std::uint32_t>(block * block_bytes);
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

// Adds the colons and newlines of as many whole vectors as there are; returns how many bytes these are.
std::size_t count_in_vectors(const char* text, std::size_t bytes, MarkCounts& counts) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto colon = hn::Set(d, std::uint8_t{':'});
  const auto newline = hn::Set(d, std::uint8_t{'\n'});
  std::size_t at = 0;
  for (; at + lanes <= bytes; at += lanes) {
    const auto some = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(text + at));
    counts.colons += hn::CountTrue(d, hn::Eq(some, colon));
    counts.newlines += hn::CountTrue(d, hn::Eq(some, newline));
  }
  return at;
}

}  // namespace fenchel::data::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fenchel::data {

HWY_EXPORT(find_marks);
HWY_EXPORT(count_in_vectors);

MarkCounts count_marks(std::string_view text) {
  MarkCounts counts;
  text.remove_prefix(HWY_DYNAMIC_DISPATCH(count_in_vectors)(text.data(), text.size(), counts));
  counts.colons += static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
  counts.newlines += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return counts;
}

Marks::Cursor Marks::next_window() {
  constexpr std::size_t block_bytes = 64;
  const char* const window = next_window_;
  const std::size_t bytes = std::min(window_bytes, static_cast<std::size_t>(end_ - window));
  const std::size_t blocks = (bytes + block_bytes - 1) / block_bytes;
  std::size_t count = HWY_DYNAMIC_DISPATCH(find_marks)(window, blocks, offsets_.data());
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
#endif
