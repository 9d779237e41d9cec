// Vectors in large pages are vectors like others.
#include "fenchel/base/large_vector.hpp"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace fenchel {
namespace {

constexpr std::size_t in_large_page = large_page / sizeof(double);

TEST(LargeVector, EverySize) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, in_large_page - 1, in_large_page,
                                 2 * in_large_page - 1, 3 * in_large_page + 5}) {
    for (int again = 0; again < 3; ++again) {  // memory that was used before, too
      LargeVector list(size, 0.0);
      EXPECT_EQ(list.size(), size);
      EXPECT_TRUE(std::ranges::all_of(list, [](double x) { return x == 0.0; }));
      std::ranges::fill(list, 1.0);
      const LargeVector copy = list;
      EXPECT_EQ(copy, list);
    }
  }
}

TEST(LargeVector, LongOnesBeginWithALargePage) {
  for (const std::size_t size : {in_large_page, 2 * in_large_page + 1}) {
    const LargeVector list(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(list.data()) % large_page, 0U);
  }
}

}  // namespace
}  // namespace fenchel
