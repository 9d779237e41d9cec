// The products Z = X V and U = X'A for k classes over chosen rows, and for each of them over chosen classes, in parallel and
// with the same bits for any number of threads. V and U hold the numbers of a feature side by side, Z and A those of a row, all
// padded to `stride` of them; what pads is 0 in V and A, and so in the results.
//
// X'A: where rows are many against columns, pieces of the list have accumulators of their own, merged in order. Otherwise
// every piece is a range of columns, which nobody else writes to.
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
  ClassSums(const data::Design& design, std::size_t classes);

  [[nodiscard]] std::size_t dimension() const { return design_.cols(); }
  [[nodiscard]] std::size_t stride() const { return stride_; }

  // Rows, and the classes that matter for each.
  struct Cut {
    std::vector<std::uint32_t> rows;
    std::vector<std::size_t> first;      // where in `classes` those of a row begin; empty: all matter
    std::vector<std::uint32_t> classes;  // ascending for every row
    std::vector<std::size_t> bounds;     // pieces of the list with accumulators; one piece: cut by columns
    double passes = 0.0;                 // that a product takes

    [[nodiscard]] std::span<const std::uint32_t> classes_of(std::size_t n) const {
      return std::span(classes).subspan(first[n], first[n + 1] - first[n]);
    }
  };
  // The rows with an entry that is not 0 in `values`, which lie like Z; where `sparse`, with the classes of these entries.
  [[nodiscard]] Cut select(std::span<const double> values, bool sparse) const;

  void margins(const Cut& cut, std::span<const double> v, std::span<double> z) const;  // entries of the cut only
  void adjoint(const Cut& cut, std::span<const double> a, std::span<double> u);        // a is 0 outside the cut
  // Both, one after the other: z = X v, then change(i) for every row of the cut, which may change z_i, then u = X'z.
  void normal_product(const Cut& cut, std::span<const double> v, FunctionRef<void(std::size_t)> change,
                      std::span<double> z, std::span<double> u);
  void squares(const Cut& cut, std::span<const double> a, std::span<double> u);  // the same for x_ij^2

 private:
  void balance(Cut& cut) const;
  template <class Row>
  void score(const Cut& cut, std::size_t n, const Row& row, std::span<const double> v, std::span<double> z) const;
  template <class Row>
  void add(const Cut& cut, std::size_t n, const Row& row, std::span<const double> a, double* u) const;
  [[nodiscard]] bool listed(const Cut& cut, std::size_t n) const;
  // add(n, row, u) adds row n of the cut, or a range of its columns, to what belongs to these.
  template <class Add>
  void accumulate(const Cut& cut, std::span<const double> a, std::span<double> u, double constant, Add&& add);

  data::Design design_;
  std::size_t classes_;
  std::size_t stride_;
  std::vector<std::size_t> ranges_;  // of columns, with about as many entries each
  std::vector<double> scratch_;
};

}  // namespace fenchel::solver
