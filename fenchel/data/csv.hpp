// Tables as text: a record a line, cells separated by ',' or ';' (csv) or tabs (tsv), one column of them the label.
//
// RFC 4180: a cell may stand in double quotes, which then hold separators, newlines and (doubled) quotes. Lines end
// with LF or CRLF; blank lines, and UTF-8 byte order marks at the beginning of lines, are skipped; blanks around a cell
// do not count. Every record has as many cells as the first one. Lines before it that begin with '#' and a blank are
// comments.
//
// The first record holds names instead of numbers if one of its cells, dropped ones aside, is neither a number nor a
// word for a missing value. (An empty cell followed by 0, 1, 2, ... are names too: that is how pandas numbers columns.)
#pragma once

#include "fenchel/base/sink.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

// `separator` '\0': ',' or ';', whichever comes first in the first line. Of the options label, drop, labels_path,
// precision and spill count here. A column is chosen by its name or by its position, from 1, or from -1 at the end; a
// name wins. Without `label` it is the column called label, target, y or class, whatever their case, or else the first
// one, which the remark says. The matrix is sparse if fewer than a quarter of the cells at the beginning are nonzero.
//
// What is wrong with the text is Error(Fault::input, "NAME:LINE:COLUMN: reason"), a column that is not there
// Error(Fault::usage).
Dataset read_csv(Source& source, const ReadOptions& options, char separator);

// A header (`label,x1,x2,...`, without `label` where there are no targets), then a record a row with all its cells, in
// the shortest numbers that read back as the same doubles. Error(Fault::usage) for data with query ids, and for sparse
// data that would grow absurdly.
void write_csv(Sink& out, const Dataset& data, char separator);

}  // namespace fenchel::data
