#include "fenchel/data/svmlight_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "fenchel/data/digits.hpp"
#include "fenchel/data/list.hpp"
#include "fenchel/data/marks.hpp"
#include "fenchel/data/svmlight.hpp"

namespace fenchel::data {

namespace {

constexpr std::string_view query_key = "qid:";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class Value>
class RowParser {
 public:
  RowParser(std::string_view text, const RowRules& rules, const RowArrays<Value>& arrays)
      : text_(text),
        end_(text.data() + text.size()),
        rules_(rules),
        to_(arrays),
        base_(static_cast<std::uint32_t>(rules.index_base.value_or(1))),
        marks_(text) {}

  ParsedRows parse() {
    try {
      for (const char* at = text_.data(); at != end_ && !done_.inexact;) {
        at = simple_lines(at);
        if (at != end_ && !done_.inexact) at = line(at);
      }
    } catch (Complaint& complaint) {
      done_.complaint = std::move(complaint);
    }
    return std::move(done_);
  }

 private:
  // Most lines are `label index:value index:value ...` with single blanks, without qid and comment. Takes as many of
  // them as follow each other and returns where a line begins that is not so simple, or wrong, and left to line().
  const char* simple_lines(const char* at) {
    if (rules_.positive || done_.has_query) return at;
    Marks::Cursor cursor = marks_.skipped_to(at, cursor_);
    if (done_.rows == 0) done_.first_row = offset(at);
    while (at != end_ && !done_.inexact) {
      const char* const next = simple_line(at, cursor);
      if (next == nullptr) break;
      at = next;
    }
    cursor_ = cursor;
    return at;
  }

  // The next line, or null. What is strange is gathered and looked at once a line: a branch costs more than it saves.
  const char* simple_line(const char* at, Marks::Cursor& cursor) {
    const char* stop = marks_.next(cursor);
    const QuickNumber target = quick_number(*at == '+' && is_digit(at[1]) ? at + 1 : at);
    if (target.end != stop) return nullptr;
    std::size_t entries = done_.entries;
    std::uint64_t least = 0;  // that the next index may be
    std::uint64_t strange = 0;
    bool zero = false, unfit = false;
    while (*stop == ' ') {
      const char* const index_begin = stop + 1;
      const char* const colon = marks_.next(cursor);
      const auto index_length = static_cast<std::size_t>(colon - index_begin);
      if (index_length - 1 > 7) {
        stop = colon;
        if (index_length == 0 && *stop == '\n') break;  // a blank at the end of the line
        return nullptr;
      }
      // Only now: the arrays have room for as many entries as there are colons, and for no more.
      if (*colon != ':') return nullptr;
      stop = marks_.next(cursor);
      const EightDigits digits(index_begin, index_length);
      const std::uint64_t index = digits.number();
      strange |= digits.strange() | flag(index < least);
      least = index + 1;
      zero |= index == 0;

      const char* begin = colon + 1;
      const bool negative = *begin == '-';
      begin += negative ? 1 : 0;
      const auto length = static_cast<std::size_t>(stop - begin);
      const auto first = static_cast<std::uint64_t>(static_cast<unsigned char>(*begin)) - '0';
      double number = static_cast<double>(first);
      if (length - 3 <= 7 && begin[1] == '.') {
        const std::size_t places = length - 2;
        const EightDigits fraction(begin + 2, places);
        strange |= fraction.strange();
        number =
            static_cast<double>(first * integer_powers_of_ten[places] + fraction.number()) / powers_of_ten[places];
      } else if (length != 1) {
        const ParsedNumber parsed = parse_number(begin, stop);
        if (parsed.fault != NumberFault::none || parsed.end != stop) return nullptr;
        number = parsed.value;
      }
      strange |= flag(first > 9);
      if (negative) number = -number;
      const auto value = static_cast<Value>(number);
      if constexpr (std::is_same_v<Value, float>) {
        unfit |= rules_.round ? !std::isfinite(value) : static_cast<double>(value) != number;
      }
      to_.columns[entries] = static_cast<std::uint32_t>(index) - base_;
      to_.values[entries] = value;
      entries += value != 0 ? 1 : 0;
    }
    if (*stop != '\n' || strange != 0) return nullptr;
    // Indexes of up to eight digits are not too large; but a value may be, for a float.
    if ((zero && rules_.index_base == 1) || (unfit && rules_.round)) return nullptr;
    done_.inexact |= unfit;
    done_.zero_seen |= zero;
    done_.index_end = std::max(done_.index_end, static_cast<std::size_t>(least));
    done_.entries = entries;
    to_.targets[done_.rows] = target.value;
    to_.ends[done_.rows++] = entries;
    return stop + 1;
  }
  static std::uint64_t flag(bool condition) { return condition ? 1 : 0; }

  // All of these take the place to start at and return the place where they stopped.

  const char* line(const char* at) {
    at = skip_blanks(*at == byte_order_mark.front() ? skip_mark(at) : at);
    if (at_line_end(at)) return next_line(at);
    if (done_.rows == 0) done_.first_row = offset(at);
    row_ = at;
    at = features(query(skip_blanks(label(at))));
    to_.ends[done_.rows++] = done_.entries;
    return next_line(at);
  }

