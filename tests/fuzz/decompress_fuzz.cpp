// Any bytes at all: a decompressor either refuses them with an Error or gives what survives being compressed and
// decompressed again, and does so whatever the pieces it is asked for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "fenchel/base/error.hpp"
#include "fenchel/data/compress.hpp"
#include "fenchel/data/stream.hpp"
#include "tests/fuzz/support.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::data;
using fuzz::require;

constexpr std::size_t most_output = std::size_t{1} << 20;

class Into final : public Sink {
 public:
  explicit Into(std::string& text) : text_(text) {}
  void write(std::string_view bytes) override { text_ += bytes; }
  void finish() override {}

 private:
  std::string& text_;
};

struct Outcome {
  std::string content;
  std::string error;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// At most most_output bytes, `step` at a time.
Outcome unpacked(const std::string& bytes, std::string_view compression, std::size_t at_once, std::size_t step) {
  Outcome outcome;
  try {
    const auto stream = decompressed(std::make_unique<test::TextStream>(bytes, at_once), compression, "fuzz");
    std::string block(step, '\0');
    while (outcome.content.size() < most_output) {
      const std::size_t got =
          stream->read(std::span(block).first(std::min(step, most_output - outcome.content.size())));
      if (got == 0) break;
      outcome.content.append(block, 0, got);
    }
  } catch (const Error& error) {
    require(error.fault() == Fault::input);
    outcome.error = error.what();
    require(outcome.error.starts_with("fuzz: "));
  }
  return outcome;
}

std::string packed(std::string_view content, std::string_view compression) {
  std::string bytes;
  const auto sink = compressed(std::make_unique<Into>(bytes), compression);
  sink->write(content);
  sink->finish();
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(bytes), size);
  const std::string_view compression = compression_of(input);
  if (compression.empty()) return 0;
  const Outcome large = unpacked(input, compression, 1 << 20, most_output);
  const Outcome small = unpacked(input, compression, 13, 97);
  require(large.error.empty() == small.error.empty());
  if (!large.error.empty()) {
    // How much is given before an error depends on how much was asked for at once; what it is does not.
    require(large.content.starts_with(small.content) || small.content.starts_with(large.content));
    return 0;
  }
  require(large == small);
  // xz at its usual level takes long to set up: it has its turn with small contents only.
  constexpr std::size_t large_for_xz = 1000;
  if (compression == "xz" && large.content.size() > large_for_xz) return 0;
  require(unpacked(packed(large.content, compression), compression, 1 << 20, most_output) == large);
  return 0;
}
