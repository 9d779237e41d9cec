#include "fenchel/data/scales.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/interval.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/linear_map.hpp"

namespace fenchel::data {

namespace {

// The stored entries of a column, around its mean.
struct Deviation {
  std::uint64_t count = 0;  // those of positive weight, as below
  double weight = 0.0;
  double drift = 0.0;  // sum c (x - m), which makes up for the rounding of m
  double square = 0.0;
  double low = infinity;
  double high = -infinity;

  void add(double c, double x, double mean) {
    if (c == 0.0) return;
    ++count;
    weight += c;
    drift += c * (x - mean);
    square += c * (x - mean) * (x - mean);
    low = std::min(low, x);
    high = std::max(high, x);
  }
  void add(const Deviation& other) {
    count += other.count;
    weight += other.weight;
    drift += other.drift;
    square += other.square;
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};

// Every slab of rows has sums of its own; they are added up in order.
std::vector<Deviation> deviations(const Matrix& matrix, std::span<const double> weights,
                                  std::span<const double> means) {
  const std::size_t d = means.size();
  const std::vector<std::size_t> slabs = accumulation_slabs(matrix);
  const std::size_t count = slabs.size() - 1;
  std::vector<Deviation> sums(d * count);
  std::visit(
      [&](const auto& m) {
        oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t slab) {
          const std::span<Deviation> own = std::span(sums).subspan(slab * d, d);
          for (std::size_t i = slabs[slab]; i < slabs[slab + 1]; ++i) {
            const double c = weights.empty() ? 1.0 : weights[i];
            m.row(i).for_each([&](std::size_t j, double x) { own[j].add(c, x, means[j]); });
          }
        });
      },
      matrix);
  for (std::size_t slab = 1; slab < count; ++slab) {
    for (std::size_t j = 0; j < d; ++j) sums[j].add(sums[slab * d + j]);
  }
  sums.resize(d);
  return sums;
}

}  // namespace

std::vector<double> column_scales(const Matrix& matrix, std::span<const double> weights) {
  const std::size_t d = cols(matrix);
  const std::vector<double> ones(weights.empty() ? rows(matrix) : 0, 1.0);
  const std::span<const double> c = weights.empty() ? std::span<const double>(ones) : weights;
  CompensatedSum sum;
  for (const double weight : c) sum.add(weight);
  const double total = sum.total();
  const auto rows_that_count =
      static_cast<std::uint64_t>(std::ranges::count_if(c, [](double w) { return w > 0.0; }));

  std::vector<double> means(d);
  LinearMap(Design{.matrix = matrix}).adjoint(c, means);
  for (double& mean : means) mean /= total;
  const std::vector<Deviation> found = deviations(matrix, weights, means);
  std::vector<double> scales(d, 1.0);
  for (std::size_t j = 0; j < d; ++j) {
    Deviation column = found[j];
    if (column.count < rows_that_count)
      column.add(std::max(total - column.weight, 0.0), 0.0, means[j]);  // not stored
    if (!(column.low < column.high)) continue;
    scales[j] = std::sqrt(std::max(column.square - column.drift * column.drift / total, 0.0) / total);
    if (!(std::isfinite(scales[j]) && scales[j] > 0.0)) {
      throw Error(Fault::input,
                  fmt::format("the deviation of feature {} (counted from 1), whose values reach from {} to {}, "
                              "is out of the range of doubles: rescale it",
                              j + 1, column.low, column.high));
    }
  }
  return scales;
}

}  // namespace fenchel::data
