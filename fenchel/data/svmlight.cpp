#include "fenchel/data/svmlight.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/list.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* skip_blanks(const char* at, const char* end) {
  while (at != end && is_blank(*at)) ++at;
  return at;
}

const char* token_end(const char* at, const char* end) {
  while (at != end && !is_blank(*at)) ++at;
  return at;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& name, const SvmlightOptions& options)
      : text_(text), name_(name), options_(options) {}

  Dataset parse() {
    refuse_binary();
    reserve();
    const char* at = text_.data();
    const char* const end = at + text_.size();
    if (text_.starts_with("\xEF\xBB\xBF")) at += 3;
    while (at != end) {
      const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
      const char* const line_end = found == nullptr ? end : static_cast<const char*>(found);
      line(at, line_end);
      at = line_end == end ? end : line_end + 1;
    }
    return finish();
  }

 private:
  // A NUL can stand nowhere in text, not even in a comment; UTF-16 and most binary files have one early.
  void refuse_binary() const {
    const std::size_t at = text_.find('\0');
    if (at != std::string_view::npos)
      reject(text_, name_, at, "a NUL byte: this is a binary file, not svmlight text");
  }

  // Growing by doubling would need twice the memory at its peak. Colons in comments must not make this silly: an
  // entry takes four bytes (" 1:1").
  void reserve() {
    const auto colons = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), ':'));
    const std::size_t most = std::min(colons, text_.size() / 4);
    columns_.reserve(most);
    values_.reserve(most);
  }

  void line(const char* at, const char* end) {
    if (at != end) {
      const void* comment = std::memchr(at, '#', static_cast<std::size_t>(end - at));
      if (comment != nullptr) {
        end = static_cast<const char*>(comment);
      } else if (end[-1] == '\r') {
        --end;
      }
    }
    at = skip_blanks(at, end);
    if (at == end) return;
    row_ = at;
    at = label(at, end);
    at = query(skip_blanks(at, end), end);
    features(at, end);
    offsets_.push_back(values_.size());
  }

  const char* label(const char* at, const char* end) {
    const char* const stop = token_end(at, end);
    const ParsedNumber number = parse_number(at, stop);
    if (number.fault != NumberFault::none || number.end != stop) fail_label({at, stop});
    targets_.push_back(number.value);
    return stop;
  }

  const char* query(const char* at, const char* end) {
    constexpr std::string_view key = "qid:";
    const char* const stop = token_end(at, end);
    const std::string_view token(at, stop);
    const bool present = token.starts_with(key);
    const bool first_row = targets_.size() == 1;
    if (!first_row && present != !query_.empty()) {
      fail(present ? at : row_,
           present ? fmt::format("{} where the rows before have no qid: all rows need one, or none", quote(token))
                   : "a row without qid where the rows before have one: all rows need one, or none");
    }
    if (!present) return at;
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::string_view digits = token.substr(key.size());
    std::uint64_t number = 0;
    for (const char c : digits) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (!is_digit(c) || number > (most - digit) / 10) fail_query(token);
      number = 10 * number + digit;
    }
    if (digits.empty()) fail_query(token);
    query_.push_back(static_cast<std::int64_t>(number));
    return stop;
  }

  void features(const char* at, const char* end) {
    std::int64_t previous = -1;
    for (at = skip_blanks(at, end); at != end; at = skip_blanks(at, end)) {
      const char* colon = at;
      std::uint64_t index = 0;
      while (colon != end && is_digit(*colon) && index <= largest_index) {
        index = 10 * index + static_cast<std::uint64_t>(*colon++ - '0');
      }
      if (colon == at || colon == end || *colon != ':' || index > largest_index) fail_index(at, end);
      if (static_cast<std::int64_t>(index) <= previous) fail_order(at, index, previous);
      if (index == 0) zero_index(at);
      previous = static_cast<std::int64_t>(index);

      const ParsedNumber number = parse_number(colon + 1, end);
      const bool whole = number.fault != NumberFault::malformed && (number.end == end || is_blank(*number.end));
      if (!whole || number.fault != NumberFault::none) fail_value(at, colon + 1, end, whole);
      store(static_cast<std::uint32_t>(index), number.value, colon + 1, number.end);
      at = number.end;
    }
    if (previous >= 0) column_end_ = std::max(column_end_, static_cast<std::size_t>(previous) + 1);
  }

  void zero_index(const char* at) {
    if (options_.index_base == 1) {
      fail(at, "index 0, but the model or the options ask for data whose indexes start at 1");
    }
    zero_seen_ = true;
  }

  void store(std::uint32_t index, double value, const char* begin, const char* end) {
    if (options_.precision == Precision::f32) {
      const auto rounded = static_cast<float>(value);
      if (!std::isfinite(rounded)) {
        fail(begin, fmt::format("value {} overflows a float32: use --precision f64", quote({begin, end})));
      }
      value = static_cast<double>(rounded);
    }
    if (value == 0.0) return;
    columns_.push_back(index);
    values_.push_back(value);
  }

  Dataset finish() {
    if (targets_.empty()) throw Error(Fault::input, fmt::format("{}: holds no rows", name_));
    data_.index_base = options_.index_base.value_or(zero_seen_ ? 0 : 1);
    data_.precision = options_.precision;
    // Only now is it known where indexes start; until here columns are as written.
    if (data_.index_base == 1) {
      for (std::uint32_t& column : columns_) --column;
      if (column_end_ > 0) --column_end_;
    }
    csr_.column_count = column_end_;
    csr_.offsets = std::move(offsets_);
    csr_.columns = std::move(columns_);
    data_.targets = std::move(targets_);
    data_.query = std::move(query_);
    csr_.values = compact(std::move(values_), options_.precision);
    data_.storage = std::move(csr_);
    return std::move(data_);
  }

  // Everything below only words errors; none of it is on the way of good text.

  [[noreturn]] void fail(const char* at, const std::string& reason) const {
    reject(text_, name_, static_cast<std::size_t>(at - text_.data()), reason);
  }

  [[noreturn]] void fail_label(std::string_view token) const {
    const char* const at = token.data();
    if (token.find(':') != std::string_view::npos) {
      fail(at, fmt::format(
                   "{} where the label should be: every row needs one label (multi-label data are not supported)",
                   quote(token)));
    }
    if (token.find(',') != std::string_view::npos) {
      fail(at,
           fmt::format("label {}: multi-label data are not supported, every row needs one label", quote(token)));
    }
    const bool overflow = parse_number(at, at + token.size()).fault == NumberFault::overflow;
    fail(at, fmt::format("label {} {}", quote(token), overflow ? "overflows a double" : "is not a decimal number"));
  }

  [[noreturn]] void fail_query(std::string_view token) const {
    fail(token.data(), fmt::format("{} is not qid:N with an integer from 0 to 9223372036854775807", quote(token)));
  }

  [[noreturn]] void fail_index(const char* at, const char* end) const {
    const std::string_view token(at, token_end(at, end));
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

  [[noreturn]] void fail_value(const char* at, const char* value, const char* end, bool whole) const {
    const std::string_view shown(value, token_end(value, end));
    if (shown.empty()) fail(value, fmt::format("no value after {}", quote({at, value})));
    fail(value, fmt::format("value {} {}", quote(shown), whole ? "overflows a double" : "is not a decimal number"));
  }

  std::string_view text_;
  const std::string& name_;
  const SvmlightOptions& options_;
  Dataset data_;
  CsrStorage csr_;
  std::vector<std::uint64_t> offsets_{0};
  std::vector<std::uint32_t> columns_;
  std::vector<double> targets_;
  std::vector<std::int64_t> query_;
  std::vector<double> values_;
  std::size_t column_end_ = 0;  // one more than the largest index
  bool zero_seen_ = false;
  const char* row_ = nullptr;  // where the row at hand begins
};

}  // namespace

Dataset read_svmlight(std::string_view text, const std::string& name, const SvmlightOptions& options) {
  return Parser(text, name, options).parse();
}

Dataset read_svmlight(Source& source, const ReadOptions& options) {
  return read_svmlight(source.text(), source.name(),
                       {.index_base = options.index_base, .precision = options.precision});
}

}  // namespace fenchel::data
