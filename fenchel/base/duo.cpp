#include "fenchel/base/duo.hpp"

#include <algorithm>
#include <system_error>
#include <thread>

#include "fenchel/base/clock.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace fenchel {
namespace {

constexpr double usual_start = 2e-4;  // seconds until the other thread begins with a run, with time to spare

// Which processor this thread runs on; -1 where nobody says.
int present_processor() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// Those that this thread may run on. Linux may wake a thread beside the one that woke it, and leave both there for dozens of milliseconds
// while another processor is idle: threads that wait for each other all the time look as if they were one. So one leaves it to the
// other one.
class Processors {
 public:
#if defined(__linux__)
  Processors() { known_ = sched_getaffinity(0, sizeof all_, &all_) == 0; }
  [[nodiscard]] bool are_one() const { return known_ && CPU_COUNT(&all_) == 1; }
  void leave(int taken) const {
    if (!known_ || taken < 0) return;
    cpu_set_t others = all_;
    CPU_CLR(taken, &others);
    (void)sched_setaffinity(0, sizeof others, &others);  // where this fails, both share it as before
  }

 private:
  cpu_set_t all_{};
  bool known_ = false;
#else
  [[nodiscard]] static bool are_one() { return false; }
  void leave(int /*taken*/) const {}
#endif
};

}  // namespace

std::unique_ptr<Duo> Duo::start(std::size_t length) {
  if (Processors().are_one()) return nullptr;
  std::unique_ptr<Duo> duo(new Duo(length));
  try {
    duo->other_ = std::thread([&duo = *duo] { duo.serve(); });
  } catch (const std::system_error&) {
    return nullptr;
  }
  return duo;
}

Duo::Duo(std::size_t length) {
  for (Side& side : sides_) {
    for (std::vector<double>& message : side.messages) message.resize(length);
  }
}

Duo::~Duo() {
  if (!other_.joinable()) return;
  work_ = nullptr;
  ++begun_;
  begun_.notify_one();
  other_.join();
}

void Duo::run(FunctionRef<void(std::size_t)> work) {
  for (Side& side : sides_) {
    side.turn = 0;
    side.waited = 0.0;
    side.sent.store(0, std::memory_order_relaxed);
  }
  const Stopwatch clock;
  work_ = &work;
  taken_ = present_processor();
  const std::uint32_t before = done_.load(std::memory_order_acquire);
  begun_.fetch_add(1, std::memory_order_release);
  begun_.notify_one();
  [&]() noexcept { work(0); }();
  done_.wait(before, std::memory_order_acquire);
  const bool paid = sides_[0].waited + sides_[1].waited < 0.5 * clock.seconds();
  if (!paid) alone_ = 1 + next_alone_;  // the present epoch, too
  next_alone_ = paid ? least_alone : std::min(2 * next_alone_, most_alone);
}

void Duo::serve() {
  const Processors allowed;
  for (std::uint32_t runs = 0;; ++runs) {
    begun_.wait(runs, std::memory_order_acquire);
    if (work_ == nullptr) return;
    allowed.leave(taken_);
    [&]() noexcept { (*work_)(1); }();
    done_.fetch_add(1, std::memory_order_release);
    done_.notify_one();
  }
}

// The other thread does not run now, or not for long: it gets the processor.
void Duo::wait_long(Side& own, const Side& other, Wait wait) {
  const Stopwatch clock;
  while (other.sent.load(std::memory_order_acquire) < own.turn) std::this_thread::yield();
  if (wait == Wait::planned) return;
  own.patience = least_looks;
  own.waited += std::max(0.0, clock.seconds() - (own.turn == 1 ? usual_start : 0.0));
}

}  // namespace fenchel
