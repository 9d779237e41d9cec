#include "fenchel/base/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace fenchel {
namespace {

// Five standard deviations, of a count with that expectation.
double most_off(double expected) { return 5.0 * std::sqrt(expected); }

TEST(Random, EveryOrderIsAsLikely) {
  for (const std::size_t size : {2, 3, 4, 5}) {
    Random random(size);
    std::map<std::vector<int>, int> seen;
    constexpr int draws = 60000;
    for (int k = 0; k < draws; ++k) {
      std::vector<int> items(size);
      std::iota(items.begin(), items.end(), 0);
      random.shuffle(std::span(items));
      ++seen[items];
    }
    double orders = 1.0;
    for (std::size_t k = 2; k <= size; ++k) orders *= static_cast<double>(k);
    EXPECT_EQ(static_cast<double>(seen.size()), orders);
    const double expected = draws / orders;
    for (const auto& [order, count] : seen) EXPECT_NEAR(count, expected, most_off(expected)) << size;
  }
}

TEST(Random, AShuffleLosesNothing) {
  Random random(1);
  for (const std::size_t size : {0, 1, 2, 7, 1000, 1001}) {
    std::vector<std::size_t> items(size);
    std::iota(items.begin(), items.end(), std::size_t{0});
    random.shuffle(std::span(items));
    std::ranges::sort(items);
    for (std::size_t k = 0; k < size; ++k) EXPECT_EQ(items[k], k);
  }
}

// Of the 2^64 numbers the first 2^64 mod a b of each part are one too many.
TEST(Random, PairsLeaveOutWhatIsTooMany) {
  constexpr std::uint64_t a = 3, b = 3;                      // 2^64 mod 9 = 7
  constexpr std::uint64_t part = ~std::uint64_t{0} / 9 + 1;  // 9 part = 2^64 + 2
  for (const std::uint64_t rejected : {std::uint64_t{0}, part}) {
    std::vector<std::uint64_t> numbers{rejected, 2 * part + 1};  // 9 (2 part + 1) = 2 2^64 + 13
    auto next = numbers.begin();
    const auto pair = Random::two_below(a, b, [&] { return *next++; });
    EXPECT_EQ(next, numbers.end());
    EXPECT_EQ(pair, (std::pair<std::uint64_t, std::uint64_t>{0, 2}));
  }
  std::vector<std::uint64_t> taken{2 * part + 1};
  EXPECT_EQ(Random::two_below(a, b, [&] { return taken.front(); }),
            (std::pair<std::uint64_t, std::uint64_t>{0, 2}));
}

TEST(Random, PairsOfLargeBoundsAreUniform) {
  constexpr std::uint64_t a = (std::uint64_t{3} << 30) + 1, b = (std::uint64_t{1} << 32) - 5;
  std::mt19937_64 engine(9);
  constexpr int draws = 100000, parts = 4;
  std::array<std::array<int, parts>, parts> counts{};
  for (int k = 0; k < draws; ++k) {
    const auto [first, second] = Random::two_below(a, b, engine);
    ASSERT_LT(first, a);
    ASSERT_LT(second, b);
    ++counts[first / (a / parts + 1)][second / (b / parts + 1)];
  }
  constexpr double expected = draws / static_cast<double>(parts * parts);
  for (const auto& row : counts) {
    for (const int count : row) EXPECT_NEAR(count, expected, most_off(expected));
  }
}

}  // namespace
}  // namespace fenchel
