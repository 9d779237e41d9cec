#include "fenchel/base/duo.hpp"

#include <thread>

#include "fenchel/base/clock.hpp"

namespace fenchel {

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
  std::thread other([&]() noexcept { work(1); });
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
