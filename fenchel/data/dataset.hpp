// A data set: the owner behind a Matrix view, with one number a row as target.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "fenchel/data/array.hpp"
#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

enum class Precision { f64, f32 };

using Values = std::variant<Array<double>, Array<float>>;

struct CsrStorage {
  Array<std::uint64_t> offsets = std::vector<std::uint64_t>{0};
  Array<std::uint32_t> columns;
  Values values;
  std::size_t column_count = 0;
  bool uniform = false;  // known to hold one value a row, as in data of zeros and ones; false says nothing
};

struct DenseStorage {
  Values values;
  std::size_t row_count = 0;
  std::size_t column_count = 0;
};

struct Dataset {
  std::variant<CsrStorage, DenseStorage> storage;
  Array<double> targets;      // as in the file, one a row; empty where there are none
  Array<std::int64_t> query;  // qid of each row; empty where the file has none
  int index_base = 1;         // of the file the columns came from (0 or 1); columns here always start at 0
  Precision precision = Precision::f64;
  // Checks rows of a mapped file before they are first used; null where everything was checked when it was read.
  std::shared_ptr<const RowGuard> guard = nullptr;
  std::string remark = {};  // what a reader had to guess, in one sentence, for the user to see; mostly empty

  [[nodiscard]] Matrix matrix() const;
  [[nodiscard]] std::size_t rows() const { return data::rows(matrix()); }
};

// Puts values into the smallest storage that holds them exactly: float where every value survives the round trip,
// double otherwise. Under Precision::f32 values are rounded to float, which then *is* the problem.
Values compact(std::vector<double> values, Precision precision);

// Whether every row holds equal values only.
bool rows_are_uniform(const CsrStorage& rows);

}  // namespace fenchel::data
