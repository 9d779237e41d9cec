#include "fenchel/data/compress.hpp"

#include <string>

#include "fenchel/base/error.hpp"

namespace fenchel::data {

std::unique_ptr<Sink> compressed(std::unique_ptr<Sink>, std::string_view compression) {
  throw Error(Fault::usage, std::string(compression) + ": not merged yet");
}

}  // namespace fenchel::data
