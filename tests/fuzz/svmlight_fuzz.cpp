// Any bytes at all: the svmlight reader either refuses them with an Error or gives a well-formed data set that
// survives being written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fenchel/base/error.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/data/svmlight.hpp"
#include "fenchel/data/writer.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::data;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_shape(const Dataset& data) {
  const auto& csr = std::get<CsrStorage>(data.storage);
  require(data.rows() > 0);
  require(data.index_base == 0 || data.index_base == 1);
  require(data.query.empty() || data.query.size() == data.rows());
  require(csr.offsets.size() == data.rows() + 1 && csr.offsets.front() == 0);
  require(csr.offsets.back() == csr.columns.size() && csr.columns.size() == nonzeros(data.matrix()));
  require(csr.column_count <= std::size_t{largest_index} + 1);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    require(csr.offsets[i] <= csr.offsets[i + 1]);
    for (std::uint64_t k = csr.offsets[i]; k < csr.offsets[i + 1]; ++k) {
      require(csr.columns[k] < csr.column_count);
      require(k == csr.offsets[i] || csr.columns[k - 1] < csr.columns[k]);
    }
  }
  for (const double y : data.targets) require(std::isfinite(y));
  std::visit(
      [](const auto& values) {
        for (const auto value : values) require(std::isfinite(value) && value != 0);
      },
      csr.values);
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

void check(std::string_view text, const ReadOptions& options) {
  try {
    Source source = Source::of_text(text, "fuzz");
    const Dataset data = read_svmlight(source, options);
    check_shape(data);
    check_round_trip(data);
  } catch (const Error& error) {
    // A refusal is fine, but only of the input, and it must name the file.
    require(error.fault() == Fault::input && std::string_view(error.what()).starts_with("fuzz:"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check(text, {});
  check(text, {.index_base = 0});
  check(text, {.index_base = 1, .precision = Precision::f32});
  return 0;
}
