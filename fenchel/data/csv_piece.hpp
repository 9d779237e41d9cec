// A piece of a table, from text to numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fenchel/data/csv_cell.hpp"
#include "fenchel/data/csv_layout.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/pieces.hpp"

namespace fenchel::data::csv {

// What is wrong, and where in the piece.
struct Flaw {
  Place place;
  std::size_t row = 0;  // counts from 0
  std::string reason;
};

struct Piece {
  std::size_t rows = 0;
  std::size_t lines = 0;              // line ends
  std::size_t cells = 0;              // of features
  std::optional<Place> header_place;  // of the header, if it was the first record
  Array<double> targets;              // one a row, unless there are none
  Array<std::uint32_t> counts;        // sparse: entries of each row
  Array<std::uint32_t> columns;       // sparse: of each entry
  Values values;                      // dense: all of them; in floats as long as that is exact
  std::optional<Flaw> flaw;
  std::optional<Complaint> complaint;  // never: which row it is in must be known to word it

  [[nodiscard]] std::size_t value_count() const {
    return std::visit([](const auto& numbers) { return numbers.size(); }, values);
  }
};

// `text` is padded (see Source). `inexact` is set when a value turns up that no float holds; where it is set already, floats are not even tried.
Piece parse_piece(std::string_view text, const Layout& layout, Precision precision, std::atomic<bool>& inexact);

inline constexpr const char* lone_return = "a carriage return without a newline: lines must end with LF or CRLF";
// The words for quotes that are wrong.
std::string quote_flaw(const Cell& cell);

}  // namespace fenchel::data::csv
