#include "fenchel/data/binary.hpp"

#include "fenchel/base/error.hpp"

namespace fenchel::data {

Dataset read_binary(Source&, const ReadOptions&) { throw Error(Fault::usage, "fenchel-binary: not merged yet"); }
void write_binary(Sink&, const Dataset&, const BinaryOptions&) {
  throw Error(Fault::usage, "fenchel-binary: not merged yet");
}
bool is_binary(std::string_view head) { return head.starts_with("FENCHELB"); }

}  // namespace fenchel::data
