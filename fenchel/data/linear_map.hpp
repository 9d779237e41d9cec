// The two products with the data, z = X w + b and u = X' beta, plain for solvers and with error bounds for
// certificates. Results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/data/column_bands.hpp"
#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

// The matrix as the problem sees it: its columns and, for a regularized bias, one more of a constant value.
struct Design {
  Matrix matrix;
  double constant = 0.0;  // 0: no constant column

  [[nodiscard]] std::size_t rows() const { return data::rows(matrix); }
  [[nodiscard]] std::size_t cols() const { return data::cols(matrix) + (constant != 0.0 ? 1 : 0); }
};

// Boundaries of the slabs of rows that X' beta is summed in: a few with about equally many nonzeros each, as many as pay
// for an accumulator of their own.
std::vector<std::size_t> accumulation_slabs(const Matrix& matrix);

class LinearMap {
 public:
  explicit LinearMap(const Design& design);

  [[nodiscard]] const Design& design() const { return design_; }
  [[nodiscard]] std::size_t rows() const { return design_.rows(); }
  [[nodiscard]] std::size_t cols() const { return design_.cols(); }

  // z_i = x_i . w
  void margins(std::span<const double> w, std::span<double> z) const;
  // The same, with |exact - z_i| <= error_i.
  void margins(std::span<const double> w, std::span<double> z, std::span<double> error) const;
  // u = X' beta
  void adjoint(std::span<const double> beta, std::span<double> u);
  // Both, in one pass over the data unless it is so wide or so small that two are faster: z = X w, and u = X' beta for a
  // beta that is made of z. make(begin, end) fills the entries of beta for a range of rows whose margins stand in z; many
  // threads may call it, in any order. The same bits as margins() and adjoint() one after the other; returns the passes.
  double margins_and_adjoint(std::span<const double> w, std::span<double> z,
                             const std::function<void(std::size_t begin, std::size_t end)>& make,
                             std::span<const double> beta, std::span<double> u);
  // The same, with magnitude_j = sum_i |x_ij beta_i| as computed; |exact - u_j| <= adjoint_error(magnitude_j).
  void adjoint(std::span<const double> beta, std::span<double> u, std::span<double> magnitude) const;
  [[nodiscard]] double adjoint_error(double magnitude) const;
  // norm_i = sum_j x_ij^2 scale_j, or plain squared norms where scale is empty.
  [[nodiscard]] LargeVector row_square_norms(std::span<const double> scale) const;
  void row_square_norms(std::span<const double> scale, std::span<double> norms) const;
  // sum_j |x_ij|
  [[nodiscard]] LargeVector row_absolute_sums() const;

 private:
  // Calls work(rows, begin, end) for all pieces of rows, in parallel.
  template <class Work>
  void for_each_piece(const Work& work) const;
  // Calls fill(rows, crossings, first, last) for `count` runs of equally many bands of columns, in parallel.
  template <class Fill>
  void for_each_band(std::size_t count, const Fill& fill) const;
  [[nodiscard]] bool banded() const;

  Design design_;
  std::vector<std::size_t> slabs_;        // row boundaries of the private accumulators of X' beta with magnitudes
  std::vector<std::size_t> plain_slabs_;  // and without
  std::vector<std::size_t> pieces_;       // of rows, for what has a result a row
  std::vector<double> scratch_;
  ColumnBands bands_;           // that X' beta is summed in where that is better than slabs
  double adjoint_gamma_ = 0.0;  // relative to the magnitudes
};

}  // namespace fenchel::data
