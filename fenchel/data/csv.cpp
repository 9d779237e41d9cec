#include "fenchel/data/csv.hpp"

#include <atomic>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/data/csv_layout.hpp"
#include "fenchel/data/csv_piece.hpp"

namespace fenchel::data {

namespace {

using csv::Flaw;
using csv::Layout;
using csv::Piece;

// The pieces of a table, in their order.
class Table {
 public:
  Table(const Layout& layout, const std::string& name) : layout_(layout), name_(name) {}

  void take(Piece piece) {
    check_header(piece);
    if (piece.flaw) refuse(*piece.flaw);
    rows_ += piece.rows;
    lines_ += piece.lines;
    entries_ += piece.value_count();
    targets_ += piece.targets.size();
    wide_ = wide_ || std::holds_alternative<Array<double>>(piece.values);
    after_header_ = after_header_ || piece.header_place;
    if (piece.rows > 0) pieces_.push_back(std::move(piece));
  }

  // Puts the pieces together; each is gone as soon as it was copied, so that nothing is in memory twice.
  Dataset join(Precision precision, const std::string& spill) && {
    if (rows_ == 0) throw Error(Fault::input, fmt::format("{}: holds no rows", name_));
    Buffer<double> targets(targets_);
    Dataset data;
    if (wide_) {
      data.storage = join_values<double>(targets, spill);
    } else {
      data.storage = join_values<float>(targets, spill);
    }
    data.targets = std::move(targets).freeze();
    data.precision = precision;
    data.remark = layout_.remark;
    return data;
  }

 private:
  using Storage = std::variant<CsrStorage, DenseStorage>;

  // What a piece takes for the header is one only before all rows.
  void check_header(const Piece& piece) const {
    if (!piece.header_place || (!after_header_ && rows_ == 0)) return;
    Layout plain = layout_;
    plain.header.clear();
    std::atomic<bool> inexact = true;
    const Piece again =
        csv::parse_piece(Source::of_text(layout_.header, name_).text(), plain, Precision::f64, inexact);
    Flaw flaw = again.flaw ? *again.flaw : Flaw{{}, 0, ": the header again"};
    if (flaw.place.line == 1) flaw.place.column += piece.header_place->column - 1;
    flaw.place.line += piece.header_place->line - 1;
    refuse(flaw);
  }

  [[noreturn]] void refuse(const Flaw& flaw) const {
    reject(name_, {.line = lines_ + flaw.place.line, .column = flaw.place.column},
           fmt::format("row {}{}", rows_ + flaw.row + 1, flaw.reason));
  }

  template <class Value>
  Storage join_values(Buffer<double>& targets, const std::string& spill) {
    struct Start {
      std::size_t row, entry;
    };
    std::vector<Start> starts;
    Start next{0, 0};
    for (const Piece& piece : pieces_) {
      starts.push_back(next);
      next = {next.row + piece.rows, next.entry + piece.value_count()};
    }
    Buffer<Value> values(entries_, spill);
    Buffer<std::uint32_t> columns(layout_.sparse ? entries_ : 0, spill);
    Buffer<std::uint64_t> offsets(layout_.sparse ? rows_ + 1 : 0, spill);
    parallel_for(pieces_.size(), [&](std::size_t k) {
      const Piece piece = std::move(pieces_[k]);
      const std::size_t row = starts[k].row, entry = starts[k].entry;
      std::visit([&](const auto& from) { std::ranges::copy(from, values.data() + entry); }, piece.values);
      if (targets_ > 0) std::ranges::copy(piece.targets, targets.data() + row);
      if (!layout_.sparse) return;
      std::ranges::copy(piece.columns, columns.data() + entry);
      std::uint64_t end = entry;
      for (std::size_t i = 0; i < piece.rows; ++i) offsets.data()[row + i + 1] = end += piece.counts[i];
    });
    if (!layout_.sparse) return DenseStorage{std::move(values).freeze(), rows_, layout_.features};
    return CsrStorage{std::move(offsets).freeze(), std::move(columns).freeze(), std::move(values).freeze(),
                      layout_.features};
  }

  const Layout& layout_;
  const std::string& name_;
  std::vector<Piece> pieces_;
  std::size_t rows_ = 0;
  std::size_t lines_ = 0;
  std::size_t entries_ = 0;
  std::size_t targets_ = 0;
  bool wide_ = false;
  bool after_header_ = false;
};

}  // namespace

Dataset read_csv(Source& source, const ReadOptions& options, char separator) {
  const Layout layout = csv::find_layout(source, options, separator);
  Table table(layout, source.name());
  std::atomic<bool> inexact = false;
  for_each_piece(
      source, Lines::quoted,
      [&](std::string_view text) { return csv::parse_piece(text, layout, options.precision, inexact); },
      [&](Piece piece) { table.take(std::move(piece)); });
  return std::move(table).join(options.precision, options.spill);
}

}  // namespace fenchel::data
