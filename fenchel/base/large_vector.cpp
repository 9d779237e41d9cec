#include "fenchel/base/large_vector.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace fenchel {

std::vector<double> zeros(std::size_t count) {
  constexpr std::size_t large_page = std::size_t{2} << 20;
  constexpr std::size_t bookkeeping =
      64;  // of the allocator, at most: where it maps memory for us alone, whole large pages
  const std::size_t bytes = count * sizeof(double);
  if (bytes < large_page) return std::vector<double>(count);
  std::vector<double> result;
  result.reserve(((bytes + bookkeeping + large_page - 1) / large_page * large_page - bookkeeping) / sizeof(double));
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  // Only pages that are ours alone.
  const auto begin = (reinterpret_cast<std::uintptr_t>(result.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(result.data() + result.capacity()) / page * page;
  ::madvise(reinterpret_cast<void*>(begin), end - begin,
            MADV_HUGEPAGE);  // a wish: refused where there are none; NOLINT(performance-no-int-to-ptr)
  result.resize(count);
  return result;
}

}  // namespace fenchel
