// Rows that occur more than once: the same entries and the same label, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/data/dataset.hpp"
#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

struct EqualRows {
  std::vector<std::uint32_t> first;  // of every distinct row: where it occurs first; ascending
  std::vector<std::uint32_t> place;  // of every row: which of the distinct rows it equals
};

// Hashes every row once, and confirms that those of one hash are equal. Fewer than 2^32 rows.
[[nodiscard]] EqualRows find_equal_rows(const Matrix& matrix, std::span<const double> labels);
// The guess, with every row that differs from the first of its place alone in a place of its own.
[[nodiscard]] EqualRows confirmed(const Matrix& matrix, std::span<const double> labels, EqualRows guess);

// Whether a sample of about 8 sqrt(rows) rows contains half as many equal ones as it should if every row occurred twice. Data
// without equal rows are told from data with many at a small part of a pass.
[[nodiscard]] bool sample_repeats(const Matrix& matrix, std::span<const double> labels);

// What some rows have in bytes.
[[nodiscard]] std::size_t bytes_of_rows(const Matrix& matrix, std::span<const std::uint32_t> list);

// Some rows of a matrix, which must outlive this, as a matrix of their own. Sparse rows are found where they are: in ascending
// order that takes no longer than a copy of them. Dense ones are copied, as their loops go from one to the next.
class ChosenRows {
 public:
  ChosenRows(const Matrix& matrix, std::span<const std::uint32_t> list);
  ChosenRows(ChosenRows&&) = default;
  ChosenRows& operator=(ChosenRows&&) = default;

  [[nodiscard]] const Matrix& matrix() const { return view_; }

 private:
  template <class Value>
  [[nodiscard]] Matrix view_of(const CsrRows<Value>& rows, std::span<const std::uint32_t> list);
  template <class Value>
  [[nodiscard]] Matrix view_of(const DenseRows<Value>& rows, std::span<const std::uint32_t> list);

  std::vector<std::uint64_t> offsets_, begins_;
  Values copy_;
  Matrix view_;
};

}  // namespace fenchel::data
