// Any bytes at all: the npy reader either refuses them with an Error or gives a well-formed matrix that survives being
// written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fenchel/base/error.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/data/npy.hpp"
#include "tests/fuzz/support.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::data;
using fuzz::require;

void check_shape(const Dataset& data, std::size_t size) {
  fuzz::check_shape(data);
  const auto& dense = std::get<DenseStorage>(data.storage);
  require(dense.column_count > 0 && dense.row_count * dense.column_count <= size && data.targets.empty());
}

void check_round_trip(const Dataset& data) {
  StringSink out;
  write_npy(out, data);
  Source source = Source::of_text(out.text(), "again");
  const Dataset again = read_npy(source, {});
  check_shape(again, out.text().size());
  require(again.rows() == data.rows() && cols(again.matrix()) == cols(data.matrix()));
  require(fuzz::print_of(again) == fuzz::print_of(data));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const Precision precision : {Precision::f64, Precision::f32}) {
    fuzz::refused([&] {
      Source source = Source::of_text(text, "fuzz");
      const Dataset data = read_npy(source, {.precision = precision});
      check_shape(data, size);
      check_round_trip(data);
    });
  }
  fuzz::refused([&] {
    Source source = Source::of_text(text, "fuzz");
    const std::vector<double> numbers = read_npy_vector(source);
    StringSink out;
    write_npy_vector(out, numbers);
    Source written = Source::of_text(out.text(), "again");
    require(read_npy_vector(written) == numbers);
  });
  return 0;
}
