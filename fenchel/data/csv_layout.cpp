#include "fenchel/data/csv_layout.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <ranges>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/csv_cell.hpp"
#include "fenchel/data/csv_piece.hpp"
#include "fenchel/data/list.hpp"

namespace fenchel::data::csv {

namespace {

constexpr std::size_t most_columns = 2147483646;  // 2^31 - 2
// Enough to tell dense data from sparse ones, little enough not to be felt.
constexpr std::size_t sample_bytes = std::size_t{1} << 18;

// The first bytes of the content, at least so many if there are. Padded, and valid until the next call.
class Beginning {
 public:
  explicit Beginning(Source& source) : source_(source) {}

  std::string_view text(std::size_t bytes) {
    if (source_.whole()) return source_.text().substr(0, bytes);
    copy_.emplace(Source::of_text(source_.stream().peek(bytes).substr(0, bytes), source_.name()));
    return copy_->text();
  }

 private:
  Source& source_;
  std::optional<Source> copy_;
};

char guess_separator(std::string_view record) {
  bool quoted = false;
  for (const char c : record) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ',' || c == ';') return c;
    if (c == '\n') break;
  }
  return ',';
}

struct FirstRecord {
  std::size_t comments = 0;  // in the text: where the comments before it begin; its own beginning if there are none
  std::size_t begin = 0;
  std::size_t end = 0;  // one behind its line end
  char separator = ',';
  std::vector<std::string> cells = {};
};

bool is_number(std::string_view content) {
  const char* const end = content.data() + content.size();
  const ParsedNumber number = parse_number(content.data(), end);
  // Too large a number is still one: it is refused with its place later.
  return number.fault != NumberFault::malformed && number.end == end;
}

// A line of words, not a column called #something.
bool is_comment(const char* at, const char* end) {
  if (at == end || *at != '#') return false;
  return ends_line(at + 1, end) || at[1] == ' ' || at[1] == '\t' || at[1] == '#';
}

// The first record that is neither blank nor a comment; nothing if the text ends before it does, and is not `all` there is.
std::optional<FirstRecord> first_record(std::string_view text, bool all, char separator, const std::string& name) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* at = begin;
  const char* comments = nullptr;
  while (at != end) {
    at = skip_mark(at, end);
    const char* first = skip_blanks(at, end, separator);
    if (is_comment(first, end)) {
      if (comments == nullptr) comments = at;
      first = std::find(first, end, '\n');
    }
    if (!ends_line(first, end)) break;
    at = next_line(first, end);
  }
  if (at == end && all) throw Error(Fault::input, fmt::format("{}: holds no rows", name));
  const auto offset = static_cast<std::size_t>(at - begin);
  FirstRecord record{.comments = offset, .begin = offset, .separator = separator};
  if (comments != nullptr) record.comments = static_cast<std::size_t>(comments - begin);
  if (separator == '\0') record.separator = guess_separator(text.substr(offset));
  while (true) {
    const Cell cell = scan_cell(at, end, record.separator);
    const bool cut_off = !all && (cell.unclosed || cell.next == end || cell.next + 1 == end);
    if (cut_off) return std::nullopt;
    if (cell.flaw != nullptr) {
      reject(text, name, static_cast<std::size_t>(cell.flaw - begin), quote_flaw(cell));
    }
    if (cell.content.find('\0') != std::string_view::npos) {
      reject(text, name, static_cast<std::size_t>(cell.content.data() - begin) + cell.content.find('\0'),
             "a NUL byte: this is a binary file, or text in UTF-16, not csv");
    }
    if (const std::size_t at_return = cell.content.find('\r');
        !cell.quoted && at_return != std::string_view::npos) {
      reject(text, name, static_cast<std::size_t>(cell.content.data() - begin) + at_return, lone_return);
    }
    if (record.cells.size() == most_columns) {
      throw Error(Fault::input, fmt::format("{}: more than {} columns, the most that can be", name, most_columns));
    }
    record.cells.push_back(plain(cell));
    if (ends_line(cell.next, end)) {
      record.end = static_cast<std::size_t>(next_line(cell.next, end) - begin);
      return record;
    }
    at = cell.next + 1;
  }
}

