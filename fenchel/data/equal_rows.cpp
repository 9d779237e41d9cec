#include "fenchel/data/equal_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <xxhash.h>

#include "fenchel/base/random.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/pages.hpp"

namespace fenchel::data {

namespace {

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}
template <class Value>
bool same_entries(const SparseRow<Value>& a, const SparseRow<Value>& b) {
  return same_bits(a.columns, b.columns) && same_bits(a.values, b.values);
}
template <class Value>
bool same_entries(const DenseRow<Value>& a, const DenseRow<Value>& b) {
  return same_bits(a.values, b.values);
}

template <class T>
std::uint64_t hash_of(std::span<const T> items, std::uint64_t seed) {
  return XXH3_64bits_withSeed(items.data(), items.size_bytes(), seed);
}
template <class Value>
std::uint64_t hash_entries(const SparseRow<Value>& row, std::uint64_t seed) {
  return hash_of(row.values, hash_of(row.columns, seed));
}
template <class Value>
std::uint64_t hash_entries(const DenseRow<Value>& row, std::uint64_t seed) {
  return hash_of(row.values, seed);
}

std::uint64_t bits_of(double label) { return std::bit_cast<std::uint64_t>(label); }

template <class Rows>
std::uint64_t hash_row(const Rows& rows, std::span<const double> labels, std::size_t i) {
  return hash_entries(rows.row(i), bits_of(labels[i]));
}

// Rows by their hash alone. A slot of the table holds a row's number + 1 and half of its hash, whose other bits say where
// the search for it begins.
EqualRows group_by_hash(std::span<const std::uint64_t> hashes) {
  struct Slot {
    std::uint32_t check = 0;
    std::uint32_t place = 0;  // + 1; 0: nobody
  };
  EqualRows result;
  result.place.resize(hashes.size());
  // In pages of its own, which go back to the system at once; they begin as zeros.
  const Buffer<Slot> pages(std::bit_ceil(2 * hashes.size() + 1));
  const std::span<Slot> table = pages.span();
  const std::size_t mask = table.size() - 1;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const auto check = static_cast<std::uint32_t>(hashes[i] >> 32);
    std::size_t at = hashes[i] & mask;
    while (table[at].place != 0 &&
           (table[at].check != check || hashes[result.first[table[at].place - 1]] != hashes[i])) {
      at = (at + 1) & mask;
    }
    if (table[at].place == 0) {
      result.first.push_back(static_cast<std::uint32_t>(i));
      table[at] = {check, static_cast<std::uint32_t>(result.first.size())};
    }
    result.place[i] = table[at].place - 1;
  }
  result.first.shrink_to_fit();
  return result;
}

// Rows that are marked become distinct rows of their own; the order of first occurrence stays.
void set_apart(EqualRows& rows, std::span<const std::uint8_t> marked) {
  std::vector<std::uint32_t> first, place_of(rows.first.size());
  for (std::size_t i = 0; i < rows.place.size(); ++i) {
    const bool alone = marked[i] != 0;
    const bool fresh = alone || rows.first[rows.place[i]] == i;
    const auto next = static_cast<std::uint32_t>(first.size());
    if (fresh) first.push_back(static_cast<std::uint32_t>(i));
    if (fresh && !alone) place_of[rows.place[i]] = next;
    rows.place[i] = alone ? next : place_of[rows.place[i]];
  }
  rows.first = std::move(first);
}

template <class Value>
std::size_t bytes_in_rows(const CsrRows<Value>& rows, std::span<const std::uint32_t> list) {
  std::size_t entries = 0;
  for (const std::uint32_t i : list) entries += rows.row(i).nonzeros();
  return (list.size() + 1) * sizeof(std::uint64_t) + entries * (sizeof(std::uint32_t) + sizeof(Value));
}
template <class Value>
std::size_t bytes_in_rows(const DenseRows<Value>& rows, std::span<const std::uint32_t> list) {
  return list.size() * rows.cols() * sizeof(Value);
}

}  // namespace

