// Any bytes at all: the MatrixMarket reader either refuses them with an Error or gives a well-formed matrix that
// survives being written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fenchel/base/error.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/data/matrix_market.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::data;

void require(bool condition) {
  if (!condition) std::abort();
}

Fingerprint print_of(const Dataset& data) {
  return fingerprint(data.matrix(), std::vector<double>(data.rows(), 0.0));
}

void check_storage(const CsrStorage& csr) {
  require(csr.offsets.size() >= 2 && csr.offsets.front() == 0 && csr.offsets.back() == csr.columns.size());
  for (std::size_t i = 0; i + 1 < csr.offsets.size(); ++i) {
    require(csr.offsets[i] <= csr.offsets[i + 1]);
    for (std::uint64_t k = csr.offsets[i]; k < csr.offsets[i + 1]; ++k) {
      require(csr.columns[k] < csr.column_count);
      require(k == csr.offsets[i] || csr.columns[k - 1] < csr.columns[k]);
    }
  }
  std::visit(
      [&](const auto& values) {
        require(values.size() == csr.columns.size());
        for (const auto value : values) require(std::isfinite(value) && value != 0);
      },
      csr.values);
}

void check_storage(const DenseStorage& dense) {
  std::visit(
      [&](const auto& values) {
        require(!values.empty() && values.size() == dense.row_count * dense.column_count);
        for (const auto value : values) require(std::isfinite(value));
      },
      dense.values);
}

void check(std::string_view text, const ReadOptions& options) {
  try {
    Source source = Source::of_text(text, "fuzz");
    const Dataset data = read_matrix_market(source, options);
    // A short header may promise millions of empty rows: they are read, but walking over them teaches nothing.
    constexpr std::size_t many = 100000;
    if (data.rows() > many) return;
    std::visit([](const auto& storage) { check_storage(storage); }, data.storage);
    StringSink out;
    write_matrix_market(out, data);
    Source written = Source::of_text(out.text(), "again");
    const Dataset again = read_matrix_market(written, options);
    require(again.rows() == data.rows() && cols(again.matrix()) == cols(data.matrix()));
    require(again.storage.index() == data.storage.index());
    require(print_of(again) == print_of(data));
  } catch (const Error& error) {
    // A refusal is fine, but only of the input, and it must name the file.
    require(error.fault() == Fault::input && std::string_view(error.what()).starts_with("fuzz:"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check(text, {});
  check(text, {.precision = Precision::f32});
  return 0;
}
