#include "fenchel/data/csv_piece.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "fenchel/data/digits.hpp"
#include "fenchel/data/list.hpp"

namespace fenchel::data::csv {

namespace {

// The numbers of a piece as they come: floats, until one comes that no float holds.
class Numbers {
 public:
  Numbers(std::size_t most, bool wide) : most_(most), wide_(wide) { allocate(); }

  void push(double value) {
    if (wide_) {
      doubles_.data()[count_++] = value;
    } else {
      floats_.data()[count_++] = static_cast<float>(value);
    }
  }
  [[nodiscard]] bool wide() const { return wide_; }
  void widen() {
    wide_ = true;
    const Buffer<float> narrow = std::move(floats_);
    allocate();
    std::copy_n(narrow.data(), count_, doubles_.data());
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] Values freeze() && {
    if (wide_) return std::move(doubles_).freeze(count_);
    return std::move(floats_).freeze(count_);
  }

 private:
  void allocate() {
    if (wide_) {
      doubles_ = Buffer<double>(most_);
    } else {
      floats_ = Buffer<float>(most_);
    }
  }

  std::size_t most_;
  bool wide_;
  std::size_t count_ = 0;
  Buffer<float> floats_;
  Buffer<double> doubles_;
};

class PieceParser {
 public:
  PieceParser(std::string_view text, const Layout& layout, Precision precision, std::atomic<bool>& inexact)
      : text_(text),
        end_(text.data() + text.size()),
        layout_(layout),
        separator_(layout.separator),
        precision_(precision),
        inexact_(inexact),
        most_rows_(count_of(text, '\n') + 1),
        // A number takes a byte, and one for what separates it from the next.
        most_numbers_(std::min(most_rows_ * layout.features, text.size() / 2 + 1)),
        numbers_(most_numbers_, precision == Precision::f64 && inexact.load(std::memory_order_relaxed)),
        targets_(layout.features < layout.roles.size() ? most_rows_ : 0),
        counts_(layout.sparse ? most_rows_ : 0),
        columns_(layout.sparse ? most_numbers_ : 0) {}

  Piece parse() {
    const char* at = skip_header(text_.data());
    while (at != end_ && !piece_.flaw) at = line(at);
    piece_.targets = std::move(targets_).freeze(target_count_);
    piece_.counts = std::move(counts_).freeze(layout_.sparse ? piece_.rows : 0);
    piece_.columns = std::move(columns_).freeze(layout_.sparse ? numbers_.count() : 0);
    piece_.values = std::move(numbers_).freeze();
    return std::move(piece_);
  }

 private:
  // Only the first piece has a header. Whoever puts the pieces together knows which is the first.
  const char* skip_header(const char* at) {
    if (layout_.header.empty()) return at;
    while (at != end_) {
      const char* const first = skip_blanks(skip_mark(at, end_), end_, separator_);
      if (!ends_line(first, end_)) break;
      at = end_line(first);
    }
    const char* const header = skip_mark(at, end_);
    if (!std::string_view(header, end_).starts_with(layout_.header)) return at;
    piece_.header_place = {.line = piece_.lines + 1, .column = static_cast<std::size_t>(header - at) + 1};
    piece_.lines += static_cast<std::size_t>(std::ranges::count(layout_.header, '\n'));
    return header + layout_.header.size();
  }

  const char* end_line(const char* at) {
    at = next_line(at, end_);
    if (at[-1] == '\n') ++piece_.lines;
    return at;
  }

  const char* line(const char* at) {
    at = skip_mark(at, end_);
    const char* const first = skip_blanks(at, end_, separator_);
    if (ends_line(first, end_)) return end_line(first);
    return record(at);
  }

  // One record from its first byte; one behind its line end is returned, or nothing in particular if it has a flaw.
  const char* record(const char* at) {
    const std::size_t width = layout_.roles.size();
    const std::size_t before = numbers_.count();
    feature_ = 0;
    for (std::size_t j = 0; j < width; ++j) {
      const Role role = layout_.roles[j];
      const char* const next = role == Role::dropped ? skipped(at) : number(at, j, role);
      if (next == nullptr) return end_;
      const bool last = j + 1 == width;
      if (!last && next != end_ && *next == separator_) {
        at = next + 1;
      } else if (last && ends_line(next, end_)) {
        at = end_line(next);
      } else {
        return wrong_width(next, j + 1);
      }
    }
    if (layout_.sparse) counts_.data()[piece_.rows] = static_cast<std::uint32_t>(numbers_.count() - before);
    ++piece_.rows;
    return at;
  }

  const char* number(const char* at, std::size_t column, Role role) {
    // A single digit is what most cells of many tables are.
    if (end_ - at > 1 && at[1] == separator_ && *at >= '0' && *at <= '9') {
      return store(*at - '0', column, role, at, at + 1) ? at + 1 : nullptr;
    }
    const QuickNumber quick = quick_number(at);
    // It may have looked beyond the end.
    if (quick.end != nullptr && quick.end < end_ && (*quick.end == separator_ || *quick.end == '\n')) {
      return store(quick.value, column, role, at, quick.end) ? quick.end : nullptr;
    }
    const char* const first = skip_blanks(at, end_, separator_);
    const ParsedNumber parsed = parse_number(first, end_);
    if (parsed.fault == NumberFault::none) {
      const char* const next = skip_blanks(parsed.end, end_, separator_);
      if (next == end_ || *next == separator_ || ends_line(next, end_)) {
        return store(parsed.value, column, role, first, parsed.end) ? next : nullptr;
      }
    }
    return odd_number(first, column, role);
  }

