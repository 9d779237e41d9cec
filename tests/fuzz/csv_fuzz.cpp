// Any bytes at all: the csv reader either refuses them with an Error or gives a well-formed data set, the same from a
// text in memory as from a stream, that survives being written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/data/csv.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "tests/fuzz/support.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::data;
using fuzz::require;

void check_same(const Dataset& a, const Dataset& b) {
  require(a.rows() == b.rows() && cols(a.matrix()) == cols(b.matrix()));
  require(a.targets == b.targets && a.matrix().index() == b.matrix().index());
  const Array<double> zeros = std::vector<double>(a.rows());
  const Array<double>& targets = a.targets.empty() ? zeros : a.targets;
  require(fingerprint(a.matrix(), targets) == fingerprint(b.matrix(), targets));
}

struct Outcome {
  std::optional<Dataset> data;
  std::string error;
};

Outcome read(Source source, const ReadOptions& options, char separator) {
  try {
    return {read_csv(source, options, separator), {}};
  } catch (const Error& error) {
    // Only the input is to blame, unless an option asks for a column.
    require(error.fault() == Fault::input || !options.drop.empty());
    return {{}, error.what()};
  }
}

// A stream costs more than all the rest: only some of the time.
void check_stream(std::string_view text, const ReadOptions& options, char separator, const Outcome& whole) {
  const Outcome streamed = read(test::stream_of(text, "fuzz", 7), options, separator);
  require(whole.error == streamed.error);
  if (whole.data) check_same(*whole.data, *streamed.data);
}

void check(std::string_view text, const ReadOptions& options, char separator) {
  const Outcome whole = read(Source::of_text(text, "fuzz"), options, separator);
  if (text.size() % 8 == 0) check_stream(text, options, separator, whole);
  if (!whole.data) {
    require(whole.error.starts_with("fuzz:") || !options.drop.empty());
    return;
  }
  const Dataset& data = *whole.data;
  fuzz::check_shape(data);
  require(data.query.empty() && data.index_base == 1);
  require(data.targets.size() == (options.label == "none" ? 0 : data.rows()));

  StringSink out;
  write_csv(out, data, separator);
  const ReadOptions again{.precision = data.precision, .label = options.label};
  check_same(data, *read(Source::of_text(out.text(), "again"), again, separator).data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check(text, {}, '\0');
  check(text, {.precision = Precision::f32, .label = "none"}, ',');
  check(text, {.drop = {"1"}}, '\t');
  return 0;
}
