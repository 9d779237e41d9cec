// Two threads in step get each other's messages, turn by turn.
#include "fenchel/base/duo.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#include <gtest/gtest.h>

#include "fenchel/base/clock.hpp"

namespace fenchel {
namespace {

constexpr std::chrono::milliseconds late(150);

class DuoParallel : public testing::Test {
 protected:
  void SetUp() override {
    duo_ = Duo::start(3);
    if (duo_ == nullptr) GTEST_SKIP() << "there is a single processor";
  }
  // A run in which one side comes late to the last of three exchanges, or to the first; returns how long it took. Messages arrive
  // all the same.
  double run_with_one_late(bool at_first, Duo::Wait wait) {
    const Stopwatch clock;
    std::array<double, 2> received{};
    duo_->run([&](std::size_t side) {
      for (int turn = 0; turn < 3; ++turn) {
        const bool is_late = turn == (at_first ? 0 : 2);
        if (is_late && side == 1) std::this_thread::sleep_for(late);
        duo_->outgoing(side).front() = static_cast<double>(10 * turn + 1) + static_cast<double>(side);
        received[side] += duo_->exchange(side, is_late ? wait : Duo::Wait::noticed).front();
      }
    });
    EXPECT_EQ(received, (std::array{36.0, 33.0}));
    return clock.seconds();
  }

  std::unique_ptr<Duo> duo_;
};

TEST_F(DuoParallel, EveryMessageArrivesInItsTurn) {
  for (const std::size_t turns : {0U, 1U, 5000U}) {
    std::array<std::vector<double>, 2> received;
    duo_->run([&](std::size_t side) {
      for (std::size_t turn = 0; turn < turns; ++turn) {
        const std::span<double> message = duo_->outgoing(side);
        for (std::size_t l = 0; l < 3; ++l) message[l] = static_cast<double>(100 * turn + 10 * side + l);
        for (const double number : duo_->exchange(side)) received[side].push_back(number);
      }
    });
    for (const std::size_t side : {0U, 1U}) {
      std::vector<double> sent;
      for (std::size_t turn = 0; turn < turns; ++turn) {
        for (std::size_t l = 0; l < 3; ++l) sent.push_back(static_cast<double>(100 * turn + 10 * (1 - side) + l));
      }
      EXPECT_EQ(received[side], sent);
    }
  }
  EXPECT_EQ(duo_->runs(), 3U);
}

TEST_F(DuoParallel, ASideThatComesLateIsWaitedForAndNoticed) {
  const double most = 2 * std::chrono::duration<double>(late).count();
  for (const bool at_first : {false, true}) {
    duo_ = Duo::start(3);  // one that has seen nothing yet
    const bool busy = run_with_one_late(at_first, Duo::Wait::noticed) >= most;
    EXPECT_TRUE(busy || !duo_->pays());
  }
}

// The first time for four epochs, then for eight.
TEST_F(DuoParallel, EpochsAfterALateOneGoWithoutIt) {
  const double most = 2 * std::chrono::duration<double>(late).count();
  for (const int epochs : {4, 8}) {
    if (run_with_one_late(false, Duo::Wait::noticed) >= most) GTEST_SKIP() << "the machine is busy";
    for (int epoch = 0; epoch < epochs; ++epoch) {
      duo_->begin_epoch();
      EXPECT_FALSE(duo_->pays());
    }
    duo_->begin_epoch();
    EXPECT_TRUE(duo_->pays());
  }
}

TEST_F(DuoParallel, ASideThatWasToComeLateIsNoSignOfABusyMachine) {
  (void)run_with_one_late(false, Duo::Wait::planned);
  EXPECT_TRUE(duo_->pays());
}

#if defined(__linux__)
TEST(DuoOnOneProcessor, IsNone) {
  std::thread([] {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (std::size_t k = 0; k < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++k) {
      if (CPU_ISSET(k, &all)) CPU_SET(k, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(Duo::start(1), nullptr);
  }).join();
}
#endif

}  // namespace
}  // namespace fenchel
