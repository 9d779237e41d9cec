// Vectors as long as the data have rows.
#pragma once

#include <cstddef>
#include <vector>

namespace fenchel {

// So many zeros. From a few megabytes on, the system is asked for large pages: fetching small ones, each for itself, takes longer
// than a pass over the data that the vector is made for.
[[nodiscard]] std::vector<double> zeros(std::size_t count);

}  // namespace fenchel
