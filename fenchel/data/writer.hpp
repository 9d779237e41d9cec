// Writes data sets as text.
#pragma once

#include <ostream>

#include "fenchel/data/dataset.hpp"

namespace fenchel::data {

// svmlight text, a row a line, with the shortest numbers that read back as the same doubles, and indexes counted
// from `data.index_base`. Where no row has an entry in the last column, the first row gets an explicit 0 there, so
// that the number of columns survives; likewise for column 0 of 0-based data, so that a reader guesses the base
// right. Whether the stream took it all is the caller's to check.
void write_svmlight(std::ostream& out, const Dataset& data);

}  // namespace fenchel::data
