#include "fenchel/data/matrix_market.hpp"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/data/list.hpp"
#include "fenchel/data/matrix_market_header.hpp"
#include "fenchel/data/pieces.hpp"
#include "fenchel/data/triplets.hpp"

namespace fenchel::data {

namespace {

using MtxHeader = MatrixMarketHeader;

bool is_mtx_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_mtx_end(char c) { return is_mtx_blank(c) || c == '\n'; }

// The entries of a piece of text. Lines are taken one by one; what a line holds is up to `Entries`, whose members
// give where they stopped, or nothing after a complaint.
template <class Part>
class MtxParser {
 public:
  MtxParser(const MtxHeader& header, Precision precision) : header_(header), precision_(precision) {}

  Part parse(std::string_view text) {
    at_ = begin_ = text.data();
    end_ = begin_ + text.size();
    if (text.starts_with(header_.text)) {
      part_.begins_file = true;
      at_ += header_.text.size();
    }
    part_.reserve(text);
    while (at_ != end_ && !part_.complaint) {
      if (is_mtx_end(*at_)) {
        ++at_;
      } else if (*at_ == '%') {
        const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
        at_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
      } else {
        part_.entry(*this);
        ++part_.entries;
        end_of_line();
      }
    }
    part_.values.close();
    return std::move(part_);
  }

  [[nodiscard]] const MtxHeader& header() const { return header_; }

  // A row or column, counted from 1 in the file and from 0 here.
  std::uint64_t index(std::uint64_t most, std::string_view what) {
    skip_blanks();
    const char* const first = at_;
    std::uint64_t number = 0;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9' && number <= most) {
      number = 10 * number + static_cast<std::uint64_t>(*at_++ - '0');
    }
    const bool whole = at_ != first && (at_ == end_ || is_mtx_end(*at_));
    if (!whole || number == 0 || number > most) {
      complain_index(first, what, most);
      return 0;
    }
    return number - 1;
  }

  double value() {
    skip_blanks();
    const char* const first = at_;
    const ParsedNumber number = parse_number(at_, end_);
    const bool whole = number.fault != NumberFault::malformed && (number.end == end_ || is_mtx_end(*number.end));
    if (!whole) {
      const std::string_view shown = token(first);
      complain(first, shown.empty() ? "a value is missing"
                                    : fmt::format("value {} is not a decimal number", quote(shown)));
      return 0.0;
    }
    at_ = number.end;
    if (number.fault != NumberFault::none) {
      complain(first, fmt::format("value {} overflows a double", quote(token(first))));
    } else if (header_.field == MtxHeader::Field::integer && std::trunc(number.value) != number.value) {
      complain(first, fmt::format("value {} is not an integer, as the banner says", quote(token(first))));
    }
    if (precision_ == Precision::f64) return number.value;
    const auto rounded = static_cast<float>(number.value);
    if (!std::isfinite(rounded)) {
      complain(first, fmt::format("value {} overflows a float32: use --precision f64", quote(token(first))));
    }
    return static_cast<double>(rounded);
  }

  void complain(const char* at, std::string reason) {
    if (!part_.complaint) part_.complaint = Complaint{static_cast<std::size_t>(at - begin_), std::move(reason)};
  }
  [[nodiscard]] const char* at() const { return at_; }

 private:
  void skip_blanks() {
    while (at_ != end_ && is_mtx_blank(*at_)) ++at_;
  }

  void end_of_line() {
    skip_blanks();
    if (at_ != end_ && *at_ != '\n') {
      complain(at_, fmt::format("{} follows an entry: one entry a line is needed", quote(token(at_))));
    }
  }

  [[nodiscard]] std::string_view token(const char* first) const {
    const char* last = first;
    while (last != end_ && !is_mtx_end(*last)) ++last;
    return {first, last};
  }

  void complain_index(const char* first, std::string_view what, std::uint64_t most) {
    const std::string_view shown = token(first);
    if (shown.empty()) return complain(first, fmt::format("a {} is missing", what));
    const bool digits = std::all_of(shown.begin(), shown.end(), [](char c) { return c >= '0' && c <= '9'; });
    complain(first, digits ? fmt::format("{} {} is not between 1 and {}", what, quote(shown), most)
                           : fmt::format("{} {} is not a whole number", what, quote(shown)));
  }

  const MtxHeader& header_;
  Precision precision_;
  Part part_;
  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

struct MtxPart {
  std::optional<Complaint> complaint;
  bool begins_file = false;
  std::size_t entries = 0;  // lines; a mirrored entry is one
};

template <class Row>
struct MtxCoordinates : MtxPart, Triplets<Row> {
  void reserve(std::string_view text) {
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    const std::size_t most = std::min(lines, text.size() / 3);  // "1 1" is the shortest line
    this->rows.reserve(most);
    this->columns.reserve(most);
    this->values.reserve(most);
  }

  void entry(MtxParser<MtxCoordinates>& parser) {
    const MtxHeader& header = parser.header();
    const char* const first = parser.at();
    const std::uint64_t row = parser.index(header.rows, "row");
    const std::uint64_t column = parser.index(header.columns, "column");
    const double value = header.field == MtxHeader::Field::pattern ? 1.0 : parser.value();
    add(row, column, value);
    if (!header.mirrored()) return;
    const bool skew = header.symmetry == MtxHeader::Symmetry::skew;
    if (row != column) add(column, row, skew ? -value : value);
    if (row == column && skew) parser.complain(first, "a skew-symmetric matrix has no entries on its diagonal");
  }

