#include "fenchel/data/class_map.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/base/rounding.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::data {
namespace {

// Classes that one thread takes together in X' A: a cache line of them.
constexpr std::size_t classes_in_chunk = 8;

// Blocks of rows that are worth a task of their own, however few rows there are.
template <class Work>
void for_each_row_block(std::size_t rows, Work&& work) {
  constexpr std::size_t block = 256;
  parallel_for((rows + block - 1) / block,
               [&](std::size_t k) { work(k * block, std::min(rows, (k + 1) * block)); });
}

// Calls visit(j, x) for every entry of the row and for the constant column.
template <class Row, class Visit>
void for_each_entry(const Row& row, const Design& design, Visit&& visit) {
  row.for_each(visit);
  if (design.constant != 0.0) visit(design.cols() - 1, design.constant);
}

double largest_magnitude(const double* values, std::size_t count) {
  double largest = 0.0;
  for (std::size_t l = 0; l < count; ++l) largest = std::max(largest, std::fabs(values[l]));
  return largest;
}

// Of every feature's weights.
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
  const LargeVector largest = largest_magnitudes(w, classes_);
  std::visit(
      [&](const auto& m) {
        for_each_row_block(m.rows(), [&](std::size_t begin, std::size_t end) {
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
        for_each_row_block(m.rows(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            score_all(m.row(i), design_, w.data(), classes_, z.data() + i * classes_);
          }
        });
      },
      design_.matrix);
}

void ClassMap::adjoint(std::span<const double> a, std::span<double> u) const {
  const std::size_t k = classes_;
  const std::size_t chunks = (k + classes_in_chunk - 1) / classes_in_chunk;
  // By itself: in the loop below several threads would ask for each page of new memory at once.
  for_each_block(u.size(), [&](std::size_t begin, std::size_t end) {
    std::fill(u.begin() + static_cast<std::ptrdiff_t>(begin), u.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
  });
  std::visit(
      [&](const auto& m) {
        parallel_for(chunks, [&](std::size_t chunk) {
          const std::size_t first = chunk * classes_in_chunk;
          const std::size_t count = std::min(classes_in_chunk, k - first);
          for (std::size_t i = 0; i < m.rows(); ++i) {
            const double* const factors = a.data() + i * k + first;
            if (largest_magnitude(factors, count) == 0.0) continue;
            for_each_entry(m.row(i), design_, [&](std::size_t j, double x) {
              double* const sums = u.data() + j * k + first;
              for (std::size_t l = 0; l < count; ++l) sums[l] += x * factors[l];
            });
          }
        });
      },
      design_.matrix);
}

std::vector<double> ClassMap::adjoint_error(std::span<const double> a) const {
  std::vector<double> bound(cols(), 0.0);
  std::visit(
      [&](const auto& m) {
        for (std::size_t i = 0; i < m.rows(); ++i) {
          const double largest = largest_magnitude(a.data() + i * classes_, classes_);
          if (largest == 0.0) continue;
          for_each_entry(m.row(i), design_, [&](std::size_t j, double x) { bound[j] += std::fabs(x) * largest; });
        }
      },
      design_.matrix);
  const auto terms = static_cast<double>(rows());
  const double relative = gamma_bound(terms + 6);
  for (double& b : bound) {
    if (b != 0.0) b = widen(relative * b * (1.0 + relative), 4) + underflow_of_a_sum;
  }
  return bound;
}

}  // namespace fenchel::data
