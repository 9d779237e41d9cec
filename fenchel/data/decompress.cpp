#include "fenchel/base/error.hpp"
#include "fenchel/data/stream.hpp"

namespace fenchel::data {

std::unique_ptr<Stream> decompressed(std::unique_ptr<Stream>, std::string_view, std::string name) {
  throw Error(Fault::input, name + ": compressed");
}

}  // namespace fenchel::data
