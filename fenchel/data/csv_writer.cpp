#include <cmath>
#include <cstdint>
#include <iterator>
#include <variant>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/csv.hpp"

namespace fenchel::data {

namespace {

// A table has all its cells, zeros included. Beyond this many, somebody did not think of that.
constexpr std::uint64_t most_cells_of_sparse_data = 1'000'000'000;

// Text on its way to a sink, in large blocks.
class CsvText {
 public:
  CsvText(Sink& out, char separator) : out_(out), separator_(separator) {}

  void cell(double value) {
    separate();
    // Most cells of sparse data, not worth the formatter.
    if (value == 0.0 && !std::signbit(value)) {
      text_.push_back('0');
    } else {
      fmt::format_to(std::back_inserter(text_), "{}", value);
    }
  }
  void name(std::string_view prefix, std::size_t number) {
    separate();
    fmt::format_to(std::back_inserter(text_), "{}{}", prefix, number);
  }
  void label_name() {
    separate();
    text_.append(std::string_view("label"));
  }
  void end_record() {
    text_.push_back('\n');
    first_ = true;
  }
  void flush() {
    out_.write({text_.data(), text_.size()});
    text_.clear();
  }

 private:
  void separate() {
    constexpr std::size_t block = std::size_t{1} << 16;
    if (text_.size() >= block) flush();
    if (!first_) text_.push_back(separator_);
    first_ = false;
  }

  Sink& out_;
  char separator_;
  bool first_ = true;
  fmt::memory_buffer text_;
};

template <class Rows>
void write_records(CsvText& text, const Dataset& data, const Rows& matrix) {
  const std::size_t d = matrix.cols();
  if (!data.targets.empty()) text.label_name();
  for (std::size_t j = 0; j < d; ++j) text.name("x", j + 1);
  text.end_record();
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    if (!data.targets.empty()) text.cell(data.targets[i]);
    std::size_t next = 0;
    matrix.row(i).for_each([&](std::size_t j, double value) {
      while (next < j) {
        text.cell(0.0);
        ++next;
      }
      text.cell(value);
      ++next;
    });
    for (; next < d; ++next) text.cell(0.0);
    text.end_record();
  }
  text.flush();
}

}  // namespace

void write_csv(Sink& out, const Dataset& data, char separator) {
  if (!data.query.empty()) {
    throw Error(Fault::usage, "csv and tsv cannot hold query ids: write svmlight or .fbin, which do");
  }
  const Matrix matrix = data.matrix();
  const std::uint64_t n = rows(matrix), d = cols(matrix);
  if (std::holds_alternative<CsrStorage>(data.storage) && d > 0 && n > most_cells_of_sparse_data / d) {
    throw Error(
        Fault::usage,
        fmt::format("csv and tsv have a cell for every zero too, {} x {} here: write svmlight, mtx or .fbin", n,
                    d));
  }
  CsvText text(out, separator == '\0' ? ',' : separator);
  std::visit([&](const auto& m) { write_records(text, data, m); }, matrix);
}

}  // namespace fenchel::data
