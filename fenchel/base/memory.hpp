// How much memory there is for this process.
#pragma once

#include <cstddef>

namespace fenchel {

// The least of the machine's memory, the process's limits (ulimit -d, -v) and that of its control group, in bytes. What
// others use of it is not counted.
[[nodiscard]] std::size_t usable_memory();

}  // namespace fenchel
