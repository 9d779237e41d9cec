#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/data/binary.hpp"
#include "fenchel/data/binary_blocks.hpp"
#include "fenchel/data/binary_guard.hpp"
#include "fenchel/data/columns.hpp"

namespace fenchel::data {

namespace {

// Bytes in pieces that no compressor or system call finds too long, with zeros up to the next section.
class SectionWriter {
 public:
  SectionWriter(Sink& out, const BinaryLayout& layout) : out_(out), layout_(layout) {
    const auto header = encode_header(layout);
    put({header.data(), header.size()});
  }

  template <class T>
  void put(SectionKind kind, std::span<const T> numbers) {
    const Section* const section = layout_.find(kind);
    if (section == nullptr) return;
    constexpr std::array<char, binary_page> zeros{};
    put({zeros.data(), section->offset - written_});
    put({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  }

 private:
  void put(std::string_view bytes) {
    constexpr std::size_t piece = std::size_t{16} << 20;
    written_ += bytes.size();
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) out_.write(bytes.substr(0, piece));
  }

  Sink& out_;
  const BinaryLayout& layout_;
  std::uint64_t written_ = 0;
};

template <class Value>
BinaryLines<Value> lines_of(const CsrRows<Value>& rows) {
  return {.checksums = SectionKind::row_checksums,
          .count = rows.rows(),
          .width = rows.cols(),
          .offsets = rows.offsets,
          .indices = rows.columns,
          .values = rows.values};
}

template <class Value>
BinaryLines<Value> lines_of(const DenseRows<Value>& rows) {
  return {.checksums = SectionKind::row_checksums,
          .count = rows.rows(),
          .width = rows.cols(),
          .offsets = {},
          .indices = {},
          .values = rows.values};
}

template <class Value>
BinaryLines<Value> lines_of(const CscColumns<Value>& columns) {
  return {.checksums = SectionKind::column_checksums,
          .count = columns.cols(),
          .width = columns.rows(),
          .offsets = columns.offsets,
          .indices = columns.row_numbers,
          .values = columns.values};
}

template <class View>
AnyLines in_blocks(const View& view) {
  auto lines = lines_of(view);
  lines.in_block = lines_in_block(
      lines.count, lines.offsets.size_bytes() + lines.indices.size_bytes() + lines.values.size_bytes());
  return lines;
}

// Checks the lines as a reader will, once they are known to be those of the guard, if there is one.
std::vector<std::uint64_t> checksums_of(const AnyLines& any, const RowGuard* guard) {
  return std::visit(
      [&](const auto& lines) {
        std::vector<std::uint64_t> checksums(lines.blocks());
        parallel_for(checksums.size(), [&](std::size_t block) {
          if (guard != nullptr) {
            for (std::uint64_t i = lines.first(block); i < lines.last(block); ++i) guard->ensure(i);
          }
          BlockReport report{.checksum = 0, .flaw = "its offsets are out of order"};
          if (inside(lines, block)) report = examine(part_of(lines, block), block);
          if (!report.flaw.empty())
            throw Error(Fault::failure, fmt::format("the data cannot be stored: {}", report.flaw));
          checksums[block] = report.checksum;
        });
        return checksums;
      },
      any);
}

std::vector<std::uint64_t> label_checksums_of(const Dataset& data) {
  std::vector<std::uint64_t> checksums(blocks_of(data.rows(), rows_in_label_block));
  if (data.targets.empty() && data.query.empty()) return {};
  parallel_for(checksums.size(),
               [&](std::size_t block) { checksums[block] = label_checksum(data.targets, data.query, block); });
  return checksums;
}

BinaryShape shape_of(const Dataset& data, const AnyLines& rows, const std::optional<AnyLines>& columns) {
  BinaryShape shape = std::visit(
      []<class Value>(const BinaryLines<Value>& lines) {
        return BinaryShape{.rows = lines.count,
                           .columns = lines.width,
                           .entries = lines.values.size(),
                           .rows_in_block = lines.in_block,
                           .sparse = lines.sparse(),
                           .single = sizeof(Value) == sizeof(float)};
      },
      rows);
  shape.single_asked = data.precision == Precision::f32;
  shape.one_based = data.index_base == 1;
  shape.targets = !data.targets.empty();
  shape.query = !data.query.empty();
  shape.column_form = columns.has_value();
  if (columns) {
    std::visit(
        [&](const auto& lines) {
          shape.column_entries = lines.values.size();
          shape.columns_in_block = lines.in_block;
        },
        *columns);
  }
  return shape;
}

}  // namespace

void write_binary(Sink& out, const Dataset& data, const BinaryOptions& options) {
  if (data.rows() == 0) throw Error(Fault::input, "data without rows cannot be stored in the binary format");
  const bool sparse = std::holds_alternative<CsrStorage>(data.storage);
  if (!sparse && cols(data.matrix()) == 0 && data.targets.empty()) {
    throw Error(Fault::input, "rows without columns and targets cannot be stored in the binary format");
  }
  const AnyLines rows = std::visit([](const auto& view) { return in_blocks(view); }, data.matrix());
  const std::vector<std::uint64_t> row_checksums = checksums_of(rows, data.guard.get());
  std::optional<ColumnStorage> storage;
  std::optional<AnyLines> columns;
  std::vector<std::uint64_t> column_checksums;
  if (options.columns) {
    storage.emplace(columns_of(data));
    columns = std::visit([](const auto& view) { return in_blocks(view); }, storage->matrix());
    column_checksums = checksums_of(*columns, storage->guard.get());
  }
  const std::vector<std::uint64_t> label_checksums = label_checksums_of(data);

  const BinaryLayout layout = lay_out(shape_of(data, rows, columns));
  using Words = std::span<const std::uint64_t>;
  SectionWriter writer(out, layout);
  writer.put(SectionKind::targets, data.targets.span());
  writer.put(SectionKind::query, data.query.span());
  writer.put(SectionKind::label_checksums, Words(label_checksums));
  std::visit(
      [&](const auto& lines) {
        writer.put(SectionKind::offsets, lines.offsets);
        writer.put(SectionKind::columns, lines.indices);
        writer.put(SectionKind::values, lines.values);
      },
      rows);
  writer.put(SectionKind::row_checksums, Words(row_checksums));
  if (!columns) return;
  std::visit(
      [&](const auto& lines) {
        writer.put(SectionKind::column_offsets, lines.offsets);
        writer.put(SectionKind::column_rows, lines.indices);
        writer.put(SectionKind::column_values, lines.values);
      },
      *columns);
  writer.put(SectionKind::column_checksums, Words(column_checksums));
}

}  // namespace fenchel::data
