#pragma once

#include <string_view>

#include "fenchel/base/sink.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

struct BinaryOptions {
  bool columns = false;
};
Dataset read_binary(Source& source, const ReadOptions& options);
void write_binary(Sink& out, const Dataset& data, const BinaryOptions& options = {});
bool is_binary(std::string_view head);

}  // namespace fenchel::data
