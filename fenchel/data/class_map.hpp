// The products of linear_map.hpp for k outputs at once, Z = X W and U = X' A, so that the data are read once for all of them.
// W and U hold the k numbers of a feature side by side, Z and A those of a row. Results do not depend on the number of
// threads: a row, or a band of columns, is summed by one of them, in order.
#pragma once

#include <cstddef>
#include <span>

#include "fenchel/data/linear_map.hpp"

namespace fenchel::data {

class ClassMap {
 public:
  ClassMap(const Design& design, std::size_t classes) : design_(design), classes_(classes) {}

  [[nodiscard]] std::size_t rows() const { return design_.rows(); }
  [[nodiscard]] std::size_t cols() const { return design_.cols(); }
  [[nodiscard]] std::size_t classes() const { return classes_; }

  // z_il = x_i . w_l
  void margins(std::span<const double> w, std::span<double> z) const;
  // The same, with |exact - z_il| <= error_i for every l.
  void margins(std::span<const double> w, std::span<double> z, std::span<double> error) const;
  // u_jl = sum_i x_ij a_il
  void adjoint(std::span<const double> a, std::span<double> u) const;
  // The same, with |exact - u_jl| <= error_j for every l where the entries of `a` are known to two roundings. 0 only where u_j is
  // exactly 0.
  void adjoint(std::span<const double> a, std::span<double> u, std::span<double> error) const;

 private:
  void sum_bands(std::span<const double> a, std::span<double> u, std::span<double> magnitudes) const;

  Design design_;
  std::size_t classes_;
};

}  // namespace fenchel::data
