#include "fenchel/base/duo.hpp"

#include <thread>

#include "fenchel/base/clock.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace fenchel {
namespace {

// Which processor this thread runs on; -1 where nobody says.
int present_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// Linux may start a thread beside the one that started it, and leave both there for dozens of milliseconds while another processor is idle:
// threads that wait for each other all the time look as if they were one. Here this thread leaves it to the other one.
void leave_processor([[maybe_unused]] int taken) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (taken < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  CPU_CLR(taken, &allowed);
  (void)sched_setaffinity(0, sizeof allowed, &allowed);  // where this fails, both share it as before
#endif
}

}  // namespace

Duo::Duo(std::size_t length) {
  for (Side& side : sides_) {
    for (std::vector<double>& message : side.messages) message.resize(length);
  }
}

bool Duo::run(FunctionRef<void(std::size_t)> work) {
  for (Side& side : sides_) {
    side.turn = 0;
    side.waited = 0.0;
    side.sent.store(0, std::memory_order_relaxed);
  }
  const Stopwatch clock;
  std::thread other([&, taken = present_processor()]() noexcept {
    leave_processor(taken);
    work(1);
  });
  [&]() noexcept { work(0); }();
  other.join();
  return sides_[0].waited + sides_[1].waited < 0.5 * clock.seconds();
}

// The other thread does not run now, or not for long: it gets the processor.
void Duo::wait_long(Side& own, const Side& other) {
  const Stopwatch clock;
  while (other.sent.load(std::memory_order_acquire) < own.turn) std::this_thread::yield();
  own.waited += clock.seconds();
}

}  // namespace fenchel
