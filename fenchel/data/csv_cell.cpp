#include "fenchel/data/csv_cell.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace fenchel::data::csv {

namespace {

std::string_view trimmed(const char* begin, const char* end, char separator) {
  begin = skip_blanks(begin, end, separator);
  while (begin != end && is_blank(end[-1], separator)) --end;
  return {begin, end};
}

Cell scan_quoted(const char* open, const char* end, char separator) {
  const char* at = open + 1;
  while (true) {
    const void* found = at == end ? nullptr : std::memchr(at, '"', static_cast<std::size_t>(end - at));
    if (found == nullptr) return {.flaw = open, .unclosed = true};
    const auto* const quote = static_cast<const char*>(found);
    at = quote + 1;
    if (at != end && *at == '"') {
      ++at;
      continue;
    }
    const char* const next = skip_blanks(at, end, separator);
    const bool ends = ends_line(next, end) || *next == separator;
    return {trimmed(open + 1, quote, separator), true, next, ends ? nullptr : next};
  }
}

}  // namespace

Cell scan_cell(const char* at, const char* end, char separator) {
  at = skip_blanks(at, end, separator);
  if (at != end && *at == '"') return scan_quoted(at, end, separator);
  const char* next = at;
  while (!ends_line(next, end) && *next != separator) {
    if (*next == '"') return {.flaw = next};
    ++next;
  }
  return {trimmed(at, next, separator), false, next, nullptr};
}

std::string plain(const Cell& cell) {
  if (!cell.quoted) return std::string(cell.content);
  std::string text;
  for (std::size_t k = 0; k < cell.content.size(); ++k) {
    text += cell.content[k];
    if (cell.content[k] == '"') ++k;
  }
  return text;
}

bool is_missing(std::string_view content) {
  constexpr std::array<std::string_view, 10> words{"",    "NA",   "N/A",  "nan",  "NaN",
                                                   "NAN", "null", "NULL", "None", "?"};
  return std::find(words.begin(), words.end(), content) != words.end();
}

}  // namespace fenchel::data::csv
