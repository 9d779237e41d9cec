#include "fenchel/data/scales.hpp"

#include <cmath>

#include <oneapi/tbb/parallel_for.h>

#include "fenchel/base/sum.hpp"
#include "fenchel/data/linear_map.hpp"

namespace fenchel::data {

namespace {

struct Deviation {
  double weight = 0.0;  // of the stored entries
  double square = 0.0;  // weighted, around the mean
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
            m.row(i).for_each([&](std::size_t j, double x) {
              own[j].weight += c;
              own[j].square += c * (x - means[j]) * (x - means[j]);
            });
          }
        });
      },
      matrix);
  for (std::size_t slab = 1; slab < count; ++slab) {
    for (std::size_t j = 0; j < d; ++j) {
      sums[j].weight += sums[slab * d + j].weight;
      sums[j].square += sums[slab * d + j].square;
    }
  }
  sums.resize(d);
  return sums;
}

}  // namespace

std::vector<double> column_scales(const Matrix& matrix, std::span<const double> weights) {
  // The mean of a constant column is off by its rounding, and so is the spread around it.
  constexpr double rounding = 1e-13;
  const std::size_t d = cols(matrix);
  const std::vector<double> ones(weights.empty() ? rows(matrix) : 0, 1.0);
  const std::span<const double> c = weights.empty() ? std::span<const double>(ones) : weights;
  CompensatedSum sum;
  for (const double weight : c) sum.add(weight);
  const double total = sum.total();

  std::vector<double> means(d);
  LinearMap(Design{.matrix = matrix}).adjoint(c, means);
  for (double& mean : means) mean /= total;
  const std::vector<Deviation> spread = deviations(matrix, weights, means);
  std::vector<double> scales(d);
  for (std::size_t j = 0; j < d; ++j) {
    const double missing = std::max(total - spread[j].weight, 0.0);  // of the zeros that are not stored
    const double scale = std::sqrt((spread[j].square + missing * means[j] * means[j]) / total);
    scales[j] = std::isfinite(scale) && scale > rounding * std::fabs(means[j]) ? scale : 1.0;
  }
  return scales;
}

}  // namespace fenchel::data
