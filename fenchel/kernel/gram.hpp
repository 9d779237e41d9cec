// Sums over rows that a second-order method needs, templated on storage:
//     G += sum_i h_i x_i x_i'        (scatter_ and panel_outer_products, lower triangle)
//     y += sum_i h_i (x_i . v) x_i   (normal_product, one pass instead of two)
//     u += sum_i h_i x_i,   d_j += sum_i h_i x_ij^2
// Every function adds what a list of rows contributes to an accumulator of its caller's, who cuts the list into pieces.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fenchel/base/dense.hpp"
#include "fenchel/data/dot.hpp"
#include "fenchel/data/matrix.hpp"

namespace fenchel::kernel {

using RowList = std::span<const std::uint32_t>;

// Calls visit(i) for the rows of a list.
template <class Rows, class Visit>
[[gnu::always_inline]] inline void for_each_in(const Rows& rows, RowList list, Visit&& visit) {
  const bool scattered = rows.scattered();
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (scattered && k + data::scattered_ahead < list.size())
      rows.prefetch_scattered(list[k + data::scattered_ahead]);
    visit(list[k]);
  }
}

struct ColumnRange {
  std::size_t begin = 0, end = 0;
};

// A few entries of a row: the triangle of their products is scattered, as far as it lies in the given columns.
template <class Row>
void scatter_outer_product(const Row& row, double h, double constant, ColumnRange range, double* lower,
                           std::size_t d) {
  const std::size_t k = row.nonzeros();
  std::size_t a = 0;
  while (a < k && row.columns[a] < range.begin) ++a;
  for (; a < k && row.columns[a] < range.end; ++a) {
    const std::size_t j = row.columns[a];
    const double hx = h * static_cast<double>(row.values[a]);
    double* column = lower + j * d;
    for (std::size_t b = a; b < k; ++b) column[row.columns[b]] += hx * static_cast<double>(row.values[b]);
    if (constant != 0.0) column[d - 1] += hx * constant;
  }
  if (constant != 0.0 && range.end == d) lower[(d - 1) * d + d - 1] += h * constant * constant;
}

// Rows with many entries: gathered into dense panels of one sign, a matrix product each.
class Panel {
 public:
  Panel(double* lower, std::size_t d, double sign)
      : lower_(lower), sign_(sign), rows_(dense::Matrix::Zero(static_cast<Eigen::Index>(d), width)) {}

  template <class Row>
  void add(const Row& row, double magnitude, double constant) {
    auto target = rows_.col(used_);
    target.setZero();
    const double root = std::sqrt(magnitude);
    row.for_each([&](std::size_t j, double x) { target[static_cast<Eigen::Index>(j)] = root * x; });
    if (constant != 0.0) target[target.size() - 1] = root * constant;
    if (++used_ == width) flush();
  }
  void flush() {
    if (used_ == 0) return;
    dense::add_outer_square(lower_, rows_.leftCols(used_), sign_);
    used_ = 0;
  }

 private:
  static constexpr Eigen::Index width = 64;
  double* lower_;
  double sign_;
  dense::Matrix rows_;
  Eigen::Index used_ = 0;
};

// The same for a list of rows. `change` may have either sign: rows can be taken out of the sum again. `lower` holds d x d
// doubles, column by column.
template <class Rows>
void scatter_outer_products(const Rows& rows, double constant, RowList list, std::span<const double> change,
                            ColumnRange range, double* lower, std::size_t d) {
  for_each_in(rows, list,
              [&](std::uint32_t i) { scatter_outer_product(rows.row(i), change[i], constant, range, lower, d); });
}

template <class Rows>
void panel_outer_products(const Rows& rows, double constant, RowList list, std::span<const double> change,
                          double* lower, std::size_t d) {
  Panel plus(lower, d, 1.0), minus(lower, d, -1.0);
  for (const std::uint32_t i : list)
    (change[i] > 0.0 ? plus : minus).add(rows.row(i), std::fabs(change[i]), constant);
  plus.flush();
  minus.flush();
}

template <class Rows>
void normal_product(const Rows& rows, double constant, RowList list, std::span<const double> h,
                    std::span<const double> v, std::span<double> y) {
  const std::size_t last = y.size() - 1;
  for_each_in(rows, list, [&](std::uint32_t i) {
    const auto row = rows.row(i);
    double z = data::dot(row, v.data());
    if (constant != 0.0) z += constant * v[last];
    const double a = h[i] * z;
    row.for_each([&](std::size_t j, double x) { y[j] += a * x; });
    if (constant != 0.0) y[last] += a * constant;
  });
}

template <class Rows>
void weighted_rows(const Rows& rows, double constant, RowList list, std::span<const double> h,
                   std::span<double> u) {
  for_each_in(rows, list, [&](std::uint32_t i) {
    rows.row(i).for_each([&](std::size_t j, double x) { u[j] += h[i] * x; });
    if (constant != 0.0) u.back() += h[i] * constant;
  });
}

template <class Rows>
void weighted_squares(const Rows& rows, double constant, RowList list, std::span<const double> h,
                      std::span<double> u) {
  for_each_in(rows, list, [&](std::uint32_t i) {
    rows.row(i).for_each([&](std::size_t j, double x) { u[j] += h[i] * x * x; });
    if (constant != 0.0) u.back() += h[i] * constant * constant;
  });
}

}  // namespace fenchel::kernel