  // One begins many a text, and so the lines where such texts were joined.
  [[nodiscard]] const char* skip_mark(const char* at) const {
    return std::string_view(at, end_).starts_with(byte_order_mark) ? at + byte_order_mark.size() : at;
  }
  [[nodiscard]] const char* skip_blanks(const char* at) const {
    while (at != end_ && is_blank(*at)) ++at;
    return at;
  }
  // The end of the text, a newline, CR LF, or a comment.
  [[nodiscard]] bool at_line_end(const char* at) const {
    if (at == end_ || *at == '\n' || *at == '#') return true;
    return *at == '\r' && (at + 1 == end_ || at[1] == '\n');
  }
  [[nodiscard]] bool at_token_end(const char* at) const { return at_line_end(at) || is_blank(*at); }
  [[nodiscard]] const char* token_end(const char* at) const {
    while (!at_token_end(at)) ++at;
    return at;
  }

  const char* next_line(const char* at) const {
    if (at != end_ && *at == '\n') return at + 1;
    const void* const found = std::memchr(at, '\n', static_cast<std::size_t>(end_ - at));
    const char* const newline = found == nullptr ? end_ : static_cast<const char*>(found);
    const void* const zero = std::memchr(at, '\0', static_cast<std::size_t>(newline - at));  // in a comment
    if (zero != nullptr) fail(static_cast<const char*>(zero), "");
    return newline == end_ ? end_ : newline + 1;
  }

  const char* label(const char* at) {
    if (rules_.positive) return labels(at);
    const QuickNumber quick = quick_number(*at == '+' && is_digit(at[1]) ? at + 1 : at);
    if (quick.end != nullptr && is_blank(*quick.end)) {
      to_.targets[done_.rows] = quick.value;
      return quick.end;
    }
    const char* const stop = token_end(at);
    const ParsedNumber number = parse_number(at, stop);
    if (number.fault != NumberFault::none || number.end != stop) fail_label({at, stop});
    to_.targets[done_.rows] = number.value;
    return stop;
  }

  // 1 where the list of labels contains the wanted one, else -1.
  const char* labels(const char* at) {
    const char* const stop = token_end(at);
    const std::string_view list(at, stop);
    const bool none = list.find(':') != std::string_view::npos;  // what comes first is an index
    bool found = false;
    for (std::size_t begin = 0; !none && begin <= list.size();) {
      const std::size_t comma = std::min(list.find(',', begin), list.size());
      const char* const first = at + begin;
      const ParsedNumber number = parse_number(first, at + comma);
      if (number.fault != NumberFault::none || number.end != at + comma) fail_label({first, at + comma});
      found |= number.value == *rules_.positive;
      begin = comma + 1;
    }
    to_.targets[done_.rows] = found ? 1.0 : -1.0;
    return none ? at : stop;
  }

  const char* query(const char* at) {
    const char* stop = at;
    bool present = false;
    if (*at == 'q') {
      stop = token_end(at);
      present = std::string_view(at, stop).starts_with(query_key);
    }
    if (done_.rows == 0) done_.has_query = present;
    if (present != done_.has_query) throw query_mismatch(text_, offset(row_), present);
    if (!present) return at;
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::string_view token(at, stop);
    std::uint64_t number = 0;
    for (const char c : token.substr(query_key.size())) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (!is_digit(c) || number > (most - digit) / 10) fail_query(token);
      number = 10 * number + digit;
    }
    if (token.size() == query_key.size()) fail_query(token);
    to_.query[done_.rows] = static_cast<std::int64_t>(number);
    return stop;
  }

  const char* features(const char* at) {
    std::int64_t previous = -1;
    for (at = skip_blanks(at); !at_line_end(at); at = skip_blanks(at)) {
      std::uint64_t index = 0;
      const char* const colon = index_at(at, index);
      if (static_cast<std::int64_t>(index) <= previous) fail_order(at, index, previous);
      if (index == 0) zero_index(at);
      previous = static_cast<std::int64_t>(index);
      at = value(at, colon + 1, static_cast<std::uint32_t>(index));
    }
    if (previous >= 0) done_.index_end = std::max(done_.index_end, static_cast<std::size_t>(previous) + 1);
    return at;
  }

  const char* index_at(const char* at, std::uint64_t& index) const {
    const char* colon = at;
    while (colon != end_ && is_digit(*colon) && index <= largest_index) {
      index = 10 * index + static_cast<std::uint64_t>(*colon++ - '0');
    }
    if (colon == at || colon == end_ || *colon != ':' || index > largest_index) fail_index(at);
    return colon;
  }

  const char* value(const char* entry, const char* at, std::uint32_t index) {
    const ParsedNumber number = parse_number(at, end_);
    const bool whole = number.fault != NumberFault::malformed && at_token_end(number.end);
    if (!whole || number.fault != NumberFault::none) fail_value(entry, at, whole);
    const auto held = static_cast<Value>(number.value);
    if constexpr (std::is_same_v<Value, float>) {
      if (rules_.round) {
        if (!std::isfinite(held)) fail_float({at, number.end});
      } else {
        done_.inexact |= static_cast<double>(held) != number.value;
      }
    }
    to_.columns[done_.entries] = index - base_;
    to_.values[done_.entries] = held;
    done_.entries += held != 0 ? 1 : 0;
    return number.end;
  }

