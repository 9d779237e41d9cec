// How far the columns of a matrix spread: what standardization divides them by.
#pragma once

#include <span>
#include <vector>

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

// s_j = sqrt( sum_i c_i (x_ij - m_j)^2 / sum c ),  m_j = sum_i c_i x_ij / sum c,  zeros that are not stored included;
// 1 for a column that is constant. Weights may be empty: all 1. In two passes, without copies, and the same bits
// whatever the number of threads. Error(Fault::input) where a deviation is no positive double.
std::vector<double> column_scales(const Matrix& matrix, std::span<const double> weights = {});

}  // namespace fenchel::data
