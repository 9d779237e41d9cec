#include "fenchel/data/column_bands.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/column_ranges.hpp"

namespace fenchel::data {

ColumnBands::ColumnBands(const Matrix& matrix) {
  constexpr std::size_t columns_in_band = 8192, entries_in_band = 32, most_bands = 8;
  const bool sparse =
      std::holds_alternative<CsrRows<double>>(matrix) || std::holds_alternative<CsrRows<float>>(matrix);
  const std::size_t count = std::min(cols(matrix) / columns_in_band,
                                     nonzeros(matrix) / (entries_in_band * std::max<std::size_t>(1, rows(matrix))));
  if (!sparse || count < 2) return;
  count_ = std::bit_floor(std::min(count, most_bands));  // a power of two, for machines with as many cores
  found_ = std::make_shared<Found>();
}

template <class Value>
void ColumnBands::find(const CsrRows<Value>& rows) const {
  const std::size_t n = rows.rows();
  found_->bounds = column_ranges(rows, count_);
  std::vector<std::uint32_t> list((count_ - 1) * n);
  const auto find_in = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::span<const std::uint32_t> columns = rows.row(i).columns;
      auto at = columns.begin();
      for (std::size_t band = 1; band < count_; ++band) {
        at = std::lower_bound(at, columns.end(), first_column(band));
        list[(band - 1) * n + i] = static_cast<std::uint32_t>(at - columns.begin());
      }
    }
  };
  isolated([&] { for_each_block(n, find_in); });
  found_->crossings = std::move(list);
}

template <class Value>
std::span<const std::uint32_t> ColumnBands::crossings(const CsrRows<Value>& rows) const {
  const std::lock_guard lock(found_->mutex);
  if (found_->crossings.empty()) find(rows);
  return found_->crossings;
}

template std::span<const std::uint32_t> ColumnBands::crossings(const CsrRows<double>&) const;
template std::span<const std::uint32_t> ColumnBands::crossings(const CsrRows<float>&) const;

}  // namespace fenchel::data
