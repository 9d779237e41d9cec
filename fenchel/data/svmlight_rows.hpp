// The rows of a piece of svmlight text, parsed into arrays that are large enough already: at most a row for every
// newline and one more, at most an entry for every colon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fenchel/data/pieces.hpp"

namespace fenchel::data {

template <class Value>
struct RowArrays {
  double* targets = nullptr;
  std::int64_t* query = nullptr;
  std::uint64_t* ends = nullptr;  // where a row's entries end, counted from the first entry of the piece
  std::uint32_t* columns = nullptr;
  Value* values = nullptr;
};

struct RowRules {
  std::optional<int> index_base = {};   // columns are index - index_base.value_or(1); 0 - 1 wraps around
  std::optional<double> positive = {};  // see ReadOptions
  bool round = false;                   // values may be rounded to Value (else they are only looked for `inexact`)
};

struct ParsedRows {
  std::size_t rows = 0;
  std::size_t entries = 0;
  std::size_t index_end = 0;  // one more than the largest index as written; 0 if there is none
  bool zero_seen = false;     // index 0 occurs
  bool has_query = false;
  bool inexact = false;  // a value is not exact in Value: the arrays are incomplete
  std::size_t first_row = 0;  // offset of the first row in the piece
  std::optional<Complaint> complaint = {};
};

// Most rows and entries that a text can have.
struct RowBounds {
  std::size_t rows = 0;
  std::size_t entries = 0;
};
RowBounds row_bounds(std::string_view text);

// `text` is whole lines, padded; arrays as large as row_bounds(text) says.
template <class Value>
ParsedRows parse_rows(std::string_view text, const RowRules& rules, const RowArrays<Value>& arrays);

// What to say of a row at text[offset] that has a qid where those before have none, or the other way round.
Complaint query_mismatch(std::string_view text, std::size_t offset, bool has_query);

}  // namespace fenchel::data
