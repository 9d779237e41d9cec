// Text (or any bytes) written in blocks: several threads fill them, one writes them in order. For all writers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/compile.h>
#include <fmt/format.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include "fenchel/base/sink.hpp"

namespace fenchel::data {

// A growing piece of text. Numbers are the shortest that read back as the same double.
class TextBlock {
 public:
  void add(char c) {
    *room(1) = c;
    ++size_;
  }
  void add(std::string_view text) {
    std::copy(text.begin(), text.end(), room(text.size()));
    size_ += text.size();
  }
  void add(std::uint64_t number) {
    constexpr std::size_t most_digits = 20;
    taken(fmt::format_to(room(most_digits), FMT_COMPILE("{}"), number));
  }
  void add(double number) {
    constexpr std::size_t longest = 32;
    char* const at = room(longest);
    char* const end = short_decimal(number, at);
    taken(end != nullptr ? end : fmt::format_to(at, FMT_COMPILE("{}"), number));
  }

  [[nodiscard]] std::string_view text() const { return {bytes_.get(), size_}; }
  void clear() { size_ = 0; }

 private:
  // Most numbers in files were written by people with few digits. If n / 10^8, rounded, is the number and n has at
  // most 15 digits, then these digits are its shortest. Null where that does not work; what would need an exponent
  // is left out.
  static char* short_decimal(double number, char* at) {
    constexpr int places = 8;
    constexpr double scale = 1e8, largest = 1e7, smallest = 1e-4;
    const double magnitude = std::fabs(number);
    if (!(magnitude < largest && magnitude >= smallest)) return nullptr;
    const double scaled = std::nearbyint(magnitude * scale);
    if (scaled / scale != magnitude) return nullptr;
    const auto digits = static_cast<std::uint64_t>(scaled);
    std::uint64_t fraction = digits % static_cast<std::uint64_t>(scale);
    if (number < 0) *at++ = '-';
    at = fmt::format_to(at, FMT_COMPILE("{}"), digits / static_cast<std::uint64_t>(scale));
    if (fraction == 0) return at;
    *at = '.';
    char* end = at + 1 + places;
    for (char* digit = end - 1; digit != at; --digit) {
      *digit = static_cast<char>('0' + fraction % 10);
      fraction /= 10;
    }
    while (end[-1] == '0') --end;
    return end;
  }

  char* room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) {
      constexpr std::size_t least = std::size_t{1} << 16;
      capacity_ = std::max(least, 2 * (size_ + bytes));
      auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
      if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
      bytes_ = std::move(larger);
    }
    return bytes_.get() + size_;
  }
  void taken(const char* end) { size_ = static_cast<std::size_t>(end - bytes_.get()); }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// How many of `items` go into a block, so that it holds about as many numbers as give a megabyte of text.
inline std::size_t items_in_block(std::size_t items, std::size_t numbers) {
  constexpr std::size_t numbers_in_block = std::size_t{1} << 16;
  return std::clamp<std::size_t>(items / (numbers / numbers_in_block + 1), 1, numbers_in_block);
}

// Calls fill(block, begin, end) for consecutive ranges of `items`, in parallel, and writes the blocks in order.
template <class Fill>
void write_in_order(Sink& out, std::size_t items, std::size_t in_block, Fill&& fill) {
  // Blocks live here and not in the pipeline, which would not destroy those in flight when a filter throws.
  struct Slot {
    TextBlock block{};
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  using oneapi::tbb::filter_mode;
  using oneapi::tbb::make_filter;
  constexpr std::size_t in_flight = 8;
  std::vector<Slot> slots(in_flight);  // written in order: when one is used again, its last block has been written
  std::size_t next = 0, count = 0;
  const auto cut =
      make_filter<void, Slot*>(filter_mode::serial_in_order, [&](oneapi::tbb::flow_control& control) -> Slot* {
        if (next == items) {
          control.stop();
          return nullptr;
        }
        Slot& slot = slots[count++ % in_flight];
        slot.begin = next;
        slot.end = next += std::min(in_block, items - next);
        return &slot;
      });
  const auto format = make_filter<Slot*, Slot*>(filter_mode::parallel, [&](Slot* slot) {
    slot->block.clear();
    fill(slot->block, slot->begin, slot->end);
    return slot;
  });
  const auto write =
      make_filter<Slot*, void>(filter_mode::serial_in_order, [&](Slot* slot) { out.write(slot->block.text()); });
  oneapi::tbb::parallel_pipeline(in_flight, cut & format & write);
}

}  // namespace fenchel::data
