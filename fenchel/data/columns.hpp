// The column form of a data set (CSC), for solvers that go through it column by column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>

#include "fenchel/data/dataset.hpp"
#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

template <class Value>
struct SparseColumn {
  std::span<const std::uint32_t> rows;
  std::span<const Value> values;

  [[nodiscard]] std::size_t nonzeros() const { return values.size(); }
  // Calls visit(row, value) for every stored entry, rows ascending.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t k = 0; k < values.size(); ++k) visit(rows[k], static_cast<double>(values[k]));
  }
};

// Compressed sparse columns: entries of column j are [offsets[j], offsets[j + 1]).
template <class Value>
struct CscColumns {
  std::span<const std::uint64_t> offsets;
  std::span<const std::uint32_t> row_numbers;
  std::span<const Value> values;
  std::size_t row_count = 0;
  const RowGuard* guard = nullptr;  // of columns, as that of CsrRows is of rows

  [[nodiscard]] std::size_t rows() const { return row_count; }
  [[nodiscard]] std::size_t cols() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  [[nodiscard]] std::size_t nonzeros() const { return values.size(); }
  [[nodiscard]] SparseColumn<Value> column(std::size_t j) const {
    if (guard != nullptr) guard->ensure(j);
    const std::size_t begin = offsets[j];
    const std::size_t count = offsets[j + 1] - begin;
    return {row_numbers.subspan(begin, count), values.subspan(begin, count)};
  }
};

using ColumnMatrix = std::variant<CscColumns<double>, CscColumns<float>>;

// The owner behind a ColumnMatrix. Zeros of dense data are left out.
struct ColumnStorage {
  Array<std::uint64_t> offsets;
  Array<std::uint32_t> row_numbers;
  Values values;
  std::size_t row_count = 0;
  std::shared_ptr<const RowGuard> guard = nullptr;

  [[nodiscard]] ColumnMatrix matrix() const;
};

// The column form that a mapped file has, or one that is built now, in parallel, with no memory besides the result
// but a few counters a column. Does not depend on the number of threads.
ColumnStorage columns_of(const Dataset& data);

}  // namespace fenchel::data
