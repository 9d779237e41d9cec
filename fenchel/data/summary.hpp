// What a data set looks like: sizes, ranges, what is empty, constant or there twice, and what that suggests for a fit.
// Two passes over the data with memory for a few numbers a row and a column; does not depend on the number of threads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/base/interval.hpp"
#include "fenchel/data/dataset.hpp"

namespace fenchel::data {

struct Spread {
  double smallest = infinity;
  double mean = 0.0;
  double largest = -infinity;
};

// How many columns are of a kind, and the first few of them, counted from 0.
struct ColumnKind {
  static constexpr std::size_t most_listed = 10;
  std::size_t count = 0;
  std::vector<std::size_t> first;
};

struct LabelSummary {
  static constexpr std::size_t most_listed = 20;
  std::size_t distinct = 0;
  double smallest = 0.0, lower_quartile = 0.0, median = 0.0, upper_quartile = 0.0, largest = 0.0;
  bool integers = true;
  std::vector<std::pair<double, std::size_t>> most_frequent;  // labels and how often they occur
  std::size_t least_count = 0;                                // of the rarest label

  // Rather measured numbers than names of classes.
  [[nodiscard]] bool like_regression(std::size_t rows) const;
};

struct Summary {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t nonzeros = 0;  // zeros of dense rows are not counted
  double density = 0.0;
  Spread row_nonzeros;
  Spread row_norms;
  Spread values;  // of those that are not 0, without a mean
  std::size_t empty_rows = 0;
  std::size_t duplicate_rows = 0;  // equal to an earlier row, empty ones apart
  ColumnKind empty_columns;
  ColumnKind constant_columns;   // the same value, not 0, in every row
  ColumnKind duplicate_columns;  // equal to an earlier column, empty ones apart
  // Root mean squares of a column's nonzeros: the smallest and largest but for one column in a hundred at either end.
  double small_scale = 0.0;
  double large_scale = 0.0;
  std::optional<LabelSummary> labels;
};

[[nodiscard]] Summary summarize(const Dataset& data);

// An option of `fenchel train` that may help, and why.
struct Suggestion {
  std::string flag;
  std::string reason;
};
[[nodiscard]] std::vector<Suggestion> suggestions(const Summary& summary);

}  // namespace fenchel::data
