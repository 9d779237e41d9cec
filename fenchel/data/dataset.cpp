#include "fenchel/data/dataset.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::data {

namespace {

Matrix view(const CsrStorage& storage, const RowGuard* guard) {
  return std::visit(
      [&]<class Value>(const Array<Value>& values) -> Matrix {
        return CsrRows<Value>{storage.offsets,      storage.columns, values,
                              storage.column_count, guard,           storage.uniform};
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

bool rows_are_uniform(const CsrStorage& rows) {
  std::atomic<bool> uniform = true;
  std::visit(
      [&](const auto& values) {
        const std::span<const std::uint64_t> offsets = rows.offsets;
        if (offsets.empty()) return;
        for_each_block(offsets.size() - 1, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end && uniform.load(std::memory_order_relaxed); ++i) {
            const auto row = values.span().subspan(offsets[i], offsets[i + 1] - offsets[i]);
            // Each value is the one before it.
            if (row.size() > 1 && std::memcmp(row.data(), row.data() + 1, row.size_bytes() - sizeof(row[0])) != 0)
              uniform = false;
          }
        });
      },
      rows.values);
  return uniform;
}

}  // namespace fenchel::data
