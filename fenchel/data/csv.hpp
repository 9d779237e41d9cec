#pragma once

#include "fenchel/base/sink.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

Dataset read_csv(Source& source, const ReadOptions& options, char separator);
void write_csv(Sink& out, const Dataset& data, char separator);

}  // namespace fenchel::data
