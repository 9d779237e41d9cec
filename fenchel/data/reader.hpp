// Reads data of any format the library knows: named, or recognised by its content.
#pragma once

#include <optional>
#include <string>

#include "fenchel/data/dataset.hpp"

namespace fenchel::data {

struct ReadOptions {
  std::string format = {};             // as for --format; empty: recognise the content
  std::optional<int> index_base = {};  // of the file, 0 or 1; empty: 0 if index 0 occurs, else 1
  Precision precision = Precision::f64;
};

// `path` may be "-" for standard input. Bad content is Error(Fault::input), a bad format name Error(Fault::usage).
Dataset read(const std::string& path, const ReadOptions& options = {});

}  // namespace fenchel::data
