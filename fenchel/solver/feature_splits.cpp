#include "fenchel/solver/feature_splits.hpp"

#include <algorithm>
#include <cstddef>

namespace fenchel::solver {
namespace {

template <class Value>
std::vector<std::uint32_t> splits_of(const data::CsrRows<Value>& rows) {
  std::vector<std::uint64_t> counts(rows.cols(), 0);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (const std::uint32_t j : rows.row(i).columns) ++counts[j];
  }
  std::uint32_t middle = 0;
  for (std::uint64_t before = 0; before < rows.nonzeros() / 2; ++middle) before += counts[middle];
  std::vector<std::uint32_t> splits(rows.rows());
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const auto columns = rows.row(i).columns;
    splits[i] = static_cast<std::uint32_t>(std::ranges::lower_bound(columns, middle) - columns.begin());
  }
  return splits;
}

template <class Value>
std::vector<std::uint32_t> splits_of(const data::DenseRows<Value>& /*rows*/) {
  return {};
}

}  // namespace

std::vector<std::uint32_t> feature_splits(const data::Matrix& matrix) {
  return std::visit([](const auto& rows) { return splits_of(rows); }, matrix);
}

}  // namespace fenchel::solver
