// Two threads in step get each other's messages, turn by turn.
#include "fenchel/base/duo.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace fenchel {
namespace {

TEST(DuoParallel, EveryMessageArrivesInItsTurn) {
  const std::unique_ptr<Duo> started = Duo::start(3);
  ASSERT_NE(started, nullptr);
  Duo& duo = *started;
  for (const std::size_t turns : {0U, 1U, 5000U}) {
    std::array<std::vector<double>, 2> received;
    (void)duo.run([&](std::size_t side) {
      for (std::size_t turn = 0; turn < turns; ++turn) {
        const std::span<double> message = duo.outgoing(side);
        for (std::size_t l = 0; l < 3; ++l) message[l] = static_cast<double>(100 * turn + 10 * side + l);
        for (const double number : duo.exchange(side)) received[side].push_back(number);
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
}

TEST(DuoParallel, ASideThatComesLateIsWaitedForAndNoticed) {
  const std::unique_ptr<Duo> started = Duo::start(1);
  ASSERT_NE(started, nullptr);
  Duo& duo = *started;
  std::array<double, 2> received{};
  const bool paid = duo.run([&](std::size_t side) {
    if (side == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    duo.outgoing(side)[0] = static_cast<double>(side + 1);
    received[side] = duo.exchange(side)[0];
  });
  EXPECT_FALSE(paid);
  EXPECT_EQ(received, (std::array{2.0, 1.0}));
}

}  // namespace
}  // namespace fenchel
