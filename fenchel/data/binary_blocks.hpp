// A block of rows or columns of the binary form: what its checksum is, and what can be wrong with it. Reader and writer
// look at blocks through the same eyes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "fenchel/data/binary_layout.hpp"
#include "fenchel/data/checksum.hpp"

namespace fenchel::data {

// Rows or columns ("lines") as sections hold them.
template <class Value>
struct BinaryLines {
  SectionKind checksums{};                 // the section of their checksums
  std::uint64_t count = 0;                 // of lines
  std::uint64_t in_block = 1;              // lines
  std::uint64_t width = 0;                 // indexes are below this; of dense lines, values in each
  std::span<const std::uint64_t> offsets;  // empty for dense lines
  std::span<const std::uint32_t> indices;
  std::span<const Value> values;

  [[nodiscard]] bool sparse() const { return !offsets.empty(); }
  [[nodiscard]] std::uint64_t first(std::uint64_t block) const { return block * in_block; }
  [[nodiscard]] std::uint64_t last(std::uint64_t block) const { return std::min(count, (block + 1) * in_block); }
  [[nodiscard]] std::uint64_t blocks() const { return blocks_of(count, in_block); }
};

// Whether the block's entries lie inside the sections; nothing else of it may be looked at before.
template <class Value>
bool inside(const BinaryLines<Value>& lines, std::uint64_t block) {
  if (!lines.sparse()) return true;
  const std::uint64_t begin = lines.offsets[lines.first(block)];
  const std::uint64_t end = lines.offsets[lines.last(block)];
  if (begin > end || end > lines.values.size()) return false;
  return (block > 0 || begin == 0) && (lines.last(block) < lines.count || end == lines.values.size());
}

// The block's part of each section.
template <class Value>
BinaryLines<Value> part_of(const BinaryLines<Value>& lines, std::uint64_t block) {
  BinaryLines<Value> part = lines;
  const std::uint64_t first = lines.first(block);
  part.count = lines.last(block) - first;
  if (!lines.sparse()) {
    part.values = lines.values.subspan(first * lines.width, part.count * lines.width);
    return part;
  }
  part.offsets = lines.offsets.subspan(first, part.count + 1);
  const std::uint64_t begin = part.offsets.front();
  const std::uint64_t entries = part.offsets.back() - begin;
  part.indices = lines.indices.subspan(begin, entries);
  part.values = lines.values.subspan(begin, entries);
  return part;
}

template <class Value>
std::uint64_t checksum_of(const BinaryLines<Value>& part, std::uint64_t block) {
  const auto kind = static_cast<std::uint64_t>(part.checksums);
  if (!part.sparse())
    return checksum_of(std::span<const std::uint64_t>(std::array{kind, block, checksum_of(part.values)}));
  const std::array words{kind, block, checksum_of(part.offsets), checksum_of(part.indices),
                         checksum_of(part.values)};
  return checksum_of(std::span<const std::uint64_t>(words));
}

enum class Zeros { allowed, wrong };
// Whether every number is finite and, if zeros are wrong, none is 0.
[[nodiscard]] bool all_fine(std::span<const double> values, Zeros zeros);
[[nodiscard]] bool all_fine(std::span<const float> values, Zeros zeros);
// Whether none is less than the one before, and all are below 2^63.
[[nodiscard]] bool ascending(std::span<const std::uint64_t> numbers);
// How often a number is followed by one that is not larger.
[[nodiscard]] std::uint64_t descents_in(std::span<const std::uint32_t> numbers);

// What is wrong with the lines of a block whose ends are known to be inside; empty if nothing.
template <class Value>
std::string_view flaw_of(const BinaryLines<Value>& part) {
  if (!part.sparse()) return all_fine(part.values, Zeros::allowed) ? "" : "a value is not finite";
  if (!ascending(part.offsets)) return "its offsets are out of order";
  if (part.indices.empty()) return "";
  // Indexes descend at the border of two lines only: as often as borders do, and nowhere else. Then the last index of a line
  // is its largest.
  const std::uint64_t begin = part.offsets.front(), end = part.offsets.back();
  std::uint64_t border_descents = 0;
  std::uint32_t largest = part.indices.back();
  for (std::uint64_t i = 1; i < part.count; ++i) {
    const std::uint64_t border = part.offsets[i];
    if (border == part.offsets[i - 1] || border == end)
      continue;  // behind an empty line, or before empty ones only
    const std::uint32_t last = part.indices[border - begin - 1];
    border_descents += last >= part.indices[border - begin] ? 1 : 0;
    largest = std::max(largest, last);
  }
  if (descents_in(part.indices) != border_descents) return "its indexes are not strictly ascending";
  if (largest >= part.width) return "an index is too large";
  return all_fine(part.values, Zeros::wrong) ? "" : "a value is not finite, or is a zero that should not be stored";
}

}  // namespace fenchel::data
