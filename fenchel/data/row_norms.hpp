// Squared norms of rows.
#pragma once

#include <cstddef>
#include <span>

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

// norms_i = sum_j x_ij^2 + constant for rows [begin, end), with the same bits on every processor.
void square_norms(const CsrRows<double>& rows, std::size_t begin, std::size_t end, double constant,
                  std::span<double> norms);
void square_norms(const CsrRows<float>& rows, std::size_t begin, std::size_t end, double constant,
                  std::span<double> norms);
void square_norms(const DenseRows<double>& rows, std::size_t begin, std::size_t end, double constant,
                  std::span<double> norms);
void square_norms(const DenseRows<float>& rows, std::size_t begin, std::size_t end, double constant,
                  std::span<double> norms);

}  // namespace fenchel::data
