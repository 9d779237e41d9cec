// Any bytes at all: as a model file (as they are, and with a checksum that fits so that the parser behind it is reached), as
// a LIBLINEAR model and as a list of weights. A refusal is an Error of the input that names the file; what is accepted
// survives being written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <xxhash.h>

#include "fenchel/base/error.hpp"
#include "fenchel/model/file.hpp"
#include "fenchel/model/foreign.hpp"
#include "tests/fuzz/support.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::model;
using fuzz::refused, fuzz::require;

void check_model(std::string_view bytes) {
  refused([&] {
    const std::string again = serialize(deserialize(bytes, "fuzz"));
    require(serialize(deserialize(again, "again")) == again);
  });
}

std::string sealed(std::string_view bytes) {
  constexpr std::size_t checksum_size = 16;
  std::string body(bytes.substr(0, bytes.size() < checksum_size ? 0 : bytes.size() - checksum_size));
  const XXH128_hash_t hash = XXH3_128bits(body.data(), body.size());
  for (const std::uint64_t word : {hash.low64, hash.high64}) {
    for (int k = 0; k < 8; ++k) body += static_cast<char>(word >> (8 * k) & 0xff);
  }
  return body;
}

// Text alone as the header, so that mutations need not keep its length right.
std::string as_header(std::string_view text) {
  std::string body("fenchel\x1a\x01\0\0\0\0\0\0\0", 16);
  std::string header(text);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  for (int k = 0; k < 8; ++k) body += static_cast<char>(header.size() >> (8 * k) & 0xff);
  return sealed(body + header + std::string(16, '\0'));
}

void check_foreign(const Foreign& foreign) {
  require(!foreign.w.empty() && foreign.bias.size() == foreign.w.size());
  require(foreign.constant_weights.empty() || foreign.constant_weights.size() == foreign.w.size());
  require(foreign.classes.empty() || foreign.w.size() == 1 || foreign.classes.size() == foreign.w.size());
  for (const auto& w : foreign.w) {
    require(w.size() == foreign.features());
    for (const double weight : w) require(std::isfinite(weight));
  }
  for (std::size_t k = 1; k < foreign.classes.size(); ++k) require(foreign.classes[k - 1] < foreign.classes[k]);
  for (const std::size_t k : foreign.preference) require(k < foreign.classes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check_model(text);
  check_model(sealed(text));
  check_model(as_header(text));
  refused([&] { check_foreign(read_liblinear(text, "fuzz")); });
  refused([&] { check_foreign(read_weights(text, "fuzz", {.features = 3, .bias = registry::Bias::free})); });
  return 0;
}