  void zero_index(const char* at) {
    if (rules_.index_base == 1) {
      fail(at, "index 0, but the model or the options ask for data whose indexes start at 1");
    }
    done_.zero_seen = true;
  }

  // Everything below only words errors; none of it is on the way of good text.

  [[nodiscard]] std::size_t offset(const char* at) const { return static_cast<std::size_t>(at - text_.data()); }

  // A NUL can stand nowhere in text, not even in a comment; UTF-16 and most binary files have one early.
  [[noreturn]] void fail(const char* at, const std::string& reason) const {
    const std::string_view line = text_.substr(text_.substr(0, offset(at)).rfind('\n') + 1);  // npos + 1 is 0
    const std::size_t zero = line.substr(0, line.find('\n')).find('\0');
    if (zero == std::string_view::npos) throw Complaint{offset(at), reason};
    throw Complaint{offset(line.data() + zero), "a NUL byte: this is a binary file, not svmlight text"};
  }

  [[noreturn]] void fail_label(std::string_view token) const {
    constexpr std::string_view cure =
        "--positive LABEL makes two classes of rows with several labels or none: 1 where LABEL is among them, else "
        "-1";
    if (token.find(':') != std::string_view::npos) {
      fail(token.data(), fmt::format("{} where the label should be: {}", quote(token), cure));
    }
    if (token.find(',') != std::string_view::npos) {
      fail(token.data(), fmt::format("label {}: a row has one label; {}", quote(token), cure));
    }
    const bool overflow = parse_number(token.data(), token.data() + token.size()).fault == NumberFault::overflow;
    fail(token.data(),
         fmt::format("label {} {}", quote(token), overflow ? "overflows a double" : "is not a decimal number"));
  }

  [[noreturn]] void fail_query(std::string_view token) const {
    fail(token.data(), fmt::format("{} is not qid:N with an integer from 0 to 9223372036854775807", quote(token)));
  }

  [[noreturn]] void fail_index(const char* at) const {
    const std::string_view token(at, token_end(at));
    const std::size_t colon = token.find(':');
    if (colon == std::string_view::npos) fail(at, fmt::format("{} is not of the form index:value", quote(token)));
    const std::string_view index = token.substr(0, colon);
    if (index == "qid") fail(at, fmt::format("{} may stand only once, right after the label", quote(token)));
    if (!index.empty() && std::all_of(index.begin(), index.end(), is_digit)) {
      fail(at, fmt::format("index {} is too large: the largest is {}", quote(index), largest_index));
    }
    fail(at, fmt::format("index {} of {} is not a non-negative integer", quote(index), quote(token)));
  }

  [[noreturn]] void fail_order(const char* at, std::uint64_t index, std::int64_t previous) const {
    if (static_cast<std::int64_t>(index) == previous) fail(at, fmt::format("index {} occurs twice", index));
    fail(at, fmt::format("index {} follows index {}: indexes must ascend", index, previous));
  }

  [[noreturn]] void fail_value(const char* entry, const char* at, bool whole) const {
    const std::string_view shown(at, token_end(at));
    if (shown.empty()) fail(at, fmt::format("no value after {}", quote({entry, at})));
    fail(at, fmt::format("value {} {}", quote(shown), whole ? "overflows a double" : "is not a decimal number"));
  }

  [[noreturn]] void fail_float(std::string_view token) const {
    fail(token.data(), fmt::format("value {} overflows a float32: use --precision f64", quote(token)));
  }

  std::string_view text_;
  const char* end_;
  const RowRules& rules_;
  RowArrays<Value> to_;
  std::uint32_t base_;
  Marks marks_;
  Marks::Cursor cursor_;
  ParsedRows done_;
  const char* row_ = nullptr;  // where the row at hand begins
};

}  // namespace

RowBounds row_bounds(std::string_view text) {
  const MarkCounts counts = count_marks(text);
  return {counts.newlines + 1, counts.colons};
}

template <class Value>
ParsedRows parse_rows(std::string_view text, const RowRules& rules, const RowArrays<Value>& arrays) {
  return RowParser<Value>(text, rules, arrays).parse();
}
template ParsedRows parse_rows(std::string_view, const RowRules&, const RowArrays<double>&);
template ParsedRows parse_rows(std::string_view, const RowRules&, const RowArrays<float>&);

Complaint query_mismatch(std::string_view text, std::size_t offset, bool has_query) {
  if (!has_query) return {offset, "a row without qid where the rows before have one: all rows need one, or none"};
  const std::size_t at = text.find(query_key, offset);
  const std::string_view token = text.substr(at, text.find_first_of(" \t\r\n#", at) - at);
  return {at, fmt::format("{} where the rows before have no qid: all rows need one, or none", quote(token))};
}

}  // namespace fenchel::data
