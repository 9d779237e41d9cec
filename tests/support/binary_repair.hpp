// Makes every checksum of a .fbin file right again after bytes of it were changed, so that tests get at what lies behind
// the checksums.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "fenchel/base/error.hpp"
#include "fenchel/data/binary_guard.hpp"

namespace fenchel::test {

template <class T>
void put(std::string& text, std::size_t offset, T number) {
  std::memcpy(text.data() + offset, &number, sizeof(T));
}

inline void repair_header(std::string& text) {
  if (text.size() < data::binary_page) return;
  put(text, 16, data::checksum_of(std::span<const char>(text.data() + 24, data::binary_page - 24)));
}

// The header's checksum, and those of all blocks if the header then is one.
inline void repair(std::string& text) {
  repair_header(text);
  data::BinaryLayout layout;
  try {
    layout = data::decode_header(text, "repaired");
  } catch (const Error&) {
    return;
  }
  const std::string copy = text;  // aligned as the numbers want it only in a buffer of its own
  data::Source source = data::Source::of_text(copy, "repaired");
  const data::BinaryFile file{"repaired", source.text(), source.owner(), layout};
  const auto store = [&](data::SectionKind kind, std::uint64_t block, std::uint64_t checksum) {
    put(text, layout.find(kind)->offset + block * sizeof(checksum), checksum);
  };
  const auto targets = file.numbers<double>(data::SectionKind::targets);
  const auto query = file.numbers<std::int64_t>(data::SectionKind::query);
  const auto labels = file.numbers<std::uint64_t>(data::SectionKind::label_checksums);
  for (std::uint64_t block = 0; block < labels.size(); ++block) {
    store(data::SectionKind::label_checksums, block, data::label_checksum(targets, query, block));
  }
  const auto repair_lines = [&](const auto& lines) {
    for (std::uint64_t block = 0; block < lines.blocks(); ++block) {
      if (!inside(lines, block)) continue;
      store(lines.checksums, block, examine(part_of(lines, block), block).checksum);
    }
  };
  std::visit(repair_lines, file.rows());
  if (layout.shape.column_form) std::visit(repair_lines, file.columns());
}

}  // namespace fenchel::test
