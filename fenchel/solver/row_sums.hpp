// Sums over a list of rows, in parallel and with the same bits for any number of threads: a list is cut by its nonzeros
// alone, every piece has an accumulator of its own, and these are merged in order. Outer products of sparse rows are cut by
// the columns of the result instead: no piece needs an accumulator, and how many there are does not matter.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/base/sum.hpp"
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

  // Appends the rows i of a list for which keep(i), in order; keep is called in parallel.
  template <class Keep>
  static void append(kernel::RowList list, Keep&& keep, LargeList& rows) {
    const std::size_t before = rows.size();
    rows.resize(before + list.size());
    std::uint32_t* target = rows.data() + before;
    std::vector<std::size_t> kept((list.size() + rows_in_block - 1) / rows_in_block);
    for_each_block(list.size(), [&](std::size_t begin, std::size_t end) {
      std::size_t place = begin;
      for (std::size_t k = begin; k < end; ++k) {
        target[place] = list[k];
        if (keep(list[k])) ++place;
      }
      kept[begin / rows_in_block] = place - begin;
    });
    std::size_t count = 0;
    for (std::size_t block = 0; block < kept.size(); ++block) {
      const std::uint32_t* first = target + block * rows_in_block;
      if (target + count != first) std::copy(first, first + kept[block], target + count);
      count += kept[block];
    }
    rows.resize(before + count);
  }

  // A list with where it is to be cut.
  struct Cut {
    LargeList rows;
    std::vector<std::size_t> bounds{0, 0};
    double nonzeros = 0.0;
  };
  // The rows i of a list for which keep(i), cut for sums of vectors.
  template <class Keep>
  void select(kernel::RowList list, Keep&& keep, Cut& cut) const {
    cut.rows.clear();
    append(list, keep, cut.rows);
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
  [[nodiscard]] std::vector<kernel::ColumnRange> column_ranges(kernel::RowList list, std::size_t count);
  template <class Work>
  void sum(std::span<const std::size_t> bounds, std::span<double> result, Work&& work);

  data::Design design_;
  std::size_t dimension_;
  double nonzeros_;
  std::vector<double> scratch_;
  std::vector<double> column_work_;  // that outer products have with each column; empty: not known yet
};

}  // namespace fenchel::solver
