// The header of the binary form and where its sections lie; see data/binary.hpp for the format. The layout follows from
// the shape alone, so that a header is right if and only if it equals the one its own shape has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fenchel::data {

inline constexpr std::string_view binary_magic = "FENCHELB";
inline constexpr std::size_t binary_page = 4096;  // of the header, and what sections are aligned to
inline constexpr std::uint64_t rows_in_label_block = 65536;
inline constexpr std::uint64_t most_lines_in_block = 4096;

enum class SectionKind : std::uint32_t {
  targets = 1,
  query,
  label_checksums,
  offsets,
  columns,
  values,
  row_checksums,
  column_offsets,
  column_rows,
  column_values,
  column_checksums,
};
[[nodiscard]] std::string_view name(SectionKind kind);

struct BinaryShape {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t entries = 0;
  std::uint64_t column_entries = 0;
  std::uint64_t rows_in_block = 1;
  std::uint64_t columns_in_block = 0;
  bool sparse = false;
  bool single = false;        // values are float
  bool single_asked = false;  // Precision::f32
  bool one_based = false;
  bool targets = false;
  bool query = false;
  bool column_form = false;

  friend bool operator==(const BinaryShape&, const BinaryShape&) = default;
};

struct Section {
  SectionKind kind{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const Section&, const Section&) = default;
};

struct BinaryLayout {
  BinaryShape shape;
  std::vector<Section> sections;
  std::uint64_t file_size = 0;

  // The section of this kind; nullptr where there is none.
  [[nodiscard]] const Section* find(SectionKind kind) const;
};

// How many blocks `lines` rows or columns make.
[[nodiscard]] constexpr std::uint64_t blocks_of(std::uint64_t lines, std::uint64_t in_block) {
  return (lines + in_block - 1) / in_block;
}

// Blocks of 128 to 256 KiB for so many lines that take so many bytes together: a block that was hashed is still in a core's
// second cache when it is checked and used.
[[nodiscard]] std::uint64_t lines_in_block(std::uint64_t lines, std::uint64_t bytes);

[[nodiscard]] BinaryLayout lay_out(const BinaryShape& shape);
[[nodiscard]] std::array<char, binary_page> encode_header(const BinaryLayout& layout);
// The layout of the file that `text` is, whole. Error(Fault::input) unless every byte of the header is as it should be.
[[nodiscard]] BinaryLayout decode_header(std::string_view text, const std::string& name);

}  // namespace fenchel::data