  void add(std::uint64_t row, std::uint64_t column, double value) {
    this->rows.push_back(static_cast<Row>(row));
    this->columns.push_back(static_cast<std::uint32_t>(column));
    this->values.add(value);
  }
};

struct MtxValues : MtxPart {
  GatheredValues values;

  void reserve(std::string_view text) {
    const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    values.reserve(std::min(lines, text.size()));
  }
  void entry(MtxParser<MtxValues>& parser) { values.add(parser.value()); }
};

// All parts of the file, their number of entries checked.
template <class Part>
std::vector<Part> mtx_parts(Source& source, const MtxHeader& header, Precision precision) {
  std::vector<Part> parts;
  std::size_t entries = 0;
  for_each_piece(
      source, Lines::plain, [&](std::string_view text) { return MtxParser<Part>(header, precision).parse(text); },
      [&](Part&& part) {
        if (part.begins_file != parts.empty()) {
          throw Error(Fault::input,
                      fmt::format("{}: the header stands a second time, within the entries", source.name()));
        }
        entries += part.entries;
        parts.push_back(std::move(part));
      });
  if (entries != header.entries) {
    throw Error(Fault::input, fmt::format("{}: holds {} entries, but by its header they are {}", source.name(),
                                          entries, header.entries));
  }
  return parts;
}

template <class Part>
bool mtx_narrow(const std::vector<Part>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.values.narrow(); });
}

// An array of offsets is as long as the header says there are rows: entries have to bear that out.
void check_mtx_rows(const MtxHeader& header, const std::string& name) {
  constexpr std::size_t harmless = std::size_t{1} << 22, per_entry = 64;
  if (header.rows <= harmless || header.rows / per_entry <= header.entries) return;
  throw Error(Fault::input,
              fmt::format("{}: its header says {} rows, but nearly all of them would be empty: there are {} "
                          "entries",
                          name, header.rows, header.entries));
}

template <class Value, class Part>
CsrStorage mtx_rows(std::vector<Part>& parts, const MtxHeader& header, const std::string& name) {
  TripletJoin<Part, Value> join(parts, header.rows, header.columns);
  if (const auto duplicate = join.join()) {
    throw Error(Fault::input, fmt::format("{}: the entry in row {}, column {} stands twice", name,
                                          duplicate->row + 1, duplicate->column + 1));
  }
  return std::move(join).freeze();
}

template <class Row>
CsrStorage read_mtx_coordinates(Source& source, const MtxHeader& header, Precision precision) {
  auto parts = mtx_parts<MtxCoordinates<Row>>(source, header, precision);
  check_mtx_rows(header, source.name());
  return mtx_narrow(parts) ? mtx_rows<float>(parts, header, source.name())
                           : mtx_rows<double>(parts, header, source.name());
}

// Puts values, which come column by column, where they belong row by row.
template <class Value>
Values mtx_dense(std::vector<MtxValues>& parts, const MtxHeader& header) {
  const std::size_t n = header.rows, d = header.columns;
  const std::size_t below = header.symmetry == MtxHeader::Symmetry::skew ? 1 : 0;
  const auto first_row = [&](std::size_t column) { return header.mirrored() ? column + below : 0; };
  Buffer<Value> dense(n * d);
  std::vector<std::size_t> starts{0};
  for (const MtxValues& part : parts) starts.push_back(starts.back() + part.values.size());
  parallel_for(parts.size(), [&](std::size_t p) {
    const MtxValues part = std::exchange(parts[p], MtxValues{});
    std::size_t j = 0, left = starts[p];
    if (header.mirrored()) {
      for (; j < d && left >= n - first_row(j); ++j) left -= n - first_row(j);
    } else {
      j = left / n;
      left %= n;
    }
    std::size_t i = first_row(j) + left;
    for (std::size_t k = 0; k < part.values.size(); ++k, ++i) {
      for (; i == n; i = first_row(j)) ++j;
      const auto value = static_cast<Value>(part.values[k]);
      dense.data()[i * d + j] = value;
      if (header.mirrored() && i != j) dense.data()[j * d + i] = below == 1 ? -value : value;
    }
  });
  return std::move(dense).freeze();
}

}  // namespace

Dataset read_matrix_market(Source& source, const ReadOptions& options) {
  const MtxHeader header = parse_matrix_market_header(source.head(), source.name());
  Dataset data;
  data.precision = options.precision;
  if (header.form == MtxHeader::Form::array) {
    auto parts = mtx_parts<MtxValues>(source, header, options.precision);
    data.storage = DenseStorage{
        .values = mtx_narrow(parts) ? mtx_dense<float>(parts, header) : mtx_dense<double>(parts, header),
        .row_count = header.rows,
        .column_count = header.columns};
  } else if (header.rows <= std::numeric_limits<std::uint32_t>::max()) {
    data.storage = read_mtx_coordinates<std::uint32_t>(source, header, options.precision);
  } else {
    data.storage = read_mtx_coordinates<std::uint64_t>(source, header, options.precision);
  }
  return data;
}

}  // namespace fenchel::data
