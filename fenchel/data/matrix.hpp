// Views of a data matrix, row by row: what the loops of the library see. A view owns nothing; `Dataset` does.
// Values may be double or float (float only where the contract's precision rule allows it); every arithmetic
// result is double.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace fenchel::data {

template <class Value>
struct SparseRow {
  std::span<const std::uint32_t> columns;
  std::span<const Value> values;
  bool uniform = false;  // all values are equal: the first one does for all

  [[nodiscard]] std::size_t nonzeros() const { return values.size(); }
  [[nodiscard]] std::size_t column(std::size_t k) const { return columns[k]; }
  // Calls visit(column, value) for every stored entry, columns ascending.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t k = 0; k < values.size(); ++k) visit(columns[k], static_cast<double>(values[k]));
  }
  // Calls use(value_at), where value_at(k) is entry k: compiled twice for the loops that memory holds up, as a uniform row has a
  // third or half of the bytes.
  template <class Use>
  [[gnu::always_inline]] decltype(auto) with_values(Use&& use) const {
    if (uniform && !values.empty()) {
      return use([value = static_cast<double>(values.front())](std::size_t /*k*/) { return value; });
    }
    return use([value = values.data()](std::size_t k) { return static_cast<double>(value[k]); });
  }
  // The same as for_each, through with_values.
  template <class Visit>
  [[gnu::always_inline]] void for_each_entry(Visit&& visit) const {
    with_values([&](const auto& value_at) {
      for (std::size_t k = 0; k < columns.size(); ++k) visit(columns[k], value_at(k));
    });
  }
};

template <class Value>
struct DenseRow {
  std::span<const Value> values;

  [[nodiscard]] std::size_t nonzeros() const { return values.size(); }
  [[nodiscard]] static std::size_t column(std::size_t k) { return k; }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t j = 0; j < values.size(); ++j) visit(j, static_cast<double>(values[j]));
  }
  template <class Visit>
  [[gnu::always_inline]] void for_each_entry(Visit&& visit) const {
    for_each(visit);
  }
  template <class Use>
  [[gnu::always_inline]] decltype(auto) with_values(Use&& use) const {
    return use([value = values.data()](std::size_t k) { return static_cast<double>(value[k]); });
  }
};

// Whoever checks rows of a mapped file, block by block, before they are first used. ensure() may be called by many
// threads at once and costs one look at a flag for a block that was checked already; it throws Error(Fault::input).
class RowGuard {
 public:
  // Blocks of 2^k rows, so that finding a row's block is a shift.
  RowGuard(std::size_t rows, std::size_t rows_in_block)
      : shift_(std::countr_zero(rows_in_block)), checked_((rows + rows_in_block - 1) / rows_in_block) {}
  virtual ~RowGuard() = default;
  RowGuard(const RowGuard&) = delete;
  RowGuard& operator=(const RowGuard&) = delete;

  void ensure(std::size_t row) const {
    const std::size_t block = row >> shift_;
    if (checked_[block].load(std::memory_order_acquire) != 0) return;
    check(block);
    checked_[block].store(1, std::memory_order_release);
  }
  [[nodiscard]] std::size_t blocks() const { return checked_.size(); }
  [[nodiscard]] std::size_t rows_in_block() const { return std::size_t{1} << shift_; }

 private:
  virtual void check(std::size_t block) const = 0;

  int shift_;
  mutable std::vector<std::atomic<std::uint8_t>> checked_;
};

// Of rows that lie among others, the one so many places ahead is asked for.
inline constexpr std::size_t scattered_ahead = 4;
// Longer rows than this are left to the processor's own foresight.
inline constexpr std::size_t most_prefetched = 1024;

template <class T>
void prefetch_all(std::span<const T> items) {
  for (std::size_t k = 0; k < items.size(); k += 64 / sizeof(T)) __builtin_prefetch(&items[k]);
}

// Compressed sparse rows: entries of row i are [offsets[i], offsets[i + 1]), or as many from begins[i] on.
template <class Value>
struct CsrRows {
  std::span<const std::uint64_t> offsets;
  std::span<const std::uint32_t> columns;
  std::span<const Value> values;
  std::size_t column_count = 0;
  const RowGuard* guard = nullptr;
  bool uniform = false;                   // every row is
  const std::uint64_t* begins = nullptr;  // of rows among others, which offsets do not count

