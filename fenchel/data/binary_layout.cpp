#include "fenchel/data/binary_layout.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/checksum.hpp"

namespace fenchel::data {

// Numbers are used where they lie in the file. A big-endian port would have to turn them around on the way.
static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::uint32_t order_mark = 0x01020304;
constexpr std::uint32_t foreign_mark = 0x04030201;
constexpr std::uint32_t format_version = 1;
constexpr std::size_t checksum_at = 16;
constexpr std::size_t checked_from = 24;
constexpr std::size_t table_at = 88;
constexpr std::size_t table_entry = 24;
// No file is that long; below, sums and products of a few such numbers do not overflow.
constexpr std::uint64_t most_entries = std::uint64_t{1} << 48;
constexpr std::uint64_t most_columns = std::uint64_t{1} << 31;

constexpr std::uint32_t flag_sparse = 1, flag_single = 2, flag_single_asked = 4, flag_one_based = 8,
                        flag_targets = 16, flag_query = 32, flag_column_form = 64, all_flags = 127;

template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T number{};
  std::memcpy(&number, bytes.data() + offset, sizeof(T));
  return number;
}

template <class T>
void put_at(std::span<char> bytes, std::size_t offset, T number) {
  std::memcpy(bytes.data() + offset, &number, sizeof(T));
}

std::uint64_t header_checksum(std::string_view header) {
  return checksum_of(std::span<const char>(header.substr(checked_from, binary_page - checked_from)));
}

std::uint32_t flags_of(const BinaryShape& shape) {
  const auto flag = [](bool set, std::uint32_t bit) { return set ? bit : 0U; };
  return flag(shape.sparse, flag_sparse) | flag(shape.single, flag_single) |
         flag(shape.single_asked, flag_single_asked) | flag(shape.one_based, flag_one_based) |
         flag(shape.targets, flag_targets) | flag(shape.query, flag_query) |
         flag(shape.column_form, flag_column_form);
}

BinaryShape shape_in(std::string_view header) {
  const auto word = [&](std::size_t offset) { return number_at<std::uint64_t>(header, offset); };
  const auto flags = number_at<std::uint32_t>(header, 80);
  return {.rows = word(32),
          .columns = word(40),
          .entries = word(48),
          .column_entries = word(56),
          .rows_in_block = word(64),
          .columns_in_block = word(72),
          .sparse = (flags & flag_sparse) != 0,
          .single = (flags & flag_single) != 0,
          .single_asked = (flags & flag_single_asked) != 0,
          .one_based = (flags & flag_one_based) != 0,
          .targets = (flags & flag_targets) != 0,
          .query = (flags & flag_query) != 0,
          .column_form = (flags & flag_column_form) != 0};
}

bool block_size(std::uint64_t lines) { return std::has_single_bit(lines) && lines <= most_lines_in_block; }

// What no writer of ours would say of a matrix; empty if nothing.
std::string_view flaw_in(const BinaryShape& shape) {
  if (shape.rows == 0) return "it has no rows";
  const bool small = shape.rows < most_entries && shape.entries < most_entries &&
                     shape.column_entries < most_entries && shape.columns < most_columns;
  if (!small) return "its numbers of rows, columns or values are impossible";
  if (!block_size(shape.rows_in_block)) return "its number of rows in a block is impossible";
  if (shape.single_asked && !shape.single) return "it says both float32 and float64";
  if (shape.column_form ? !block_size(shape.columns_in_block) : shape.columns_in_block != 0)
    return "its number of columns in a block is impossible";
  if (!shape.column_form && shape.column_entries != 0) return "it counts values of a column form that is not there";
  if (shape.sparse) {
    if (shape.column_form && shape.column_entries != shape.entries) return "its two forms differ in size";
    return {};
  }
  // Rows without any byte could be any number of rows.
  if (shape.columns == 0 && !shape.targets) return "its rows are empty";
  if (shape.columns != 0 && shape.rows > most_entries / shape.columns)
    return "its numbers of rows and columns are impossible";
  if (shape.entries != shape.rows * shape.columns) return "its number of values is not rows times columns";
  if (shape.column_entries > shape.entries) return "its two forms differ in size";
  return {};
}

[[noreturn]] void refuse_file(const std::string& name, std::string_view reason) {
  throw Error(Fault::input, fmt::format("{}: {}", name, reason));
}

constexpr std::string_view cure = "make it again with `fenchel convert`";

// Who wrote it, in what version and whether all of it is here: before anything else is believed.
void check_origin(std::string_view text, const std::string& name) {
  if (!text.starts_with(binary_magic)) refuse_file(name, "is not in fenchel's binary format");
  const auto truncated = [&](std::uint64_t expected) {
    refuse_file(name, fmt::format("is truncated: {} of at least {} bytes; copy it again, or {}", text.size(),
                                  expected, cure));
  };
  if (text.size() < checked_from) truncated(binary_page);
  const auto mark = number_at<std::uint32_t>(text, 8);
  if (mark == foreign_mark) {
    refuse_file(name, "was written on a machine of the other byte order: convert it to text there, and back here");
  }
  if (mark != order_mark) refuse_file(name, fmt::format("has a damaged header; {}", cure));
  const auto version = number_at<std::uint32_t>(text, 12);
  if (version > format_version) {
    refuse_file(name,
                fmt::format("has version {} of the binary format, but this program reads version {}: take a newer "
                            "fenchel, or make the file again with this one",
                            version, format_version));
  }
  if (version != format_version) refuse_file(name, fmt::format("has a damaged header; {}", cure));
  if (text.size() < binary_page) truncated(binary_page);
}

}  // namespace

