#include "fenchel/data/binary_guard.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"

namespace fenchel::data {

namespace {

constexpr std::string_view wrong_checksum = "the checksum is wrong";

template <class Value>
BinaryLines<Value> rows_in(const BinaryFile& file) {
  const BinaryShape& shape = file.layout.shape;
  return {.checksums = SectionKind::row_checksums,
          .count = shape.rows,
          .in_block = shape.rows_in_block,
          .width = shape.columns,
          .offsets = file.numbers<std::uint64_t>(SectionKind::offsets),
          .indices = file.numbers<std::uint32_t>(SectionKind::columns),
          .values = file.numbers<Value>(SectionKind::values)};
}

template <class Value>
BinaryLines<Value> columns_in(const BinaryFile& file) {
  const BinaryShape& shape = file.layout.shape;
  return {.checksums = SectionKind::column_checksums,
          .count = shape.columns,
          .in_block = shape.columns_in_block,
          .width = shape.rows,
          .offsets = file.numbers<std::uint64_t>(SectionKind::column_offsets),
          .indices = file.numbers<std::uint32_t>(SectionKind::column_rows),
          .values = file.numbers<Value>(SectionKind::column_values)};
}

std::size_t line_count(const AnyLines& lines) {
  return std::visit([](const auto& l) { return static_cast<std::size_t>(l.count); }, lines);
}
std::size_t in_block_of(const AnyLines& lines) {
  return std::visit([](const auto& l) { return static_cast<std::size_t>(l.in_block); }, lines);
}

template <class T>
std::span<const T> label_part(std::span<const T> labels, std::uint64_t block) {
  if (labels.empty()) return {};
  const std::uint64_t first = block * rows_in_label_block;
  return labels.subspan(first, std::min<std::uint64_t>(labels.size() - first, rows_in_label_block));
}

}  // namespace

AnyLines BinaryFile::rows() const {
  if (layout.shape.single) return rows_in<float>(*this);
  return rows_in<double>(*this);
}

AnyLines BinaryFile::columns() const {
  if (layout.shape.single) return columns_in<float>(*this);
  return columns_in<double>(*this);
}

void BinaryFile::damaged(std::string_view what, std::uint64_t first, std::uint64_t last,
                         std::string_view reason) const {
  throw Error(Fault::input, fmt::format("{}: {} {} to {} are damaged: {}; make it again with `fenchel convert`",
                                        name, what, first + 1, last, reason));
}

void BinaryFile::check_labels() const {
  const auto targets = numbers<double>(SectionKind::targets);
  const auto query = numbers<std::int64_t>(SectionKind::query);
  const auto expected = numbers<std::uint64_t>(SectionKind::label_checksums);
  parallel_for(expected.size(), [&](std::size_t block) {
    const auto refuse = [&](std::string_view reason) {
      const std::uint64_t first = block * rows_in_label_block;
      damaged("the labels of rows", first, std::min(layout.shape.rows, first + rows_in_label_block), reason);
    };
    if (label_checksum(targets, query, block) != expected[block]) refuse(wrong_checksum);
    if (!all_fine(label_part(targets, block), Zeros::allowed)) refuse("a target is not finite");
    if (std::ranges::any_of(label_part(query, block), [](std::int64_t qid) { return qid < 0; }))
      refuse("a qid is negative");
  });
}

void BinaryFile::check_padding() const {
  std::uint64_t end = binary_page;
  for (const Section& section : layout.sections) {
    const std::string_view between = text.substr(end, section.offset - end);
    if (between.find_first_not_of('\0') != std::string_view::npos) {
      throw Error(Fault::input,
                  fmt::format("{}: bytes {} to {}, between two sections, are damaged: they are not zero; "
                              "make it again with `fenchel convert`",
                              name, end, section.offset - 1));
    }
    end = section.offset + section.bytes;
  }
}

LinesGuard::LinesGuard(std::shared_ptr<const BinaryFile> file, AnyLines lines, std::string_view what)
    : RowGuard(line_count(lines), in_block_of(lines)),
      file_(std::move(file)),
      lines_(lines),
      what_(what),
      checksums_(file_->numbers<std::uint64_t>(std::visit([](const auto& l) { return l.checksums; }, lines_))) {}

std::shared_ptr<const LinesGuard> LinesGuard::of_rows(std::shared_ptr<const BinaryFile> file) {
  const AnyLines lines = file->rows();
  return std::shared_ptr<const LinesGuard>(new LinesGuard(std::move(file), lines, "rows"));
}

std::shared_ptr<const LinesGuard> LinesGuard::of_columns(std::shared_ptr<const BinaryFile> file) {
  const AnyLines lines = file->columns();
  return std::shared_ptr<const LinesGuard>(new LinesGuard(std::move(file), lines, "columns"));
}

void LinesGuard::ensure_all() const {
  parallel_for(blocks(), [&](std::size_t block) { ensure(block * rows_in_block()); });
}

void LinesGuard::check(std::size_t block) const {
  std::visit(
      [&](const auto& lines) {
        const auto refuse = [&](std::string_view reason) {
          file_->damaged(what_, lines.first(block), lines.last(block), reason);
        };
        if (!inside(lines, block)) refuse("its offsets are out of order");
        const BlockReport report = examine(part_of(lines, block), block);
        if (report.checksum != checksums_[block]) refuse(wrong_checksum);
        if (!report.flaw.empty()) refuse(report.flaw);
      },
      lines_);
}

std::uint64_t label_checksum(std::span<const double> targets, std::span<const std::int64_t> query,
                             std::uint64_t block) {
  std::vector<std::uint64_t> words{static_cast<std::uint64_t>(SectionKind::label_checksums), block};
  if (!targets.empty()) words.push_back(checksum_of(label_part(targets, block)));
  if (!query.empty()) words.push_back(checksum_of(label_part(query, block)));
  return checksum_of(std::span<const std::uint64_t>(words));
}

}  // namespace fenchel::data
