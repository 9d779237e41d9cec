// How rows that stand next to each other compare with any two.
#pragma once

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

// Whether neighbours are clearly more alike than any two rows, as in data sorted or recorded over time. A sample of rows decides;
// data of few rows count as alike.
[[nodiscard]] bool neighbours_are_alike(const Matrix& matrix);

}  // namespace fenchel::data
