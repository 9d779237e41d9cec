// Dual variables gathered side by side are those of the rows, and go back to where they came from.
#include "fenchel/kernel/class_supports.hpp"

#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace fenchel::kernel {
namespace {

constexpr std::size_t classes = 4;
const std::vector<std::uint32_t> targets{0, 3, 1, 2};
const std::vector<double> all{
    0.9, 0.2,  0.0, 0.3,   // its own class is not part of the support
    0.0, 0.0,  0.0, 0.5,   // nothing but its own class
    0.1, 0.25, 0.4, 0.05,  //
    0.2, 0.3,  0.5, 0.0,   // not gathered
};

ClassSupports gathered(std::span<ClassSupports::Range> of_row) {
  ClassSupports supports;
  supports.of_row = of_row;
  supports.rows = {2, 0, 1};
  supports.gather(all, targets, classes);
  return supports;
}

TEST(ClassSupports, HoldWhatIsAboveZeroWithoutTheOwnClass) {
  std::vector<ClassSupports::Range> of_row(targets.size());
  const ClassSupports supports = gathered(of_row);
  EXPECT_EQ(supports.of_row[2].first, 0U);
  EXPECT_EQ(supports.of_row[2].last, 3U);
  EXPECT_EQ(supports.of_row[0].first, 3U);
  EXPECT_EQ(supports.of_row[0].last, 5U);
  EXPECT_EQ(supports.classes, (std::vector<std::uint32_t>{0, 2, 3, 1, 3}));
  EXPECT_EQ(supports.beta, (std::vector<double>{0.1, 0.4, 0.05, 0.2, 0.3}));
  EXPECT_TRUE(supports.any(0));
  EXPECT_FALSE(supports.any(1));
  EXPECT_TRUE(supports.any(2));
}

TEST(ClassSupports, GoBackToWhereTheyCameFrom) {
  std::vector<ClassSupports::Range> of_row(targets.size());
  ClassSupports supports = gathered(of_row);
  std::vector<double> same = all;
  supports.scatter(same, classes);
  EXPECT_EQ(same, all);
  supports.beta[4] = 0.0;
  supports.beta[1] = 0.7;
  std::vector<double> changed = all, expected = all;
  expected[3] = 0.0;
  expected[2 * classes + 2] = 0.7;
  supports.scatter(changed, classes);
  EXPECT_EQ(changed, expected);
}

TEST(ClassSupports, AreGatheredAnew) {
  std::vector<ClassSupports::Range> of_row(targets.size());
  ClassSupports supports = gathered(of_row);
  supports.rows = {3};
  supports.gather(all, targets, classes);
  EXPECT_EQ(supports.of_row[3].first, 0U);
  EXPECT_EQ(supports.beta, (std::vector<double>{0.2, 0.3}));
  supports.rows.clear();
  supports.gather(all, targets, classes);
  EXPECT_TRUE(supports.beta.empty());
}

}  // namespace
}  // namespace fenchel::kernel
