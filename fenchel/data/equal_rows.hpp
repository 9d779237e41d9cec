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

// The bytes of a copy of some rows, and this copy; without targets.
[[nodiscard]] std::size_t bytes_of_rows(const Matrix& matrix, std::span<const std::uint32_t> list);
[[nodiscard]] Dataset copy_rows(const Matrix& matrix, std::span<const std::uint32_t> list);

}  // namespace fenchel::data
