// A data set in memory: the owner behind a Matrix view, with one number a row as target.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

enum class Precision { f64, f32 };

struct CsrStorage {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::variant<std::vector<double>, std::vector<float>> values;
  std::size_t column_count = 0;
};

struct DenseStorage {
  std::variant<std::vector<double>, std::vector<float>> values;
  std::size_t row_count = 0;
  std::size_t column_count = 0;
};

struct Dataset {
  std::variant<CsrStorage, DenseStorage> storage;
  std::vector<double> targets;      // as in the file, one a row
  std::vector<std::int64_t> query;  // qid of each row; empty where the file has none
  int index_base = 1;               // of the file the columns came from (0 or 1); columns here always start at 0
  Precision precision = Precision::f64;

  [[nodiscard]] Matrix matrix() const;
  [[nodiscard]] std::size_t rows() const { return targets.size(); }
};

// Puts values into the smallest storage that holds them exactly: float where every value survives the round trip,
// double otherwise. Under Precision::f32 values are rounded to float, which then *is* the problem.
std::variant<std::vector<double>, std::vector<float>> compact(std::vector<double> values, Precision precision);

}  // namespace fenchel::data
