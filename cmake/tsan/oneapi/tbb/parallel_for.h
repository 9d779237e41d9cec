// Stands in for TBB's header in the thread-sanitizer build only. The sanitizer cannot see how the installed, not
// instrumented libtbb orders its tasks and reports every one of them as a race; the threads below it can see. They
// share no counter, so nothing hides a real race between two iterations. Other TBB algorithms need a stand-in of their
// own before they can be used under the sanitizer.
#pragma once

#include <oneapi/tbb/detail/_namespace_injection.h>

#include <array>
#include <exception>
#include <thread>

namespace tbb {

template <class Index, class Body>
void parallel_for(Index first, Index last, const Body& body) {
  constexpr unsigned workers = 4;
  std::array<std::exception_ptr, workers> failures;
  std::array<std::thread, workers> threads;
  for (unsigned worker = 0; worker < workers; ++worker) {
    threads[worker] = std::thread([&, worker] {
      try {
        unsigned turn = 0;
        for (Index i = first; i < last; ++i, turn = (turn + 1) % workers) {
          if (turn == worker) body(i);
        }
      } catch (...) {
        failures[worker] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace tbb
