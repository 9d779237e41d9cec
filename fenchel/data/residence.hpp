// Where the numbers of a matrix lie, for those who care whether they fit into memory.
#pragma once

#include <cstddef>

#include "fenchel/data/matrix.hpp"

namespace fenchel::data {

// All bytes of the matrix.
[[nodiscard]] std::size_t bytes_of(const Matrix& matrix);

// Whether the bytes are those of a mapped file, which the system may drop and read again.
[[nodiscard]] bool is_mapped(const Matrix& matrix);

// A hint that rows [first, last) of a mapped matrix are used soon: the disk may begin to read them.
void will_need(const Matrix& matrix, std::size_t first, std::size_t last);

}  // namespace fenchel::data
