#include "fenchel/base/parallel.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace fenchel {

void parallel_for(std::size_t count, FunctionRef<void(std::size_t)> turn) {
  if (count == 0) return;
  if (count == 1) return turn(0);
  oneapi::tbb::parallel_for(std::size_t{0}, count, [&](std::size_t k) { turn(k); });
}

void isolated(FunctionRef<void()> work) {
  oneapi::tbb::this_task_arena::isolate([&] { work(); });
}

std::size_t threads() {
  return oneapi::tbb::global_control::active_value(oneapi::tbb::global_control::max_allowed_parallelism);
}

}  // namespace fenchel
