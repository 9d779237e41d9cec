// One cell of a table in text: where it begins and ends, and what stands in it.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

namespace fenchel::data::csv {

// A tab is a blank wherever it is not the separator.
inline bool is_blank(char c, char separator) { return (c == ' ' || c == '\t') && c != separator; }

// Files that were put one behind the other have byte order marks at the beginning of lines.
inline const char* skip_mark(const char* at, const char* end) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return std::string_view(at, end).starts_with(mark) ? at + mark.size() : at;
}

inline const char* skip_blanks(const char* at, const char* end, char separator) {
  while (at != end && is_blank(*at, separator)) ++at;
  return at;
}

// Whether a line ends here: with LF, CRLF, or because the text does.
inline bool ends_line(const char* at, const char* end) {
  if (at == end || *at == '\n') return true;
  return *at == '\r' && (at + 1 == end || at[1] == '\n');
}

// One behind the end of the line that ends here.
inline const char* next_line(const char* at, const char* end) {
  if (at != end && *at == '\r') ++at;
  return at == end ? end : at + 1;
}

struct Cell {
  std::string_view content = {};  // without the blanks around it, nor its quotes
  bool quoted = false;            // quotes in the content are doubled
  const char* next = nullptr;     // the separator behind it, or the end of the line
  const char* flaw = nullptr;     // where quotes are wrong; null if nothing is. Nothing else counts then.
  bool unclosed = false;          // what is wrong is that quotes end nowhere
};

Cell scan_cell(const char* at, const char* end, char separator);

// The content as its writer meant it.
std::string plain(const Cell& cell);

// An empty cell, or one of the words for a value that is not there.
bool is_missing(std::string_view content);

}  // namespace fenchel::data::csv
