// What stands before the entries of a MatrixMarket file: banner, comments, sizes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fenchel::data {

struct MatrixMarketHeader {
  enum class Form { coordinate, array };
  enum class Field { real, integer, pattern };
  enum class Symmetry { general, symmetric, skew };

  Form form = Form::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t entries = 0;  // as they stand in the file; of an array too
  std::string text;         // all that stands before the entries

  [[nodiscard]] bool mirrored() const { return symmetry != Symmetry::general; }
};

// From the beginning of a file, as much as Source::head() shows. Everything wrong is Error(Fault::input).
MatrixMarketHeader parse_matrix_market_header(std::string_view head, const std::string& name);

}  // namespace fenchel::data
