#include "fenchel/data/writer.hpp"

#include <iterator>
#include <variant>

#include <fmt/format.h>

namespace fenchel::data {

namespace {

template <class Rows>
bool has_entry_in(const Rows& matrix, std::size_t column) {
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    bool found = false;
    matrix.row(i).for_each([&](std::size_t j, double value) { found |= j == column && value != 0.0; });
    if (found) return true;
  }
  return false;
}

template <class Rows>
void write_rows(std::ostream& out, const Dataset& data, const Rows& matrix) {
  const std::size_t d = matrix.cols();
  const auto base = static_cast<std::size_t>(data.index_base);
  const bool mark_first = d > 0 && base == 0 && !has_entry_in(matrix, 0);
  const bool mark_last = d > 0 && !(mark_first && d == 1) && !has_entry_in(matrix, d - 1);

  constexpr std::size_t chunk = std::size_t{1} << 16;
  fmt::memory_buffer text;
  const auto flush = [&] {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    text.clear();
  };
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}", data.targets[i]);
    if (!data.query.empty()) fmt::format_to(std::back_inserter(text), " qid:{}", data.query[i]);
    if (i == 0 && mark_first) fmt::format_to(std::back_inserter(text), " 0:0");
    matrix.row(i).for_each([&](std::size_t j, double value) {
      if (value != 0.0) fmt::format_to(std::back_inserter(text), " {}:{}", j + base, value);
      if (text.size() >= chunk) flush();
    });
    if (i == 0 && mark_last) fmt::format_to(std::back_inserter(text), " {}:0", d - 1 + base);
    text.push_back('\n');
  }
  flush();
}

}  // namespace

void write_svmlight(std::ostream& out, const Dataset& data) {
  std::visit([&](const auto& matrix) { write_rows(out, data, matrix); }, data.matrix());
}

}  // namespace fenchel::data
