#include <algorithm>

#include "fenchel/base/error.hpp"
#include "fenchel/data/text_block.hpp"
#include "fenchel/data/writer.hpp"

namespace fenchel::data {

namespace {

template <class Value>
Value value_at(const SparseRow<Value>& row, std::size_t column) {
  const auto found = std::lower_bound(row.columns.begin(), row.columns.end(), column);
  if (found == row.columns.end() || *found != column) return Value{0};
  return row.values[static_cast<std::size_t>(found - row.columns.begin())];
}

template <class Value>
Value value_at(const DenseRow<Value>& row, std::size_t column) {
  return row.values[column];
}

template <class Rows>
bool has_entry_in(const Rows& matrix, std::size_t column) {
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    if (value_at(matrix.row(i), column) != 0) return true;
  }
  return false;
}

template <class Rows>
void write_svmlight_rows(Sink& out, const Dataset& data, const Rows& matrix) {
  const std::size_t n = matrix.rows(), d = matrix.cols();
  const auto base = static_cast<std::size_t>(data.index_base);
  const bool mark_first = d > 0 && base == 0 && !has_entry_in(matrix, 0);
  const bool mark_last = d > 0 && !(mark_first && d == 1) && !has_entry_in(matrix, d - 1);
  const auto add_entry = [](TextBlock& block, std::size_t index, double value) {
    block.add(' ');
    block.add(std::uint64_t{index});
    block.add(':');
    block.add(value);
  };
  write_in_order(out, n, items_in_block(n, matrix.nonzeros() + n),
                 [&](TextBlock& block, std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) {
                     block.add(data.targets[i]);
                     if (!data.query.empty()) {
                       block.add(" qid:");
                       block.add(static_cast<std::uint64_t>(data.query[i]));
                     }
                     if (i == 0 && mark_first) add_entry(block, 0, 0.0);
                     matrix.row(i).for_each([&](std::size_t j, double value) {
                       if (value != 0.0) add_entry(block, j + base, value);
                     });
                     if (i == 0 && mark_last) add_entry(block, d - 1 + base, 0.0);
                     block.add('\n');
                   }
                 });
}

}  // namespace

void write_svmlight(Sink& out, const Dataset& data) {
  if (data.targets.empty()) {
    throw Error(Fault::usage,
                "svmlight has a label in every row, but these data have none: name them with --labels");
  }
  std::visit([&](const auto& matrix) { write_svmlight_rows(out, data, matrix); }, data.matrix());
}

}  // namespace fenchel::data
