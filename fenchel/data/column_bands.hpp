// Bands of columns of sparse data, and where rows cross from one into the next. Summed up band by band, X' beta needs no accumulator
// besides the result, and the terms of a column come in the order of the rows whatever the number of bands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

class ColumnBands {
 public:
  // As many bands as pay for sparse rows with many entries in each; none for other data.
  explicit ColumnBands(const Matrix& matrix);

  [[nodiscard]] std::size_t count() const { return count_; }
  // Known once the crossings are.
  [[nodiscard]] std::size_t first_column(std::size_t band) const { return found_->bounds[band]; }

  // Entry k n + i: how many entries of row i come before band k + 1. Found when they are first asked for.
  template <class Value>
  [[nodiscard]] std::span<const std::uint32_t> crossings(const CsrRows<Value>& rows) const;

  // Calls add(j, x_ij beta_i) for all entries of bands [first, last), rows ascending.
  template <class Value, class Add>
  void for_each_product(const CsrRows<Value>& rows, std::span<const std::uint32_t> crossings,
                        std::span<const double> beta, std::size_t first, std::size_t last, Add&& add) const;

 private:
  struct Found {
    std::mutex mutex;
    std::vector<std::size_t> bounds;       // of the bands
    std::vector<std::uint32_t> crossings;  // empty: not yet
  };
  template <class Value>
  void find(const CsrRows<Value>& rows) const;

  std::size_t count_ = 0;
  std::shared_ptr<Found> found_;  // copies of a map share it
};

template <class Value, class Add>
void ColumnBands::for_each_product(const CsrRows<Value>& rows, std::span<const std::uint32_t> crossings,
                                   std::span<const double> beta, std::size_t first, std::size_t last,
                                   Add&& add) const {
  constexpr std::size_t ahead = 8, entries_in_line = 64 / sizeof(std::uint32_t), most_lines = 4;
  const std::size_t n = rows.rows();
  const auto begin_in = [&](std::size_t i) -> std::size_t {
    return first == 0 ? 0 : crossings[(first - 1) * n + i];
  };
  // The processor does not foresee where the next rows cross into the band.
  const auto prefetch = [&](std::size_t i) {
    const std::size_t begin = rows.begin_of(i) + begin_in(i);
    for (std::size_t line = 0; line < most_lines; ++line) {
      const std::size_t k = std::min(begin + line * entries_in_line, rows.columns.size() - 1);
      __builtin_prefetch(&rows.columns[k]);
      if (!rows.uniform) __builtin_prefetch(&rows.values[k]);
    }
    if (rows.uniform)
      __builtin_prefetch(&rows.values[std::min<std::size_t>(rows.begin_of(i), rows.values.size() - 1)]);
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (i + ahead < n && beta[i + ahead] != 0.0) prefetch(i + ahead);
    const double b = beta[i];
    if (b == 0.0) continue;
    const SparseRow<Value> row = rows.row(i);
    const std::size_t end = last == count_ ? row.nonzeros() : crossings[(last - 1) * n + i];
    row.with_values([&](const auto& value) {
      for (std::size_t k = begin_in(i); k < end; ++k) add(row.columns[k], value(k) * b);
    });
  }
}

}  // namespace fenchel::data