EqualRows find_equal_rows(const Matrix& matrix, std::span<const double> labels) {
  const Buffer<std::uint64_t> pages(rows(matrix));
  const std::span<std::uint64_t> hashes = pages.span();
  std::visit(
      [&](const auto& all) {
        for_each_block(hashes.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) hashes[i] = hash_row(all, labels, i);
        });
      },
      matrix);
  return confirmed(matrix, labels, group_by_hash(hashes));
}

EqualRows confirmed(const Matrix& matrix, std::span<const double> labels, EqualRows guess) {
  std::vector<std::uint8_t> different(guess.place.size());
  std::visit(
      [&](const auto& all) {
        for_each_block(different.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t other = guess.first[guess.place[i]];
            const bool same = other == i || (bits_of(labels[i]) == bits_of(labels[other]) &&
                                             same_entries(all.row(i), all.row(other)));
            different[i] = same ? 0 : 1;
          }
        });
      },
      matrix);
  if (std::ranges::find(different, 1) != different.end()) set_apart(guess, different);
  return guess;
}

bool sample_repeats(const Matrix& matrix, std::span<const double> labels) {
  return std::visit(
      [&](const auto& rows) {
        const std::size_t n = rows.rows();
        const auto count = std::min(n, static_cast<std::size_t>(8.0 * std::sqrt(static_cast<double>(n))));
        if (count == 0) return false;
        // Drawn one by one, not one of each part of the rows: copies may stand side by side.
        Random random(0);
        std::vector<std::size_t> sample(count);
        for (std::size_t& row : sample) row = random.below(n);
        std::ranges::sort(sample);
        sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
        std::vector<std::uint64_t> hashes(sample.size());
        for_each_block(sample.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t k = begin; k < end; ++k) hashes[k] = hash_row(rows, labels, sample[k]);
        });
        std::ranges::sort(hashes);
        const auto repeats = static_cast<double>(hashes.end() - std::unique(hashes.begin(), hashes.end()));
        // With every row twice, count^2 / (2 n) pairs of the sample are equal; half of that leaves room for luck.
        const auto size = static_cast<double>(sample.size());
        return repeats >= 0.25 * size * size / static_cast<double>(n);
      },
      matrix);
}

std::size_t bytes_of_rows(const Matrix& matrix, std::span<const std::uint32_t> list) {
  return std::visit([&](const auto& rows) { return bytes_in_rows(rows, list); }, matrix);
}

ChosenRows::ChosenRows(const Matrix& matrix, std::span<const std::uint32_t> list)
    : view_(std::visit([&](const auto& rows) { return view_of(rows, list); }, matrix)) {}

template <class Value>
Matrix ChosenRows::view_of(const CsrRows<Value>& rows, std::span<const std::uint32_t> list) {
  offsets_.resize(list.size() + 1);
  begins_.resize(list.size());
  for (std::size_t k = 0; k < list.size(); ++k) {
    const SparseRow<Value> row = rows.row(list[k]);  // which a guard has checked from here on
    offsets_[k + 1] = offsets_[k] + row.nonzeros();
    begins_[k] = static_cast<std::uint64_t>(row.columns.data() - rows.columns.data());
  }
  return CsrRows<Value>{.offsets = offsets_,
                        .columns = rows.columns,
                        .values = rows.values,
                        .column_count = rows.cols(),
                        .uniform = rows.uniform,
                        .begins = begins_.data()};
}

template <class Value>
Matrix ChosenRows::view_of(const DenseRows<Value>& rows, std::span<const std::uint32_t> list) {
  Buffer<Value> values(list.size() * rows.cols());
  for_each_block(list.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      std::ranges::copy(rows.row(list[k]).values, values.data() + k * rows.cols());
    }
  });
  Array<Value> copy = std::move(values).freeze();
  const DenseRows<Value> view{.values = copy, .row_count = list.size(), .column_count = rows.cols()};
  copy_ = std::move(copy);
  return view;
}

}  // namespace fenchel::data
