#include "fenchel/data/matrix_market_header.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/matrix_market.hpp"
#include "fenchel/data/svmlight.hpp"

namespace fenchel::data {

namespace {

constexpr std::string_view banner_word = "%%MatrixMarket";

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view separators = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(separators); at < line.size();
       at = line.find_first_not_of(separators, at)) {
    const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

class MatrixMarketHeaderParser {
 public:
  MatrixMarketHeaderParser(std::string_view head, const std::string& name) : head_(head), name_(name) {}

  MatrixMarketHeader parse() {
    banner(line());
    while (true) {
      if (at_ == head_.size()) fail(at_, "the line with the sizes is missing, or not within the first 64 KiB");
      const std::string_view text = line();
      const std::vector<std::string_view> words = words_of(text);
      if (words.empty() || words.front().starts_with('%')) continue;
      sizes(text, words);
      header_.text = head_.substr(0, at_);
      return header_;
    }
  }

 private:
  using Form = MatrixMarketHeader::Form;
  using Field = MatrixMarketHeader::Field;
  using Symmetry = MatrixMarketHeader::Symmetry;

  std::string_view line() {
    const std::size_t end = std::min(head_.find('\n', at_), head_.size());
    const std::string_view text = head_.substr(at_, end - at_);
    at_ = std::min(end + 1, head_.size());
    return text;
  }

  void banner(std::string_view text) {
    const std::vector<std::string_view> words = words_of(text);
    constexpr std::size_t count = 5;
    if (words.size() != count || lower(words[0]) != lower(banner_word)) {
      fail(0, fmt::format("{} is not a banner '%%MatrixMarket matrix FORM FIELD SYMMETRY'", quote(text)));
    }
    if (lower(words[1]) != "matrix") fail(words[1], "is not 'matrix', the only object that is known");
    header_.form = choose<Form>(words[2], {{"coordinate", Form::coordinate}, {"array", Form::array}}, "");
    header_.field = choose<Field>(
        words[3],
        {{"real", Field::real}, {"double", Field::real}, {"integer", Field::integer}, {"pattern", Field::pattern}},
        "; complex numbers have no meaning here");
    header_.symmetry = choose<Symmetry>(
        words[4],
        {{"general", Symmetry::general}, {"symmetric", Symmetry::symmetric}, {"skew-symmetric", Symmetry::skew}},
        "; hermitian matrices are complex, which has no meaning here");
    if (header_.form == Form::array && header_.field == Field::pattern) {
      fail(words[3], "has no meaning for an array: use real or integer");
    }
    if (header_.field == Field::pattern && header_.symmetry == Symmetry::skew) {
      fail(words[4], "has no meaning for a pattern: use general or symmetric");
    }
  }

  template <class Choice>
  struct Named {
    std::string_view name;
    Choice choice;
  };

  template <class Choice>
  Choice choose(std::string_view word, std::initializer_list<Named<Choice>> choices,
                std::string_view remark) const {
    std::string names;
    for (const auto& [name, choice] : choices) {
      if (lower(word) == name) return choice;
      names += names.empty() ? name : fmt::format(", {}", name);
    }
    fail(word, fmt::format("is none of: {}{}", names, remark));
  }

  void sizes(std::string_view text, std::span<const std::string_view> words) {
    const bool coordinate = header_.form == Form::coordinate;
    if (words.size() != (coordinate ? 3 : 2)) {
      fail(words.front(), fmt::format("begins a line where the sizes should be: {}",
                                      coordinate ? "rows, columns and entries" : "rows and columns"));
    }
    header_.rows = size(words[0]);
    header_.columns = size(words[1]);
    const auto place = static_cast<std::size_t>(text.data() - head_.data());
    if (header_.rows == 0) fail(place, "holds no rows");
    constexpr std::size_t most_rows = std::size_t{1} << 48;
    if (header_.rows > most_rows) fail(words[0], "rows are more than any file holds");
    if (header_.columns > largest_index) {
      fail(words[1], fmt::format("columns are too many: at most {} are possible", largest_index));
    }
    if (header_.mirrored() && header_.rows != header_.columns) {
      fail(place, fmt::format("a symmetric matrix is square, not {} x {}", header_.rows, header_.columns));
    }
    if (coordinate) {
      header_.entries = size(words[2]);
      return;
    }
    if (header_.columns == 0) fail(place, "holds no columns");
    header_.entries = cells(place);
  }

  // How many of the cells of an array stand in the file.
  [[nodiscard]] std::size_t cells(std::size_t place) const {
    const std::size_t n = header_.rows;
    if (n > std::numeric_limits<std::size_t>::max() / 2 / (header_.columns + 1)) {
      fail(place, fmt::format("{} x {} cells are more than any file holds", n, header_.columns));
    }
    switch (header_.symmetry) {
      case Symmetry::symmetric: return n * (n + 1) / 2;
      case Symmetry::skew: return n * (n - 1) / 2;
      default: return n * header_.columns;
    }
  }

  [[nodiscard]] std::size_t size(std::string_view word) const {
    std::size_t number = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (code == std::errc::result_out_of_range) fail(word, "is more than any file holds");
    if (code != std::errc{} || end != word.data() + word.size()) fail(word, "is not a size: a whole number >= 0");
    return number;
  }

  [[noreturn]] void fail(std::size_t place, const std::string& reason) const {
    reject(head_, name_, place, reason);
  }
  [[noreturn]] void fail(std::string_view word, std::string_view reason) const {
    fail(static_cast<std::size_t>(word.data() - head_.data()), fmt::format("{} {}", quote(word), reason));
  }

  std::string_view head_;
  const std::string& name_;
  std::size_t at_ = 0;
  MatrixMarketHeader header_;
};

}  // namespace

bool is_matrix_market(std::string_view head) {
  return lower(head.substr(0, banner_word.size())) == lower(banner_word);
}

MatrixMarketHeader parse_matrix_market_header(std::string_view head, const std::string& name) {
  return MatrixMarketHeaderParser(head, name).parse();
}

}  // namespace fenchel::data
