// The svmlight (LIBSVM) text format: a row a line, `label [qid:N] index:value index:value ... # comment`.
//
// Separators are blanks and tabs; blank and comment-only lines are skipped; lines end with LF or CRLF, the last one
// with nothing if it likes; a leading UTF-8 byte order mark is skipped. Indexes are strictly ascending, at most
// `largest_index`. A value of exactly 0 is not stored, but its index counts for the number of columns. Either
// every row has a qid or none has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fenchel/data/dataset.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

inline constexpr std::uint32_t largest_index = 2147483646;  // 2^31 - 2, as written in the file

struct SvmlightOptions {
  std::optional<int> index_base = {};  // 0 or 1; empty: 0 if index 0 occurs, else 1
  // Under f32 a value is first the nearest double, then the float nearest to that, so that a value does not depend
  // on the format it comes from.
  Precision precision = Precision::f64;
};

// Everything wrong with the text is Error(Fault::input, "NAME:LINE:COLUMN: reason").
Dataset read_svmlight(std::string_view text, const std::string& name, const SvmlightOptions& options = {});

Dataset read_svmlight(Source& source, const ReadOptions& options);

}  // namespace fenchel::data
