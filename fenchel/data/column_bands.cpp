#include "fenchel/data/column_bands.hpp"

#include <algorithm>
#include <bit>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::data {

ColumnBands::ColumnBands(const Matrix& matrix) : columns_(cols(matrix)) {
  constexpr std::size_t columns_in_band = 8192, entries_in_band = 32, most_bands = 8;
  const bool sparse =
      std::holds_alternative<CsrRows<double>>(matrix) || std::holds_alternative<CsrRows<float>>(matrix);
  const std::size_t count = std::min(columns_ / columns_in_band,
                                     nonzeros(matrix) / (entries_in_band * std::max<std::size_t>(1, rows(matrix))));
  if (!sparse || count < 2) return;
  count_ = std::bit_floor(std::min(count, most_bands));  // a power of two, for machines with as many cores
  crossings_ = std::make_shared<Crossings>();
}

template <class Value>
std::span<const std::uint32_t> ColumnBands::crossings(const CsrRows<Value>& rows) const {
  const std::size_t n = rows.rows();
  std::vector<std::uint32_t>& list = crossings_->list;
  const auto find = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::span<const std::uint32_t> columns = rows.row(i).columns;
      auto at = columns.begin();
      for (std::size_t band = 1; band < count_; ++band) {
        at = std::lower_bound(at, columns.end(), first_column(band));
        list[(band - 1) * n + i] = static_cast<std::uint32_t>(at - columns.begin());
      }
    }
  };
  std::call_once(crossings_->once, [&] {
    list.resize((count_ - 1) * n);
    isolated([&] { for_each_block(n, find); });
  });
  return list;
}

template std::span<const std::uint32_t> ColumnBands::crossings(const CsrRows<double>&) const;
template std::span<const std::uint32_t> ColumnBands::crossings(const CsrRows<float>&) const;

}  // namespace fenchel::data