FirstRecord first_record(Beginning& beginning, char separator, const std::string& name) {
  for (std::size_t bytes = sample_bytes;; bytes *= 2) {
    const std::string_view text = beginning.text(bytes);
    if (auto record = first_record(text, text.size() < bytes, separator, name)) return std::move(*record);
  }
}

std::optional<long long> integer(std::string_view text) {
  long long value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

// The column at a position that counts from 1, or from -1 at the end.
std::optional<std::size_t> at_position(std::string_view text, std::size_t columns) {
  const std::optional<long long> position = integer(text);
  const auto count = static_cast<long long>(columns);
  if (!position || *position == 0 || *position > count || *position < -count) return std::nullopt;
  return static_cast<std::size_t>(*position > 0 ? *position - 1 : count + *position);
}

// Finds out what each column is, from the first record and the options.
class Columns {
 public:
  Columns(const std::vector<std::string>& cells, const ReadOptions& options, const std::string& name)
      : cells_(cells), options_(options), name_(name), roles_(cells.size(), Role::feature) {
    if (!options.labels_path.empty() && !options.label.empty() && options.label != "none") {
      throw Error(Fault::usage,
                  "--label and --labels: the labels are in a column or in a file of their own, not both");
    }
    named_ = first_record_names();
    for (const std::string& column : options.drop) roles_[find("--drop", column)] = Role::dropped;
    choose_label();
    if (std::ranges::all_of(roles_, [](Role role) { return role == Role::dropped; })) {
      throw Error(Fault::usage, fmt::format("{}: --drop leaves no column", name_));
    }
  }

  [[nodiscard]] bool named() const { return named_; }
  [[nodiscard]] const std::vector<Role>& roles() const { return roles_; }
  [[nodiscard]] const std::string& remark() const { return remark_; }

 private:
  [[nodiscard]] bool first_record_names() const {
    const auto called_by_name = [&](const std::string& column) {
      return !column.empty() && !integer(column) && occurrences(column) > 0;
    };
    if (std::ranges::any_of(options_.drop, called_by_name)) return true;
    if (options_.label != "none" && called_by_name(options_.label)) return true;
    std::vector<bool> kept(cells_.size(), true);
    for (const std::string& column : options_.drop) {
      if (const auto position = at_position(column, cells_.size())) kept[*position] = false;
    }
    for (std::size_t j = 0; j < cells_.size(); ++j) {
      if (kept[j] && is_word(cells_[j])) return true;
    }
    return numbered_by_pandas();
  }

  // What can be a name. A number that is malformed or not finite is none: it belongs to a first row of data, which is
  // refused with its place and not lost.
  [[nodiscard]] static bool is_word(std::string_view cell) {
    if (is_missing(cell) || is_number(cell)) return false;
    std::string body(cell.substr(std::min(cell.find_first_not_of("+- \t"), cell.size())));
    std::ranges::transform(body, body.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool begins_like_number =
        !body.empty() && (std::isdigit(static_cast<unsigned char>(body[0])) != 0 || body[0] == '.');
    return !begins_like_number && body != "inf" && body != "infinity" && body != "nan";
  }

  [[nodiscard]] bool numbered_by_pandas() const {
    if (cells_.size() < 2 || !cells_[0].empty()) return false;
    for (std::size_t j = 1; j < cells_.size(); ++j) {
      if (integer(cells_[j]) != static_cast<long long>(j) - 1) return false;
    }
    return true;
  }

  [[nodiscard]] std::size_t occurrences(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::count(cells_, name));
  }

  // The column that an option asks for.
  [[nodiscard]] std::size_t find(std::string_view option, const std::string& column) const {
    const std::size_t same = named_ ? occurrences(column) : 0;
    if (same == 1) return static_cast<std::size_t>(std::ranges::find(cells_, column) - cells_.begin());
    if (same > 1) {
      throw Error(Fault::usage,
                  fmt::format("{} {}: {} columns of {} have this name: give a position instead (from 1, "
                              "or from -1 at the end)",
                              option, quote(column), same, name_));
    }
    if (const auto position = at_position(column, cells_.size())) return *position;
    throw Error(
        Fault::usage,
        fmt::format("{} {}: {} has no such column; it has {}, {}", option, quote(column), name_, cells_.size(),
                    named_ ? fmt::format("from {} to {}", quote(cells_.front()), quote(cells_.back()))
                           : "without names: give a position (from 1, or from -1 at the end)"));
  }

  void choose_label() {
    if (options_.label == "none" || !options_.labels_path.empty()) return;
    if (options_.label.empty()) {
      guess_label();
      return;
    }
    const std::size_t column = find("--label", options_.label);
    if (roles_[column] == Role::dropped) {
      throw Error(Fault::usage, fmt::format("--label {}: --drop leaves this column out", quote(options_.label)));
    }
    roles_[column] = Role::label;
  }

  void guess_label() {
    constexpr std::array<std::string_view, 4> usual{"label", "target", "y", "class"};
    const auto lower = [](std::string text) {
      std::ranges::transform(text, text.begin(),
                             [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
      return text;
    };
    for (const std::string_view name : named_ ? std::span(usual) : std::span<const std::string_view>{}) {
      for (std::size_t j = 0; j < cells_.size(); ++j) {
        if (roles_[j] == Role::dropped || lower(cells_[j]) != name) continue;
        roles_[j] = Role::label;
        return;
      }
    }
    const auto first = std::ranges::find(roles_, Role::feature);
    if (first == roles_.end()) return;
    *first = Role::label;
    const auto column = static_cast<std::size_t>(first - roles_.begin());
    remark_ =
        fmt::format("the labels were taken from column {}{}; --label chooses another column, by name or position",
                    column + 1, named_ ? fmt::format(" ({})", quote(cells_[column])) : "");
  }

  const std::vector<std::string>& cells_;
  const ReadOptions& options_;
  const std::string& name_;
  std::vector<Role> roles_;
  std::string remark_;
  bool named_ = false;
};

// A record that is cut off at the end of the sample, and whatever is wrong, does not matter here.
bool few_nonzeros(const Layout& layout, std::string_view sample, Precision precision) {
  Layout trial = layout;
  trial.sparse = true;
  std::atomic<bool> inexact = false;
  const Piece piece = parse_piece(sample, trial, precision, inexact);
  constexpr std::size_t quarter = 4;
  return piece.value_count() * quarter < piece.cells;
}

}  // namespace

std::string Layout::describe(std::size_t column) const {
  if (names.empty()) return fmt::format("column {}", column + 1);
  return fmt::format("column {} ({})", column + 1, quote(names[column]));
}

Layout find_layout(Source& source, const ReadOptions& options, char separator) {
  Beginning beginning(source);
  FirstRecord first = first_record(beginning, separator, source.name());
  const Columns columns(first.cells, options, source.name());
  Layout layout;
  layout.separator = first.separator;
  const bool named = columns.named();
  layout.remark = columns.remark();
  layout.roles = columns.roles();
  layout.features = static_cast<std::size_t>(std::ranges::count(layout.roles, Role::feature));
  const std::string_view text = beginning.text(first.end + sample_bytes);
  layout.header = text.substr(first.comments, (named ? first.end : first.begin) - first.comments);
  if (named) layout.names = std::move(first.cells);
  layout.sparse = few_nonzeros(layout, text, options.precision);
  return layout;
}

}  // namespace fenchel::data::csv
