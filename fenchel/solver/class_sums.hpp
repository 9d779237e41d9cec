// The products Z = X V and U = X'A for k classes, in parallel and with the same bits for any number of threads. V and U hold the
// numbers of a feature side by side, Z and A those of a row, all padded to `stride` of them; what pads is 0 in V and A, and so
// in the results.
//
// X'A: where rows are many against columns, pieces of them have accumulators of their own, merged in order. Otherwise every
// piece is a range of columns, which nobody else writes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/parallel.hpp"
#include "fenchel/data/linear_map.hpp"

namespace fenchel::solver {

class ClassSums {
 public:
  // Of the listed rows.
  ClassSums(const data::Design& design, std::size_t classes, std::vector<std::uint32_t> rows);

  [[nodiscard]] std::size_t dimension() const { return design_.cols(); }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] std::span<const std::uint32_t> rows() const { return rows_; }

  void select(std::vector<std::uint32_t> rows);  // another list

  void margins(std::span<const double> v, std::span<double> z) const;
  void adjoint(std::span<const double> a, std::span<double> u);
  void squares(std::span<const double> a, std::span<double> u);  // the same with x_ij^2
  // Both, one after the other: z = X v, then change(i) for every row, which may change z_i, then u = X'z.
  void normal_product(std::span<const double> v, FunctionRef<void(std::size_t)> change, std::span<double> z,
                      std::span<double> u);

 private:
  template <class Row>
  void score(std::size_t i, const Row& row, std::span<const double> v, std::span<double> z) const;
  void for_each_row(FunctionRef<void(std::size_t)> visit) const;  // in parallel
  // add(i, row, u) adds row i, or a range of its columns, to what belongs to these.
  template <class Add>
  void accumulate(std::span<const double> a, std::span<double> u, double constant, Add&& add);

  data::Design design_;
  std::size_t stride_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::size_t> pieces_;  // of the list, with accumulators; a single one: cut by columns
  std::vector<std::size_t> ranges_;  // of columns, with about as many entries each
  std::vector<double> scratch_;
};

}  // namespace fenchel::solver
