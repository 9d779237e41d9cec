// Sums over a list of rows, in parallel and with the same bits for any number of threads: a list is cut by its nonzeros
// alone, every piece has an accumulator of its own, and these are merged in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/data/linear_map.hpp"
#include "fenchel/kernel/gram.hpp"

namespace fenchel::solver {

class RowSums {
 public:
  explicit RowSums(const data::Design& design);

  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] double nonzeros() const { return nonzeros_; }  // of all rows
  // Products that sum_i x_i x_i' takes over the list, and those of one product with it.
  [[nodiscard]] double gram_work(kernel::RowList list) const;
  [[nodiscard]] double nonzeros_of(kernel::RowList list) const;

  // A list with where it is to be cut.
  struct Cut {
    std::vector<std::uint32_t> rows;
    std::vector<std::size_t> bounds{0, 0};
    double nonzeros = 0.0;
  };
  // The rows i of a list for which keep(i), cut for sums of vectors.
  template <class Keep>
  void select(kernel::RowList list, Keep&& keep, Cut& cut) const {
    cut.rows.clear();
    for (const std::uint32_t i : list) {
      if (keep(i)) cut.rows.push_back(i);
    }
    bind(cut);
  }
  void bind(Cut& cut) const;  // cuts cut.rows

  // z_i = x_i . v for the rows of the list.
  void margins(kernel::RowList list, std::span<const double> v, std::span<double> z) const;
  void add_rows(const Cut& cut, std::span<const double> h, std::span<double> u);     // u += X'h
  void add_squares(const Cut& cut, std::span<const double> h, std::span<double> u);  // u_j += sum h_i x_ij^2
  // y = X' diag(h) X v
  void product(const Cut& cut, std::span<const double> h, std::span<const double> v, std::span<double> y);
  // lower += X' diag(change) X, the lower triangle, column by column.
  void add_gram(const Cut& cut, std::span<const double> change, std::span<double> lower);

 private:
  template <class Work>
  void sum(std::span<const std::size_t> bounds, std::span<double> result, Work&& work);

  data::Design design_;
  std::size_t dimension_;
  double nonzeros_;
  std::vector<double> scratch_;
};

}  // namespace fenchel::solver
