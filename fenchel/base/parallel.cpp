#include "fenchel/base/parallel.hpp"

#include <oneapi/tbb/parallel_for.h>

namespace fenchel {

void parallel_for(std::size_t count, FunctionRef<void(std::size_t)> turn) {
  if (count == 0) return;
  if (count == 1) return turn(0);
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t k) { turn(k); });
}

}  // namespace fenchel
