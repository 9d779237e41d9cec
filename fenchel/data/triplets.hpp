// Entries (row, column, value) in any order, gathered in parts, and their way into compressed sparse rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "fenchel/base/parallel.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/pages.hpp"

namespace fenchel::data {

// Numbers that come one by one: as floats once all of them are known to be exact in it.
class GatheredValues {
 public:
  void reserve(std::size_t count) { wide_.reserve(count); }
  void add(double value) { wide_.push_back(value); }
  [[nodiscard]] std::size_t size() const { return wide_.size() + narrow_.size(); }
  [[nodiscard]] bool narrow() const { return wide_.empty(); }
  [[nodiscard]] double operator[](std::size_t k) const {
    return narrow() ? static_cast<double>(narrow_[k]) : wide_[k];
  }
  // No more will come.
  void close() {
    const auto exact = [](double value) { return static_cast<double>(static_cast<float>(value)) == value; };
    if (!std::all_of(wide_.begin(), wide_.end(), exact)) return;
    narrow_.resize(wide_.size());
    std::transform(wide_.begin(), wide_.end(), narrow_.begin(), [](double v) { return static_cast<float>(v); });
    wide_ = {};
  }

 private:
  std::vector<double> wide_;
  std::vector<float> narrow_;
};

template <class Row>
struct Triplets {
  std::vector<Row> rows;
  std::vector<std::uint32_t> columns;
  GatheredValues values;
};

// Where an entry stands a second time.
struct Duplicate {
  std::size_t row = 0;
  std::size_t column = 0;
};

// Entries are counted a row, then put behind each other row by row, then sorted by column within their row: the
// result does not depend on who came first. Parts are given up as they are emptied.
template <class Part, class Value>
class TripletJoin {
 public:
  TripletJoin(std::vector<Part>& parts, std::size_t rows, std::size_t columns)
      : parts_(parts), rows_(rows), column_count_(columns) {}

  // Zeros are dropped at last, so that a zero that stands twice is found, too.
  std::optional<Duplicate> join() {
    scatter();
    auto duplicate = sort_rows();
    if (!duplicate) drop_zeros();
    return duplicate;
  }

  CsrStorage freeze() && {
    const std::size_t count = offsets_.data()[rows_];
    return {.offsets = std::move(offsets_).freeze(rows_ + 1),
            .columns = std::move(columns_).freeze(count),
            .values = std::move(values_).freeze(count),
            .column_count = column_count_};
  }

 private:
  void scatter() {
    // One entry more than needed: what is counted at i + 2 is where row i ends once it is summed up and, as the
    // beginning of row i at i + 1, moves there while row i is filled.
    offsets_ = Buffer<std::uint64_t>(rows_ + 2);
    std::uint64_t* const offsets = offsets_.data();
    const auto add_one = [](std::uint64_t& counter) {
      return std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed);
    };
    parallel_for(parts_.size(), [&](std::size_t p) {
      for (const auto row : parts_[p].rows) add_one(offsets[row + 2]);
    });
    std::partial_sum(offsets, offsets + rows_ + 2, offsets);
    const std::size_t count = offsets[rows_ + 1];
    columns_ = Buffer<std::uint32_t>(count);
    values_ = Buffer<Value>(count);
    parallel_for(parts_.size(), [&](std::size_t p) {
      const Part part = std::exchange(parts_[p], Part{});
      for (std::size_t k = 0; k < part.rows.size(); ++k) {
        const std::uint64_t to = add_one(offsets[part.rows[k] + 1]);
        columns_.data()[to] = part.columns[k];
        values_.data()[to] = static_cast<Value>(part.values[k]);
      }
    });
  }

  std::optional<Duplicate> sort_rows() {
    constexpr std::size_t rows_in_block = 1024, none = std::numeric_limits<std::size_t>::max();
    std::vector<std::optional<Duplicate>> found((rows_ + rows_in_block - 1) / rows_in_block);
    parallel_for(found.size(), [&](std::size_t block) {
      const std::size_t begin = block * rows_in_block, end = std::min(rows_, begin + rows_in_block);
      // A short file may announce millions of empty rows.
      if (offsets_.data()[begin] == offsets_.data()[end]) return;
      std::vector<std::pair<std::uint32_t, Value>> scratch;
      for (std::size_t i = begin; i < end && !found[block]; ++i) {
        const std::size_t column = sort_row(i, scratch);
        if (column != none) found[block] = Duplicate{i, column};
      }
    });
    const auto first =
        std::find_if(found.begin(), found.end(), [](const auto& entry) { return entry.has_value(); });
    return first == found.end() ? std::nullopt : *first;
  }

  // The column that occurs twice, or the largest number there is.
  std::size_t sort_row(std::size_t i, std::vector<std::pair<std::uint32_t, Value>>& scratch) {
    const std::size_t begin = offsets_.data()[i], count = offsets_.data()[i + 1] - begin;
    std::uint32_t* const columns = columns_.data() + begin;
    Value* const values = values_.data() + begin;
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    const auto not_ascending = [](std::uint32_t a, std::uint32_t b) { return a >= b; };
    if (std::adjacent_find(columns, columns + count, not_ascending) == columns + count) return none;
    scratch.resize(count);
    for (std::size_t k = 0; k < count; ++k) scratch[k] = {columns[k], values[k]};
    std::sort(scratch.begin(), scratch.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < count; ++k) std::tie(columns[k], values[k]) = scratch[k];
    const std::uint32_t* const twice = std::adjacent_find(columns, columns + count);
    return twice == columns + count ? none : *twice;
  }

  void drop_zeros() {
    std::uint64_t* const offsets = offsets_.data();
    const std::size_t count = offsets[rows_];
    if (std::find(values_.data(), values_.data() + count, Value{0}) == values_.data() + count) return;
    std::size_t kept = 0, from = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      const std::size_t end = offsets[i + 1];
      for (; from < end; ++from) {
        if (values_.data()[from] == Value{0}) continue;
        columns_.data()[kept] = columns_.data()[from];
        values_.data()[kept++] = values_.data()[from];
      }
      offsets[i + 1] = kept;
    }
  }

  std::vector<Part>& parts_;
  std::size_t rows_;
  std::size_t column_count_;
  Buffer<std::uint64_t> offsets_;
  Buffer<std::uint32_t> columns_;
  Buffer<Value> values_;
};

}  // namespace fenchel::data
