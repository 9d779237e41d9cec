// Vectors in large pages are vectors like others.
#include "fenchel/base/large_vector.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace fenchel {
namespace {

TEST(LargeVector, ZerosOfEverySize) {
  constexpr std::size_t large_page = (std::size_t{2} << 20) / sizeof(double);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, large_page - 9, large_page - 1, large_page, 3 * large_page + 5}) {
    for (int again = 0; again < 3; ++again) {  // memory that was used before, too
      std::vector<double> list = zeros(size);
      EXPECT_EQ(list.size(), size);
      EXPECT_TRUE(std::ranges::all_of(list, [](double x) { return x == 0.0; }));
      std::ranges::fill(list, 1.0);
    }
  }
}

}  // namespace
}  // namespace fenchel