std::string_view name(SectionKind kind) {
  switch (kind) {
    case SectionKind::targets: return "targets";
    case SectionKind::query: return "qids";
    case SectionKind::label_checksums: return "label checksums";
    case SectionKind::offsets: return "row offsets";
    case SectionKind::columns: return "columns";
    case SectionKind::values: return "values";
    case SectionKind::row_checksums: return "row checksums";
    case SectionKind::column_offsets: return "column offsets";
    case SectionKind::column_rows: return "column form: rows";
    case SectionKind::column_values: return "column form: values";
    case SectionKind::column_checksums: return "column checksums";
  }
  return "";
}

const Section* BinaryLayout::find(SectionKind kind) const {
  const auto at = std::ranges::find(sections, kind, &Section::kind);
  return at == sections.end() ? nullptr : &*at;
}

std::uint64_t lines_in_block(std::uint64_t lines, std::uint64_t bytes) {
  constexpr std::uint64_t wanted = std::uint64_t{1} << 18;
  const std::uint64_t in_line = std::max<std::uint64_t>(1, bytes / std::max<std::uint64_t>(1, lines));
  return std::bit_floor(std::clamp<std::uint64_t>(wanted / in_line, 1, most_lines_in_block));
}

BinaryLayout lay_out(const BinaryShape& shape) {
  BinaryLayout layout{.shape = shape, .sections = {}, .file_size = binary_page};
  const auto add = [&](bool present, SectionKind kind, std::uint64_t bytes) {
    if (!present) return;
    const std::uint64_t offset = (layout.file_size + binary_page - 1) / binary_page * binary_page;
    layout.sections.push_back({kind, offset, bytes});
    layout.file_size = offset + bytes;
  };
  const std::uint64_t value = shape.single ? sizeof(float) : sizeof(double);
  constexpr std::uint64_t word = sizeof(std::uint64_t), index = sizeof(std::uint32_t);
  add(shape.targets, SectionKind::targets, shape.rows * word);
  add(shape.query, SectionKind::query, shape.rows * word);
  add(shape.targets || shape.query, SectionKind::label_checksums,
      blocks_of(shape.rows, rows_in_label_block) * word);
  add(shape.sparse, SectionKind::offsets, (shape.rows + 1) * word);
  add(shape.sparse, SectionKind::columns, shape.entries * index);
  add(true, SectionKind::values, shape.entries * value);
  add(true, SectionKind::row_checksums, blocks_of(shape.rows, shape.rows_in_block) * word);
  if (!shape.column_form) return layout;
  add(true, SectionKind::column_offsets, (shape.columns + 1) * word);
  add(true, SectionKind::column_rows, shape.column_entries * index);
  add(true, SectionKind::column_values, shape.column_entries * value);
  add(true, SectionKind::column_checksums, blocks_of(shape.columns, shape.columns_in_block) * word);
  return layout;
}

std::array<char, binary_page> encode_header(const BinaryLayout& layout) {
  std::array<char, binary_page> header{};
  const BinaryShape& shape = layout.shape;
  std::ranges::copy(binary_magic, header.begin());
  put_at(header, 8, order_mark);
  put_at(header, 12, format_version);
  put_at(header, 24, layout.file_size);
  put_at(header, 32, shape.rows);
  put_at(header, 40, shape.columns);
  put_at(header, 48, shape.entries);
  put_at(header, 56, shape.column_entries);
  put_at(header, 64, shape.rows_in_block);
  put_at(header, 72, shape.columns_in_block);
  put_at(header, 80, flags_of(shape));
  put_at(header, 84, static_cast<std::uint32_t>(layout.sections.size()));
  std::size_t at = table_at;
  for (const Section& section : layout.sections) {
    put_at(header, at, static_cast<std::uint32_t>(section.kind));
    put_at(header, at + 8, section.offset);
    put_at(header, at + 16, section.bytes);
    at += table_entry;
  }
  put_at(header, checksum_at, header_checksum({header.data(), header.size()}));
  return header;
}

BinaryLayout decode_header(std::string_view text, const std::string& name) {
  check_origin(text, name);
  const std::string_view header = text.substr(0, binary_page);
  const auto damaged = [&](std::string_view reason) {
    refuse_file(name, fmt::format("has a damaged header: {}; {}", reason, cure));
  };
  if (number_at<std::uint64_t>(header, checksum_at) != header_checksum(header)) damaged("its checksum is wrong");
  if ((number_at<std::uint32_t>(header, 80) & ~all_flags) != 0) damaged("it has unknown flags");
  const BinaryShape shape = shape_in(header);
  if (const std::string_view flaw = flaw_in(shape); !flaw.empty()) damaged(flaw);
  BinaryLayout layout = lay_out(shape);
  const auto right = encode_header(layout);
  if (header != std::string_view(right.data(), right.size())) damaged("its sections are not where they should be");
  if (text.size() < layout.file_size) {
    refuse_file(name, fmt::format("is truncated: {} of {} bytes; copy it again, or {}", text.size(),
                                  layout.file_size, cure));
  }
  if (text.size() > layout.file_size) {
    refuse_file(name, fmt::format("is longer than it should be: {} instead of {} bytes; copy it again, or {}",
                                  text.size(), layout.file_size, cure));
  }
  return layout;
}

}  // namespace fenchel::data
