// A stand-in for oneTBB's pipeline of three filters (serial, parallel, serial) under the thread sanitizer, which would
// take the packaged library's own synchronisation for races: tokens go through in batches, and the parallel filter
// runs on one plain thread a token.
#pragma once

#include <oneapi/tbb/detail/_namespace_injection.h>

#include <cstddef>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace tbb {

enum class filter_mode { parallel, serial_in_order };

class flow_control {
 public:
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  bool stopped_ = false;
};

template <class Body>
struct StandInFilter {
  Body body;
};
template <class First, class Second>
struct StandInPair {
  First first;
  Second second;
};
template <class First, class Second, class Third>
struct StandInChain {
  First first;
  Second second;
  Third third;
};

template <class In, class Out, class Body>
StandInFilter<Body> make_filter(filter_mode /*mode*/, const Body& body) {
  return {body};
}
template <class A, class B>
StandInPair<A, B> operator&(const StandInFilter<A>& a, const StandInFilter<B>& b) {
  return {a.body, b.body};
}
template <class A, class B, class C>
StandInChain<A, B, C> operator&(const StandInPair<A, B>& ab, const StandInFilter<C>& c) {
  return {ab.first, ab.second, c.body};
}

template <class A, class B, class C>
void parallel_pipeline(std::size_t tokens, const StandInChain<A, B, C>& chain) {
  flow_control control;
  while (!control.stopped()) {
    std::vector<decltype(chain.first(control))> batch;
    while (batch.size() < tokens) {
      auto token = chain.first(control);
      if (control.stopped()) break;
      batch.push_back(std::move(token));
    }
    std::vector<decltype(chain.second(batch.front()))> done(batch.size());
    std::vector<std::exception_ptr> failures(batch.size());
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < batch.size(); ++k) {
      threads.emplace_back([&, k] {
        try {
          done[k] = chain.second(batch[k]);
        } catch (...) {
          failures[k] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t k = 0; k < batch.size(); ++k) {
      if (failures[k]) std::rethrow_exception(failures[k]);
      chain.third(done[k]);
    }
  }
}

}  // namespace tbb
