// Where to cut the entries of rows for kernel/feature_halves.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "fenchel/data/matrix.hpp"

namespace fenchel::solver {

// How many entries of each row belong to the first features, as many of these as have half of all entries. Empty for dense rows.
std::vector<std::uint32_t> feature_splits(const data::Matrix& matrix);

}  // namespace fenchel::solver
