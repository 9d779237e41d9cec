// The svmlight (LIBSVM) text format: a row a line, `label [qid:N] index:value index:value ... # comment`.
//
// Separators are blanks and tabs; blank and comment-only lines are skipped; lines end with LF or CRLF, the last one
// with nothing if it likes; a leading UTF-8 byte order mark is skipped. Indexes are strictly ascending, at most
// `largest_index`. A value of exactly 0 is not stored, but its index counts for the number of columns. Either
// every row has a qid or none has.
//
// Several labels on a row, `3,7,12 index:value ...`, or none (the line then begins with a blank or an index), need
// ReadOptions::positive, which turns labels into 1 and -1.
#pragma once

#include <cstdint>

#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

inline constexpr std::uint32_t largest_index = 2147483646;  // 2^31 - 2, as written in the file

// Everything wrong with the text is Error(Fault::input, "NAME:LINE:COLUMN: reason").
Dataset read_svmlight(Source& source, const ReadOptions& options = {});

}  // namespace fenchel::data
