// One measurement of reading, printed as JSON, for bench/data.py:
//     read_probe read FILE THREADS   seconds of data::read from a closed file to a matrix that is ready, and its size
//     read_probe touch FILE THREADS  the same bytes mapped and summed up, once more, and copied: what none can beat
//     read_probe pass FILE THREADS   opening an .fbin, the first pass over all its entries, and a second one
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include "fenchel/base/clock.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/source.hpp"

namespace {

using fenchel::Stopwatch;
namespace data = fenchel::data;

std::size_t bytes_of(const data::Dataset& dataset) {
  const auto size = [](const data::Values& values) {
    return std::visit([](const auto& v) { return v.size() * sizeof(v[0]); }, values);
  };
  std::size_t bytes = 8 * dataset.rows() + 8 * dataset.query.size();
  if (const auto* csr = std::get_if<data::CsrStorage>(&dataset.storage)) {
    return bytes + 8 * csr->offsets.size() + 4 * csr->columns.size() + size(csr->values);
  }
  return bytes + size(std::get<data::DenseStorage>(dataset.storage).values);
}

// Sums up all whole words, in pieces of a mebibyte that threads share.
std::uint64_t sum_of_words(std::string_view bytes) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::atomic<std::uint64_t> total = 0;
  oneapi::tbb::parallel_for(std::size_t{0}, (bytes.size() + piece - 1) / piece, [&](std::size_t k) {
    const std::string_view part = bytes.substr(k * piece, piece);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 8 <= part.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, part.data() + i, 8);
      sum += word;
    }
    total += sum;
  });
  return total;
}

std::string touch(const std::string& path) {
  const Stopwatch clock;
  data::Source source(path);
  volatile std::uint64_t kept = sum_of_words(source.text());
  const double first = clock.seconds();
  const Stopwatch again;
  kept = sum_of_words(source.text());
  static_cast<void>(kept);
  const double second = again.seconds();
  std::vector<char> target(source.text().size());
  const Stopwatch copying;
  std::memcpy(target.data(), source.text().data(), target.size());
  return fmt::format(R"({{"first": {}, "second": {}, "copy": {}}})", first, second, copying.seconds());
}

// Every entry is used: squared norms of all rows.
double pass_over(const data::Dataset& dataset) {
  const Stopwatch clock;
  volatile const double kept = data::LinearMap({.matrix = dataset.matrix()}).row_square_norms({}).back();
  static_cast<void>(kept);
  return clock.seconds();
}

std::string run(std::string_view what, const std::string& path) {
  if (what == "touch") return touch(path);
  const Stopwatch clock;
  const data::Dataset dataset = data::read(path);
  const double read = clock.seconds();
  if (what == "read") {
    return fmt::format(R"({{"read": {}, "rows": {}, "nonzeros": {}, "bytes": {}}})", read, dataset.rows(),
                       data::nonzeros(dataset.matrix()), bytes_of(dataset));
  }
  const double first = pass_over(dataset), second = pass_over(dataset);
  return fmt::format(R"({{"open": {}, "first": {}, "second": {}, "bytes": {}}})", read, first, second,
                     bytes_of(dataset));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fputs("usage: read_probe read|touch|pass FILE THREADS\n", stderr);
    return 2;
  }
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(std::max(1, std::atoi(arguments[3]))));
  try {
    std::puts(run(arguments[1], arguments[2]).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "read_probe: %s\n", error.what());
    return 1;
  }
  return 0;
}
