// Compresses what is written, on the way to another sink.
#pragma once

#include <memory>
#include <string_view>

#include "fenchel/base/sink.hpp"

namespace fenchel::data {

// `compression` is gzip, zstd, bzip2 or xz, at the level that the tool of that name has by default; another name is
// Error(Fault::usage). finish() also finishes `out`.
std::unique_ptr<Sink> compressed(std::unique_ptr<Sink> out, std::string_view compression);

}  // namespace fenchel::data