  [[nodiscard]] std::size_t rows() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  [[nodiscard]] std::size_t cols() const { return column_count; }
  [[nodiscard]] std::size_t nonzeros() const { return begins != nullptr ? offsets.back() : values.size(); }
  [[nodiscard]] std::size_t nonzeros_before(std::size_t i) const { return offsets[i]; }
  [[nodiscard]] std::size_t begin_of(std::size_t i) const { return begins != nullptr ? begins[i] : offsets[i]; }
  [[nodiscard, gnu::always_inline]] SparseRow<Value> row(std::size_t i) const {
    if (begins == nullptr) return row_in_place(i);
    const std::size_t count = offsets[i + 1] - offsets[i];
    return {columns.subspan(begins[i], count), values.subspan(begins[i], count), uniform};
  }
  // The same where no rows lie between, for sweeps of solvers that go row by row: they are given the data as they are.
  [[nodiscard, gnu::always_inline]] SparseRow<Value> row_in_place(std::size_t i) const {
    assert(begins == nullptr || begins[i] == offsets[i]);
    if (guard != nullptr) guard->ensure(i);
    const std::size_t begin = offsets[i];
    const std::size_t count = offsets[i + 1] - begin;
    return {columns.subspan(begin, count), values.subspan(begin, count), uniform};
  }
  // Asks memory for the value of a uniform row that comes next: the processor foresees the columns of rows in order, not this.
  [[gnu::always_inline]] void prefetch_value(std::size_t i) const {
    if (uniform) __builtin_prefetch(values.data() + begin_of(i));
  }
  [[nodiscard]] bool scattered() const { return begins != nullptr; }
  // Asks memory for a row that is used soon, where no rows lie between. No entry is looked at, so that the row needs no check before.
  void prefetch(std::size_t i) const {
    const std::size_t begin = std::min<std::size_t>(offsets[i], values.size());
    const std::size_t end = std::min<std::size_t>(offsets[i + 1], values.size());
    if (end <= begin) return;
    const std::size_t count = std::min(end - begin, most_prefetched);
    prefetch_all(columns.subspan(begin, count));
    prefetch_all(values.subspan(begin, uniform ? 1 : count));
  }
  // The same for one of scattered rows, which have been checked.
  void prefetch_scattered(std::size_t i) const {
    const std::size_t count = std::min<std::size_t>(offsets[i + 1] - offsets[i], most_prefetched);
    if (count == 0) return;
    prefetch_all(columns.subspan(begins[i], count));
    prefetch_all(values.subspan(begins[i], uniform ? 1 : count));
  }
};

// Dense rows, one after the other.
template <class Value>
struct DenseRows {
  std::span<const Value> values;
  std::size_t row_count = 0;
  std::size_t column_count = 0;
  const RowGuard* guard = nullptr;

  [[nodiscard]] std::size_t rows() const { return row_count; }
  [[nodiscard]] std::size_t cols() const { return column_count; }
  [[nodiscard]] std::size_t nonzeros() const { return values.size(); }
  [[nodiscard]] std::size_t nonzeros_before(std::size_t i) const { return i * column_count; }
  [[nodiscard]] static bool scattered() { return false; }
  void prefetch_scattered(std::size_t /*i*/) const {}
  [[nodiscard]] DenseRow<Value> row(std::size_t i) const {
    if (guard != nullptr) guard->ensure(i);
    return {values.subspan(i * column_count, column_count)};
  }
  [[nodiscard]] DenseRow<Value> row_in_place(std::size_t i) const { return row(i); }
  void prefetch(std::size_t i) const {
    prefetch_all(values.subspan(i * column_count, std::min(column_count, most_prefetched)));
  }
};

using Matrix = std::variant<CsrRows<double>, CsrRows<float>, DenseRows<double>, DenseRows<float>>;

inline std::size_t rows(const Matrix& matrix) {
  return std::visit([](const auto& m) { return m.rows(); }, matrix);
}
inline std::size_t cols(const Matrix& matrix) {
  return std::visit([](const auto& m) { return m.cols(); }, matrix);
}
inline std::size_t nonzeros(const Matrix& matrix) {
  return std::visit([](const auto& m) { return m.nonzeros(); }, matrix);
}

}  // namespace fenchel::data
