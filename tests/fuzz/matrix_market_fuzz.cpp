// Any bytes at all: the MatrixMarket reader either refuses them with an Error or gives a well-formed matrix that
// survives being written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fenchel/base/error.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/data/matrix_market.hpp"
#include "tests/fuzz/support.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::data;
using fuzz::require;

void check(std::string_view text, const ReadOptions& options) {
  fuzz::refused([&] {
    Source source = Source::of_text(text, "fuzz");
    const Dataset data = read_matrix_market(source, options);
    // A short header may promise millions of empty rows: they are read, but walking over them teaches nothing.
    constexpr std::size_t many = 100000;
    if (data.rows() > many) return;
    fuzz::check_shape(data);
    StringSink out;
    write_matrix_market(out, data);
    Source written = Source::of_text(out.text(), "again");
    const Dataset again = read_matrix_market(written, options);
    require(again.rows() == data.rows() && cols(again.matrix()) == cols(data.matrix()));
    require(again.storage.index() == data.storage.index());
    require(fuzz::print_of(again) == fuzz::print_of(data));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check(text, {});
  check(text, {.precision = Precision::f32});
  return 0;
}
