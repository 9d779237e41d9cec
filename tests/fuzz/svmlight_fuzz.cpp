// Any bytes at all: the svmlight reader either refuses them with an Error or gives a well-formed data set that
// survives being written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fenchel/base/error.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/data/svmlight.hpp"
#include "fenchel/data/writer.hpp"
#include "tests/fuzz/support.hpp"
#include "tests/support/streams.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::data;
using fuzz::require;

void check_shape(const Dataset& data) {
  const auto& csr = std::get<CsrStorage>(data.storage);
  fuzz::check_shape(data);
  require(data.index_base == 0 || data.index_base == 1);
  require(data.query.empty() || data.query.size() == data.rows());
  require(csr.offsets.size() == data.rows() + 1 && csr.columns.size() == nonzeros(data.matrix()));
  require(csr.column_count <= std::size_t{largest_index} + 1);
}

void check_round_trip(const Dataset& data) {
  StringSink out;
  write_svmlight(out, data);
  Source written = Source::of_text(out.text(), "again");
  const Dataset again = read_svmlight(written, {.precision = data.precision});
  check_shape(again);
  require(fingerprint(data.matrix(), data.targets) == fingerprint(again.matrix(), again.targets));
  require(cols(data.matrix()) == cols(again.matrix()));
  require(data.query == again.query);
  require(data.storage.index() == again.storage.index());
  // Without columns there is no index to tell the base by.
  require(data.index_base == again.index_base || cols(data.matrix()) == 0);
}

std::optional<Dataset> parse(Source source, const ReadOptions& options) {
  std::optional<Dataset> data;
  fuzz::refused([&] { data = read_svmlight(source, options); });
  return data;
}

bool same(const std::optional<Dataset>& a, const std::optional<Dataset>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->storage.index() == b->storage.index() && a->query == b->query && a->index_base == b->index_base &&
         cols(a->matrix()) == cols(b->matrix()) &&
         fingerprint(a->matrix(), a->targets) == fingerprint(b->matrix(), b->targets);
}

void check(std::string_view text, const ReadOptions& options) {
  const std::optional<Dataset> data = parse(Source::of_text(text, "fuzz"), options);
  if (data) {
    check_shape(*data);
    if (!options.positive) check_round_trip(*data);
  }
  // With two blanks in place of one no line takes the fast way; as a stream no text takes the way of mapped files.
  std::string wide;
  for (const char c : text) wide.append(c == ' ' ? 2 : 1, c);
  require(same(data, parse(Source::of_text(wide, "fuzz"), options)));
  require(same(data, parse(test::stream_of(text, "fuzz", 7), options)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check(text, {});
  check(text, {.index_base = 0});
  check(text, {.index_base = 1, .precision = Precision::f32});
  check(text, {.positive = 1.0});
  return 0;
}
