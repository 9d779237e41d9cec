#include "fenchel/data/columns.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <oneapi/tbb/info.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/data/binary_guard.hpp"
#include "fenchel/data/pages.hpp"

namespace fenchel::data {

namespace {

// The column form of the mapped file behind a data set, as long as the set still is what the file holds.
std::shared_ptr<const BinaryFile> file_with_columns(const Dataset& data) {
  const auto guard = std::dynamic_pointer_cast<const LinesGuard>(data.guard);
  if (!guard || !guard->file()->layout.shape.column_form) return nullptr;
  return guard->file()->layout.shape.columns == cols(data.matrix()) ? guard->file() : nullptr;
}

ColumnStorage mapped_columns(const std::shared_ptr<const BinaryFile>& file) {
  ColumnStorage columns{.offsets = file->array<std::uint64_t>(SectionKind::column_offsets),
                        .row_numbers = file->array<std::uint32_t>(SectionKind::column_rows),
                        .values = {},
                        .row_count = file->layout.shape.rows,
                        .guard = LinesGuard::of_columns(file)};
  if (file->layout.shape.single) {
    columns.values = file->array<float>(SectionKind::column_values);
  } else {
    columns.values = file->array<double>(SectionKind::column_values);
  }
  return columns;
}

// Calls visit(column, value) for the entries of a row with columns in [first, last) that are not 0.
template <class Value, class Visit>
void for_each_between(const SparseRow<Value>& row, std::size_t first, std::size_t last, Visit&& visit) {
  const std::uint32_t* const begin = row.columns.data();
  const std::uint32_t* const end = begin + row.columns.size();
  for (const auto* at = first == 0 ? begin : std::lower_bound(begin, end, first); at != end && *at < last; ++at) {
    visit(*at, row.values[static_cast<std::size_t>(at - begin)]);
  }
}
template <class Value, class Visit>
void for_each_between(const DenseRow<Value>& row, std::size_t first, std::size_t last, Visit&& visit) {
  for (std::size_t j = first; j < last; ++j) {
    if (row.values[j] != 0) visit(j, row.values[j]);
  }
}

// Entries a column, counted by slabs of rows side by side where their counters are small against the result.
template <class Rows>
std::vector<std::uint64_t> column_sizes(const Rows& rows) {
  constexpr std::size_t most_slabs = 16;
  constexpr std::size_t entries_a_counter = 16;
  const std::size_t d = rows.cols();
  const std::size_t slabs = std::clamp<std::size_t>(rows.nonzeros() / (entries_a_counter * d + 1), 1, most_slabs);
  std::vector<std::uint64_t> sizes(d * slabs);
  parallel_for(slabs, [&](std::size_t slab) {
    std::uint64_t* const mine = sizes.data() + slab * d;
    for (std::size_t i = slab * rows.rows() / slabs; i < (slab + 1) * rows.rows() / slabs; ++i) {
      for_each_between(rows.row(i), 0, d, [&](std::size_t j, auto) { ++mine[j]; });
    }
  });
  for (std::size_t k = d; k < sizes.size(); ++k) sizes[k % d] += sizes[k];
  sizes.resize(d);
  return sizes;
}

// Borders of column ranges with about equally many entries. offsets[j + 1] is where column j begins.
std::vector<std::size_t> balanced_ranges(std::span<const std::uint64_t> starts, std::uint64_t total,
                                         std::size_t count) {
  std::vector<std::size_t> borders{0};
  for (std::size_t k = 1; k < count; ++k) {
    const auto at = std::ranges::lower_bound(starts, total / count * k);
    borders.push_back(std::max(borders.back(), static_cast<std::size_t>(at - starts.begin())));
  }
  borders.push_back(starts.size());
  return borders;
}

template <class Value, class Rows>
ColumnStorage build(const Rows& rows) {
  const std::size_t d = rows.cols();
  Buffer<std::uint64_t> offsets(d + 1);
  std::uint64_t total = 0;
  {
    const std::vector<std::uint64_t> sizes = column_sizes(rows);
    for (std::size_t j = 0; j < d; ++j) offsets.data()[j + 1] = std::exchange(total, total + sizes[j]);
  }
  Buffer<std::uint32_t> row_numbers(total);
  Buffer<Value> values(total);
  // offsets[j + 1] is the place of the next entry of column j: in the end, that of column j + 1. A range of columns takes
  // its part out of every row, so that rows ascend and no two threads meet.
  const auto ranges = static_cast<std::size_t>(oneapi::tbb::info::default_concurrency());
  const std::vector<std::size_t> borders = balanced_ranges(offsets.span().subspan(1), total, ranges);
  parallel_for(ranges, [&](std::size_t k) {
    std::uint64_t* const next = offsets.data() + 1;
    if (borders[k] == borders[k + 1]) return;
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      for_each_between(rows.row(i), borders[k], borders[k + 1], [&](std::size_t j, Value value) {
        const std::uint64_t at = next[j]++;
        row_numbers.data()[at] = static_cast<std::uint32_t>(i);
        values.data()[at] = value;
      });
    }
  });
  return {.offsets = std::move(offsets).freeze(),
          .row_numbers = std::move(row_numbers).freeze(),
          .values = std::move(values).freeze(),
          .row_count = rows.rows()};
}

ColumnStorage build_any(const CsrRows<double>& rows) { return build<double>(rows); }
ColumnStorage build_any(const CsrRows<float>& rows) { return build<float>(rows); }
ColumnStorage build_any(const DenseRows<double>& rows) { return build<double>(rows); }
ColumnStorage build_any(const DenseRows<float>& rows) { return build<float>(rows); }

}  // namespace

ColumnMatrix ColumnStorage::matrix() const {
  return std::visit(
      [&]<class Value>(const Array<Value>& numbers) -> ColumnMatrix {
        return CscColumns<Value>{offsets, row_numbers, numbers, row_count, guard.get()};
      },
      values);
}

ColumnStorage columns_of(const Dataset& data) {
  if (data.rows() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(
        Fault::failure,
        "the column form numbers rows with 32 bits: more than 4294967295 rows need a solver that goes by rows");
  }
  if (const auto file = file_with_columns(data)) return mapped_columns(file);
  return std::visit([](const auto& rows) { return build_any(rows); }, data.matrix());
}

}  // namespace fenchel::data
