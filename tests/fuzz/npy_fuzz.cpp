// Any bytes at all: the npy reader either refuses them with an Error or gives a well-formed matrix that survives being
// written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fenchel/base/error.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/data/npy.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::data;

void require(bool condition) {
  if (!condition) std::abort();
}

Fingerprint print_of(const Dataset& data) {
  return fingerprint(data.matrix(), std::vector<double>(data.rows(), 0.0));
}

void check_shape(const Dataset& data, std::size_t size) {
  const auto& dense = std::get<DenseStorage>(data.storage);
  require(dense.row_count > 0 && dense.column_count > 0 && data.targets.empty());
  std::visit(
      [&](const auto& values) {
        require(values.size() == dense.row_count * dense.column_count && values.size() <= size);
        for (const auto value : values) require(std::isfinite(value));
      },
      dense.values);
}

void check_round_trip(const Dataset& data) {
  StringSink out;
  write_npy(out, data);
  Source source = Source::of_text(out.text(), "again");
  const Dataset again = read_npy(source, {});
  check_shape(again, out.text().size());
  require(again.rows() == data.rows() && cols(again.matrix()) == cols(data.matrix()));
  require(print_of(again) == print_of(data));
}

template <class Work>
void refusing(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    // A refusal is fine, but only of the input, and it must name the file.
    require(error.fault() == Fault::input && std::string_view(error.what()).starts_with("fuzz: "));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const Precision precision : {Precision::f64, Precision::f32}) {
    refusing([&] {
      Source source = Source::of_text(text, "fuzz");
      const Dataset data = read_npy(source, {.precision = precision});
      check_shape(data, size);
      check_round_trip(data);
    });
  }
  refusing([&] {
    Source source = Source::of_text(text, "fuzz");
    const std::vector<double> numbers = read_npy_vector(source);
    StringSink out;
    write_npy_vector(out, numbers);
    Source written = Source::of_text(out.text(), "again");
    require(read_npy_vector(written) == numbers);
  });
  return 0;
}
