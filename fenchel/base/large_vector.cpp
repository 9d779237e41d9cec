#include "fenchel/base/large_vector.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace fenchel {

void wish_for_large_pages(void* memory, std::size_t bytes) noexcept {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  ::madvise(memory, (bytes + page - 1) / page * page, MADV_HUGEPAGE);
}

}  // namespace fenchel
