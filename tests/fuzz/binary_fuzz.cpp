// Any bytes at all, as they are and with their checksums made right: the reader of the binary form refuses them, or
// a pass over them does, or they are a data set that survives being written and read again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fenchel/base/error.hpp"
#include "fenchel/data/binary.hpp"
#include "fenchel/data/columns.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "tests/fuzz/support.hpp"
#include "tests/support/binary_repair.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::data;
using fuzz::refused, fuzz::require;

// Rows ascend, stay inside the matrix and hold proper numbers, whatever the bytes.
void walk_rows(const Dataset& data) {
  const std::size_t d = cols(data.matrix());
  std::visit(
      [&](const auto& m) {
        for (std::size_t i = 0; i < m.rows(); ++i) {
          std::size_t next = 0;
          m.row(i).for_each([&](std::size_t j, double x) {
            require(j >= next && j < d && std::isfinite(x));
            next = j + 1;
          });
        }
      },
      data.matrix());
}

void walk_columns(const ColumnMatrix& matrix) {
  std::visit(
      [](const auto& m) {
        for (std::size_t j = 0; j < m.cols(); ++j) {
          std::size_t next = 0;
          m.column(j).for_each([&](std::size_t i, double x) {
            require(i >= next && i < m.rows() && std::isfinite(x) && x != 0.0);
            next = i + 1;
          });
        }
      },
      matrix);
}

std::string stored(const Dataset& data, bool columns) {
  StringSink sink;
  write_binary(sink, data, {.columns = columns});
  return sink.text();
}

void check(std::string_view text, Precision precision) {
  Dataset data;
  const auto open = [&] {
    Source source = Source::of_text(text, "fuzz");
    data = read_binary(source, {.precision = precision});
  };
  if (refused(open)) return;
  // Labels are checked when they are first looked at.
  bool bad = refused([&] {
    for (const double y : data.targets) require(std::isfinite(y));
  });
  // A sparse matrix of two thousand million columns may be well-formed, but its columns are not walked through here.
  constexpr std::size_t most_columns = 100000;
  const bool narrow = cols(data.matrix()) <= most_columns;
  bad = refused([&] { walk_rows(data); }) || bad;
  if (narrow) bad = refused([&] { walk_columns(columns_of(data).matrix()); }) || bad;
  const bool damaged = refused([&] { verify(data); });
  require(damaged || !bad);
  if (damaged) return;
  const std::string again = stored(data, narrow && text.size() % 2 == 0);
  Source source = Source::of_text(again, "fuzz");
  const Dataset copy = read_binary(source, {});
  verify(copy);
  require(copy.targets == data.targets && copy.query == data.query && copy.index_base == data.index_base);
  require(copy.precision == data.precision && cols(copy.matrix()) == cols(data.matrix()));
  if (data.targets.size() == data.rows()) {
    require(fingerprint(copy.matrix(), copy.targets) == fingerprint(data.matrix(), data.targets));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(bytes), size);
  check(text, Precision::f64);
  fenchel::test::repair_header(text);
  check(text, Precision::f64);
  fenchel::test::repair(text);
  check(text, Precision::f64);
  check(text, Precision::f32);
  return 0;
}
