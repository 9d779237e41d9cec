// The header of npy files: what kind of numbers, in which order, how many.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fenchel::data {

struct NpyHeader {
  char kind = 'f';        // b, i, u or f, as NumPy's dtype.kind
  std::size_t width = 8;  // bytes of a number
  bool swapped = false;   // the other byte order than this machine's
  bool fortran = false;   // column after column
  std::vector<std::size_t> shape;
  std::size_t size = 0;  // of all that stands before the numbers

  [[nodiscard]] std::size_t rows() const { return shape[0]; }
  [[nodiscard]] std::size_t columns() const { return shape.size() == 1 ? 1 : shape[1]; }
};

// Refuses everything that is not a vector or matrix of at least one number, or not exactly as long as it says:
// Error(Fault::input, "NAME: reason").
NpyHeader parse_npy_header(std::string_view bytes, const std::string& name);

// Version 1, for little-endian floats of `width` bytes in C order; padded so that the numbers are aligned.
std::string npy_header_text(std::size_t width, const std::vector<std::size_t>& shape);

}  // namespace fenchel::data
