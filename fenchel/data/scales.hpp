// How far the columns of a matrix spread: what standardization divides them by.
#pragma once

#include <span>
#include <vector>

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

// s_j = sqrt( sum_i c_i (x_ij - m_j)^2 / sum c ),  m_j = sum_i c_i x_ij / sum c,  zeros that are not stored included;
// 1 for a column that is constant on the rows of positive weight. Weights may be empty: all 1. Accurate to a few
// roundings, so that it makes no difference how the matrix is stored; without copies, in one or two passes unless columns
// vary by less than their means are rounded; the same bits whatever the number of threads. Error(Fault::input) where
// a deviation is no positive double.
std::vector<double> column_scales(const Matrix& matrix, std::span<const double> weights = {});

}  // namespace fenchel::data
