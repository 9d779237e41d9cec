// The MatrixMarket format (mtx): a banner `%%MatrixMarket matrix FORM FIELD SYMMETRY`, comments that begin with %, a
// line with the sizes, then an entry a line.
//
// FORM coordinate has `row column value` (without the value where FIELD is pattern: it is 1 then), counted from 1, in
// any order, none of them twice; FORM array has the values alone, column after column. FIELD is real (or double),
// integer or pattern; SYMMETRY general, symmetric or skew-symmetric, where an entry stands for its mirror image too.
// Words of the banner may be in upper or lower case. Blank lines and comments are accepted everywhere, CRLF too.
// Coordinates become sparse rows, without the entries that are 0; arrays become dense rows.
#pragma once

#include <string_view>

#include "fenchel/base/sink.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

bool is_matrix_market(std::string_view head);

// Everything wrong with the text is Error(Fault::input), with its place where there is one. There are no labels.
Dataset read_matrix_market(Source& source, const ReadOptions& options);

// Sparse rows as coordinates, dense ones as an array, with the shortest numbers that read back as the same.
void write_matrix_market(Sink& out, const Dataset& data);

}  // namespace fenchel::data
