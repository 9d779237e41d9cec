// Two threads in step: they go through the same turns, and in each of them tell each other what they found. For turns of a few
// microseconds, which are too short for tasks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "fenchel/base/parallel.hpp"

namespace fenchel {

class Duo {
 public:
  // Messages have so many numbers at most. None where the system has no second thread to give, or one processor for both.
  static std::unique_ptr<Duo> start(std::size_t length);
  ~Duo();
  Duo(const Duo&) = delete;
  Duo& operator=(const Duo&) = delete;

  // Calls work(0) here and work(1) on the other thread. Both exchange equally often and throw nothing.
  void run(FunctionRef<void(std::size_t)> work);
  // Whether that is quicker than one after the other, as far as waiting tells: on a busy machine one of them may hardly get to run.
  // After such a run the next epochs are better off alone, twice as many each time that this happens again.
  [[nodiscard]] bool pays() const { return alone_ == 0; }
  void begin_epoch() { alone_ = std::max(0, alone_ - 1); }
  [[nodiscard]] std::size_t runs() const { return done_.load(std::memory_order_relaxed); }

  // Where a side writes its next message.
  [[nodiscard]] std::span<double> outgoing(std::size_t side) {
    Side& own = sides_[side];
    return own.messages[own.turn % 2];
  }
  // What a long wait tells: that the machine is busy, or nothing, where the other side was to come late.
  enum class Wait { noticed, planned };
  // Sends it, waits for the other side's and returns that, which stays until the next exchange.
  std::span<const double> exchange(std::size_t side, Wait wait = Wait::noticed) {
    Side& own = sides_[side];
    Side& other = sides_[1 - side];
    const std::span<const double> incoming = other.messages[own.turn % 2];
    ++own.turn;
    own.sent.store(own.turn, std::memory_order_release);
    int looks = 0;
    for (; other.sent.load(std::memory_order_acquire) < own.turn; ++looks) {
      if (looks == own.patience) {
        wait_long(own, other, wait);
        return incoming;
      }
      pause();
    }
    if (looks > 0) own.patience = most_looks;
    return incoming;
  }

 private:
  // A long wait is 10 to 100 microseconds of looking, and then any time without the processor. Two threads that share one would
  // spend most of theirs on looking: after a long wait they hardly do, until a wait ends while they look.
  static constexpr int most_looks = 2000, least_looks = 50;
  // Epochs that go without the other thread.
  static constexpr int least_alone = 4, most_alone = 256;
  // What the other side reads, what changes at every turn and what it waits for lie in lines of memory of their own. Messages are
  // written in turns: the one of the turn before may still be read.
  struct alignas(128) Side {
    std::array<std::vector<double>, 2> messages;
    alignas(128) std::uint64_t turn = 0;
    int patience = most_looks;
    double waited = 0.0;  // seconds of long waits, as far as they tell something
    alignas(128) std::atomic<std::uint64_t> sent = 0;
  };

  explicit Duo(std::size_t length);
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
  }
  static void wait_long(Side& own, const Side& other, Wait wait);
  void serve();  // what the other thread does

  std::array<Side, 2> sides_;
  const FunctionRef<void(std::size_t)>* work_ = nullptr;  // of the present run; null: there is no more
  int taken_ = -1;                                        // the processor of the thread that runs it
  std::atomic<std::uint32_t> begun_ = 0, done_ = 0;       // runs
  int alone_ = 0, next_alone_ = least_alone;
  std::thread other_;
};

}  // namespace fenchel
