// Stands in for TBB's header in the thread-sanitizer build only: the real one would bring in the real parallel_for.
#pragma once

#include <oneapi/tbb/detail/_namespace_injection.h>

#include <algorithm>

namespace tbb {

template <class Iterator>
void parallel_sort(Iterator begin, Iterator end) {
  std::sort(begin, end);
}
template <class Iterator, class Less>
void parallel_sort(Iterator begin, Iterator end, const Less& less) {
  std::sort(begin, end, less);
}

}  // namespace tbb
