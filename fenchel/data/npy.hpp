// NumPy's npy format, versions 1 to 3: a dense matrix, or a vector.
//
// Booleans, integers of every width, float32 and float64 are read, in C or Fortran order, of either byte order. What
// lies in memory as the library needs it (C order, this machine's byte order, aligned) is used where it is, mapped
// from the file; everything else is converted. The header is checked against the size of the file before anything is
// allocated. Integers must be exact in a double.
#pragma once

#include <span>
#include <vector>

#include "fenchel/base/sink.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

// A vector of n numbers is a matrix of one column. There are no labels in the file. Everything wrong is
// Error(Fault::input); it names row and column, counted from 0 as NumPy does, where a number is to blame.
Dataset read_npy(Source& source, const ReadOptions& options);

// Only a vector, or a matrix of one column.
std::vector<double> read_npy_vector(Source& source);

// C order, float64 or, where the data are held as such, float32. Error(Fault::usage) where sparse data would need
// more than `most_cells`.
inline constexpr std::size_t most_cells = 1'000'000'000;
void write_npy(Sink& out, const Dataset& data);

void write_npy_vector(Sink& out, std::span<const double> numbers);

}  // namespace fenchel::data
