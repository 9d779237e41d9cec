#include "fenchel/data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/error.hpp"

namespace fenchel::data {

namespace {

Matrix view(const CsrStorage& storage, const RowGuard* guard) {
  return std::visit(
      [&]<class Value>(const Array<Value>& values) -> Matrix {
        return CsrRows<Value>{storage.offsets, storage.columns, values, storage.column_count, guard};
      },
      storage.values);
}

Matrix view(const DenseStorage& storage, const RowGuard* guard) {
  return std::visit(
      [&]<class Value>(const Array<Value>& values) -> Matrix {
        return DenseRows<Value>{values, storage.row_count, storage.column_count, guard};
      },
      storage.values);
}

bool exact_in_float(double value) { return static_cast<double>(static_cast<float>(value)) == value; }

}  // namespace

Matrix Dataset::matrix() const {
  return std::visit([&](const auto& s) { return view(s, guard.get()); }, storage);
}

Values compact(std::vector<double> values, Precision precision) {
  if (precision == Precision::f64 && !std::all_of(values.begin(), values.end(), exact_in_float)) return values;
  std::vector<float> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(), [](double value) {
    const auto rounded = static_cast<float>(value);
    // Readers report this with its place in the file; here it only keeps an infinity from becoming the problem.
    if (!std::isfinite(rounded))
      throw Error(Fault::input, "a value of the data overflows a float32: use --precision f64");
    return rounded;
  });
  return narrow;
}

}  // namespace fenchel::data
