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
#include <utility>

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

enum class Zeros { allowed, wrong };
// Whether every number is finite and, if zeros are wrong, none is 0.
[[nodiscard]] bool all_fine(std::span<const double> values, Zeros zeros);
[[nodiscard]] bool all_fine(std::span<const float> values, Zeros zeros);
// Whether none is less than the one before, and all are below 2^63.
[[nodiscard]] bool ascending(std::span<const std::uint64_t> numbers);
// How often a number is followed by one that is not larger.
[[nodiscard]] std::uint64_t descents_in(std::span<const std::uint32_t> numbers);

// What a look at a block finds.
struct BlockReport {
  std::uint64_t checksum = 0;
  std::string_view flaw;  // what is wrong with its lines; empty if nothing
};

// How often indexes descend from a line to the next one that is not empty, and the largest last index of a line.
template <class Value>
std::pair<std::uint64_t, std::uint32_t> borders_of(const BinaryLines<Value>& part) {
  const std::uint64_t begin = part.offsets.front(), end = part.offsets.back();
  std::uint64_t descents = 0;
  std::uint32_t largest = part.indices.back();
  for (std::uint64_t i = 1; i < part.count; ++i) {
    const std::uint64_t border = part.offsets[i];
    if (border == part.offsets[i - 1] || border == end)
      continue;  // behind an empty line, or before empty ones only
    const std::uint32_t last = part.indices[border - begin - 1];
    descents += last >= part.indices[border - begin] ? 1 : 0;
    largest = std::max(largest, last);
  }
  return {descents, largest};
}

// Looks once at all of a block whose ends are known to be inside.
template <class Value>
BlockReport examine(const BinaryLines<Value>& part, std::uint64_t block) {
  bool fine = true;
  const std::uint64_t values = checksum_of(part.values, [&](std::size_t begin, std::size_t end) {
    fine &= all_fine(part.values.subspan(begin, end - begin), part.sparse() ? Zeros::wrong : Zeros::allowed);
  });
  const auto kind = static_cast<std::uint64_t>(part.checksums);
  const auto report = [](auto words, std::string_view flaw) {
    return BlockReport{checksum_of(std::span<const std::uint64_t>(words)), flaw};
  };
  if (!part.sparse()) return report(std::array{kind, block, values}, fine ? "" : "a value is not finite");

  std::uint64_t descents = 0;
  const std::uint64_t indices = checksum_of(part.indices, [&](std::size_t begin, std::size_t end) {
    const std::size_t before = begin == 0 ? 0 : begin - 1;
    descents += descents_in(part.indices.subspan(before, end - before));
  });
  const std::array words{kind, block, checksum_of(part.offsets), indices, values};
  if (!ascending(part.offsets)) return report(words, "its offsets are out of order");
  if (part.indices.empty()) return report(words, "");
  // Indexes descend at the border of two lines only: as often as borders do, and nowhere else. Then the last index of a line
  // is its largest.
  const auto [border_descents, largest] = borders_of(part);
  if (descents != border_descents) return report(words, "its indexes are not strictly ascending");
  if (largest >= part.width) return report(words, "an index is too large");
  return report(words, fine ? "" : "a value is not finite, or is a zero that should not be stored");
}

}  // namespace fenchel::data
