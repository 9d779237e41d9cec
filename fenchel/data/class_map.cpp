#include "fenchel/data/class_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/base/rounding.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/base/zeros.hpp"
#include "fenchel/data/column_ranges.hpp"

namespace fenchel::data {
namespace {

constexpr double smallest_normal = std::numeric_limits<double>::min();
// All bands of columns go through so many entries before any goes on: data that are larger than memory are read once, and the sums
// of a band leave a core's cache seldom.
constexpr std::size_t entries_in_slab = 1 << 23;

// Bands of columns in X' A. Smaller ones stay near the thread that sums them up, but each goes through all of A, where a number takes a
// fourth as long as one of X: so many at most while that is the smaller part, and one a thread in any case.
std::size_t bands_for(const Matrix& matrix, std::size_t classes) {
  constexpr std::size_t most_bands = 8, least_columns = 4;
  const std::size_t repaid = 4 * nonzeros(matrix) / (rows(matrix) * classes + 1);
  return std::clamp<std::size_t>(cols(matrix) / least_columns, 1,
                                 std::max(threads(), std::min(most_bands, repaid)));
}

// Calls visit(j, x) for every entry of the row and for the constant column.
template <class Row, class Visit>
void for_each_entry(const Row& row, const Design& design, Visit&& visit) {
  row.for_each(visit);
  if (design.constant != 0.0) visit(design.cols() - 1, design.constant);
}

// Lists the places of the numbers of a row of A that are not 0, unless these are so many that going through the row is the shorter way.
bool list_places(std::span<const double> row, std::vector<std::size_t>& places) {
  places.clear();
  for (std::size_t l = 0; l < row.size() && places.size() <= row.size() / 4; ++l) {
    if (row[l] != 0.0) places.push_back(l);
  }
  return places.size() <= row.size() / 4;
}

double largest_magnitude(const double* values, std::size_t count) {
  double largest = 0.0;
  for (std::size_t l = 0; l < count; ++l) largest = std::max(largest, std::fabs(values[l]));
  return largest;
}

// Of every feature's weights, or of every row of A.
LargeVector largest_magnitudes(std::span<const double> w, std::size_t classes) {
  LargeVector largest(w.size() / classes);
  for_each_block(largest.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) largest[j] = largest_magnitude(w.data() + j * classes, classes);
  });
  return largest;
}

// The products of a row with `Count` classes, whose sums stay in registers.
template <std::size_t Count, class Row>
void score(const Row& row, const Design& design, const double* w, std::size_t classes, double* z) {
  double sums[Count] = {};
  for_each_entry(row, design, [&](std::size_t j, double x) {
    const double* const weights = w + j * classes;
    for (std::size_t l = 0; l < Count; ++l) sums[l] += x * weights[l];
  });
  std::copy_n(sums, Count, z);
}

template <class Row>
void score_all(const Row& row, const Design& design, const double* w, std::size_t classes, double* z) {
  std::size_t l = 0;
  for (; l + 8 <= classes; l += 8) score<8>(row, design, w + l, classes, z + l);
  for (; l + 4 <= classes; l += 4) score<4>(row, design, w + l, classes, z + l);
  for (; l < classes; ++l) score<1>(row, design, w + l, classes, z + l);
}

}  // namespace

void ClassMap::margins(std::span<const double> w, std::span<double> z, std::span<double> error) const {
  if (all_zero(w)) {
    std::ranges::fill(z, 0.0);
    std::ranges::fill(error, 0.0);
    return;
  }
  const LargeVector largest = largest_magnitudes(w, classes_);
  std::visit(
      [&](const auto& m) {
        for_each_block(m.rows(), long_rows_in_block, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const auto row = m.row(i);
            score_all(row, design_, w.data(), classes_, z.data() + i * classes_);
            double terms = 0.0, magnitude = 0.0;  // at least the sum of magnitudes of every class
            for_each_entry(row, design_, [&](std::size_t j, double x) {
              magnitude += std::fabs(x) * largest[j];
              terms += 1.0;
            });
            // As in LinearMap: so many products and sums, in the magnitude too; a product may underflow.
            error[i] = terms == 0.0
                           ? 0.0
                           : widen(gamma_bound(terms + 2) * magnitude * (1.0 + gamma_bound(terms + 2)), 4) +
                                 underflow_of_a_sum;
          }
        });
      },
      design_.matrix);
}

void ClassMap::margins(std::span<const double> w, std::span<double> z) const {
  std::visit(
      [&](const auto& m) {
        for_each_block(m.rows(), long_rows_in_block, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            score_all(m.row(i), design_, w.data(), classes_, z.data() + i * classes_);
          }
        });
      },
      design_.matrix);
}

void ClassMap::adjoint(std::span<const double> a, std::span<double> u) const { sum_bands(a, u, {}); }

void ClassMap::adjoint(std::span<const double> a, std::span<double> u, std::span<double> error) const {
  sum_bands(a, u, error);
  const auto terms = static_cast<double>(rows());
  const double relative = gamma_bound(terms + 6);
  for_each_block(error.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      if (error[j] != 0.0) error[j] = widen(relative * error[j] * (1.0 + relative), 4) + underflow_of_a_sum;
    }
  });
}

// u = X' A, and of every column, where there is room for them, the sum of its magnitudes times the largest of each row of A. How many
// bands there are is nothing that the sums depend on.
void ClassMap::sum_bands(std::span<const double> a, std::span<double> u, std::span<double> magnitudes) const {
  const LargeVector largest = largest_magnitudes(a, classes_);
  std::visit(
      [&](const auto& m) {
        const std::size_t bands = bands_for(design_.matrix, classes_);
        const std::vector<std::size_t> bounds = column_ranges(m, bands);
        const std::size_t slabs = 1 + m.nonzeros() / entries_in_slab;
        const auto sum = [&](std::size_t slab, std::size_t band) {
          const std::size_t first = bounds[band], end = bounds[band + 1];
          const std::size_t last = band + 1 == bands ? cols() : end;  // with the constant column
          if (slab == 0) {
            std::fill_n(u.data() + first * classes_, (last - first) * classes_, 0.0);
            if (!magnitudes.empty()) std::fill_n(magnitudes.data() + first, last - first, 0.0);
          }
          std::vector<std::size_t> places;
          for (std::size_t i = slab * m.rows() / slabs; i < (slab + 1) * m.rows() / slabs; ++i) {
            if (largest[i] == 0.0) continue;
            const std::span<const double> row_factors = a.subspan(i * classes_, classes_);
            const bool few = list_places(row_factors, places);
            const auto [part, skipped] = columns_between(m.row(i), first, end);
            const auto add = [&, before = skipped](std::size_t place, double x) {
              const std::size_t j = before + place;
              double* const sums = u.data() + j * classes_;
              if (few) {
                for (const std::size_t l : places) sums[l] += x * row_factors[l];
              } else {
                for (std::size_t l = 0; l < row_factors.size(); ++l) sums[l] += x * row_factors[l];
              }
              // A product that underflows is not 0.
              if (!magnitudes.empty() && x != 0.0)
                magnitudes[j] += std::max(std::fabs(x) * largest[i], smallest_normal);
            };
            part.for_each(add);
            if (design_.constant != 0.0 && last == cols()) add(last - 1 - skipped, design_.constant);
          }
        };
        for (std::size_t slab = 0; slab < slabs; ++slab) {
          parallel_for(bands, [&](std::size_t band) { sum(slab, band); });
        }
      },
      design_.matrix);
}

}  // namespace fenchel::data