  // Numbers in quotes, and all that is not a number.
  const char* odd_number(const char* at, std::size_t column, Role role) {
    const Cell cell = scan_cell(at, end_, separator_);
    if (cell.flaw != nullptr) return refuse_quote(cell);
    const char* const end = cell.content.data() + cell.content.size();
    const ParsedNumber parsed = parse_number(cell.content.data(), end);
    if (parsed.fault != NumberFault::none || parsed.end != end) {
      return refuse(cell.content.data(), column, problem(cell.content, column, role, parsed));
    }
    piece_.lines += static_cast<std::size_t>(std::count(at, cell.next, '\n'));
    return store(parsed.value, column, role, cell.content.data(), end) ? cell.next : nullptr;
  }

  const char* skipped(const char* at) {
    const Cell cell = scan_cell(at, end_, separator_);
    if (cell.flaw != nullptr) return refuse_quote(cell);
    if (cell.quoted) piece_.lines += static_cast<std::size_t>(std::count(at, cell.next, '\n'));
    return cell.next;
  }

  bool store(double value, std::size_t column, Role role, const char* begin, const char* end) {
    if (role == Role::label) {
      targets_.data()[target_count_++] = value;
      return true;
    }
    if (!numbers_.wide()) {
      const auto rounded = static_cast<float>(value);
      if (static_cast<double>(rounded) != value) {
        if (precision_ == Precision::f32) {
          if (!std::isfinite(rounded)) {
            refuse(begin, column, fmt::format("{} overflows a float32: use --precision f64", quote({begin, end})));
            return false;
          }
          value = static_cast<double>(rounded);
        } else {
          inexact_.store(true, std::memory_order_relaxed);
          numbers_.widen();
        }
      }
    }
    ++piece_.cells;
    if (!layout_.sparse) {
      numbers_.push(value);
    } else if (value != 0.0) {
      columns_.data()[numbers_.count()] = feature_;
      numbers_.push(value);
    }
    ++feature_;
    return true;
  }

  // Everything below only words errors; none of it is on the way of good text.

  const char* refuse(const char* at, const std::string& reason) {
    const auto offset = static_cast<std::size_t>(at - text_.data());
    piece_.flaw = Flaw{place_of(text_, offset), piece_.rows, reason};
    return nullptr;
  }
  const char* refuse(const char* at, std::size_t column, const std::string& reason) {
    return refuse(at, fmt::format(", {}: {}", layout_.describe(column), reason));
  }
  const char* refuse_quote(const Cell& cell) { return refuse(cell.flaw, ": " + quote_flaw(cell)); }

  // How to name the column to --drop.
  [[nodiscard]] std::string option_value(std::size_t column) const {
    const bool plain_name = !layout_.names.empty() && !layout_.names[column].empty() &&
                            std::ranges::count(layout_.names, layout_.names[column]) == 1 &&
                            std::ranges::all_of(layout_.names[column], [](char c) { return c > ' ' && c <= '~'; });
    return plain_name ? layout_.names[column] : fmt::format("{}", column + 1);
  }

  [[nodiscard]] std::string problem(std::string_view content, std::size_t column, Role role,
                                    const ParsedNumber& parsed) const {
    const bool label = role == Role::label;
    const std::string_view what = label ? "label" : "value";
    const std::string leave_out = fmt::format("leave the column out with --drop {}", option_value(column));
    if (is_missing(content)) {
      return fmt::format("missing {} {}: {}", what, quote(content),
                         label ? "every row needs one" : fmt::format("fill it in, or {}", leave_out));
    }
    const bool whole = parsed.end == content.data() + content.size();
    if (parsed.fault == NumberFault::overflow && whole) {
      return fmt::format("{} {} overflows a double", what, quote(content));
    }
    if (content.find('\r') != std::string_view::npos) {
      return fmt::format("{} {} holds {}", what, quote(content), lone_return);
    }
    const std::string wrong = fmt::format("{} {} is not a finite decimal number", what, quote(content));
    if (label) return fmt::format("{}: number the classes, or choose another column with --label", wrong);
    if (content.find(',') != std::string_view::npos) return fmt::format("{}: write a point, not a comma", wrong);
    return fmt::format("{}: write it as numbers, or {}", wrong, leave_out);
  }

  // A record with too few or too many cells: `at` is behind the last one that was read.
  const char* wrong_width(const char* at, std::size_t cells) {
    const char* const place = at;
    while (!ends_line(at, end_)) {
      const Cell cell = scan_cell(at + 1, end_, separator_);
      if (cell.flaw != nullptr) return refuse_quote(cell);
      at = cell.next;
      ++cells;
    }
    refuse(place, fmt::format(": {} {} where the first line has {}", cells, cells == 1 ? "cell" : "cells",
                              layout_.roles.size()));
    return end_;
  }

  std::string_view text_;
  const char* end_;
  const Layout& layout_;
  char separator_;
  Precision precision_;
  std::atomic<bool>& inexact_;
  std::size_t most_rows_;
  std::size_t most_numbers_;
  Numbers numbers_;
  Buffer<double> targets_;
  std::size_t target_count_ = 0;
  Buffer<std::uint32_t> counts_;
  Buffer<std::uint32_t> columns_;
  std::uint32_t feature_ = 0;  // how many features of the record came already
  Piece piece_;
};

}  // namespace

Piece parse_piece(std::string_view text, const Layout& layout, Precision precision, std::atomic<bool>& inexact) {
  return PieceParser(text, layout, precision, inexact).parse();
}

std::string quote_flaw(const Cell& cell) {
  if (cell.unclosed) return "quotes that are never closed";
  return fmt::format("{} in a cell: quotes go around the whole cell, and are doubled within it",
                     quote({cell.flaw, 1}));
}

}  // namespace fenchel::data::csv
