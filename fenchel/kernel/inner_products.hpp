// lower = X diag(h) X', the lower triangle: every row, scaled and written out, meets those before it. For few rows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/base/dense.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/data/dot.hpp"
#include "fenchel/data/linear_map.hpp"

namespace fenchel::kernel {

inline void inner_products(const data::Design& design, std::span<const double> h, dense::Matrix& lower) {
  const std::size_t n = design.rows(), d = design.cols();
  const double constant = design.constant != 0.0 ? design.constant * design.constant * h[d - 1] : 0.0;
  std::visit(
      [&](const auto& matrix) {
        parallel_for(n, [&](std::size_t i) {
          std::vector<double> scaled(d, 0.0);
          matrix.row(i).for_each([&](std::size_t j, double x) { scaled[j] = h[j] * x; });
          for (std::size_t k = 0; k <= i; ++k) {
            lower(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) =
                data::dot(matrix.row(k), scaled.data()) + constant;
          }
        });
      },
      design.matrix);
}

}  // namespace fenchel::kernel
