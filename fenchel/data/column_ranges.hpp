// Ranges of columns with about as many entries each, for sums over rows that several threads share out by columns: every column is
// summed in the order of the rows, wherever the cuts are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

// The bounds of so many ranges, judged by a sample of the entries: columns are often numbered by how frequent they are. Ranges may be
// empty.
template <class Value>
std::vector<std::size_t> column_ranges(const CsrRows<Value>& rows, std::size_t count) {
  constexpr std::size_t most_rows = 64, most_in_row = 1024;
  if (count == 1) return {0, rows.cols()};
  const std::size_t sampled = std::min(most_rows, rows.rows());
  std::vector<std::uint32_t> columns;
  for (std::size_t k = 0; k < sampled; ++k) {
    const std::span<const std::uint32_t> row = rows.row(k * rows.rows() / sampled).columns;
    const std::size_t stride = 1 + row.size() / most_in_row;
    for (std::size_t e = 0; e < row.size(); e += stride) columns.push_back(row[e]);
  }
  std::ranges::sort(columns);
  std::vector<std::size_t> bounds{0};
  for (std::size_t range = 1; range < count; ++range) {
    bounds.push_back(columns.empty() ? 0 : columns[range * columns.size() / count]);
  }
  bounds.push_back(rows.cols());
  return bounds;
}

template <class Value>
std::vector<std::size_t> column_ranges(const DenseRows<Value>& rows, std::size_t count) {
  std::vector<std::size_t> bounds;
  for (std::size_t range = 0; range <= count; ++range) bounds.push_back(range * rows.cols() / count);
  return bounds;
}

// The entries of a row in [begin, end), and by how much their columns are counted too low.
template <class Value>
std::pair<SparseRow<Value>, std::size_t> columns_between(const SparseRow<Value>& row, std::size_t begin,
                                                         std::size_t end) {
  const auto from = std::lower_bound(row.columns.begin(), row.columns.end(), begin);
  const auto to = std::lower_bound(from, row.columns.end(), end);
  const auto skipped = static_cast<std::size_t>(from - row.columns.begin());
  const auto count = static_cast<std::size_t>(to - from);
  return {{row.columns.subspan(skipped, count), row.values.subspan(skipped, count), row.uniform}, 0};
}
// The rest of a dense row counts its columns from 0 again.
template <class Value>
std::pair<DenseRow<Value>, std::size_t> columns_between(const DenseRow<Value>& row, std::size_t begin,
                                                        std::size_t end) {
  return {{row.values.subspan(begin, end - begin)}, begin};
}

}  // namespace fenchel::data
