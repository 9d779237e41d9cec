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

const std::vector<double> shares{0.1, 0.2, 0.3, 0.4};
const std::vector<double> curvatures{1.0, 2.0, 3.0, 4.0};

class ClassSupportsOfRows : public testing::Test {
 protected:
  std::vector<double> beta_ = all;
  MulticlassSweepState state_;
  ClassSupports supports_;

  void SetUp() override {
    state_.targets = targets;
    state_.shares = shares;
    state_.curvatures = curvatures;
    state_.classes = classes;
    state_.beta = beta_;
  }
  void gather(const std::vector<std::uint32_t>& list) { supports_.gather(state_, list); }
  [[nodiscard]] std::vector<std::uint32_t> labels_of(std::size_t place) const {
    std::vector<std::uint32_t> labels;
    for (const ClassSupports::Entry& entry : supports_.entries_of(supports_.rows[place])) {
      labels.push_back(entry.label);
    }
    return labels;
  }
  [[nodiscard]] std::vector<double> duals_of(std::size_t place) const {
    std::vector<double> duals;
    for (const ClassSupports::Entry& entry : supports_.entries_of(supports_.rows[place]))
      duals.push_back(entry.beta);
    return duals;
  }
};

TEST_F(ClassSupportsOfRows, HoldWhatIsAboveZeroWithoutTheOwnClass) {
  gather({2, 0, 1});
  EXPECT_EQ(labels_of(0), (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(duals_of(0), (std::vector<double>{0.1, 0.4, 0.05}));
  EXPECT_EQ(labels_of(1), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(duals_of(1), (std::vector<double>{0.2, 0.3}));
  EXPECT_TRUE(labels_of(2).empty());
}

TEST_F(ClassSupportsOfRows, HoldWhatElseAVisitNeeds) {
  gather({2, 0});
  ASSERT_EQ(supports_.rows.size(), 2U);
  EXPECT_EQ(supports_.rows[0].row, 2U);
  EXPECT_EQ(supports_.rows[0].target, 1U);
  EXPECT_EQ(supports_.rows[0].share, 0.3);
  EXPECT_EQ(supports_.rows[0].curvature, 3.0);
  EXPECT_EQ(supports_.rows[1].row, 0U);
  EXPECT_EQ(supports_.rows[1].target, 0U);
}

TEST_F(ClassSupportsOfRows, GoBackToWhereTheyCameFrom) {
  gather({2, 0, 1});
  supports_.scatter(state_);
  EXPECT_EQ(beta_, all);
  supports_.entries[4].beta = 0.0;
  supports_.entries[1].beta = 0.7;
  std::vector<double> expected = all;
  expected[3] = 0.0;
  expected[2 * classes + 2] = 0.7;
  supports_.scatter(state_);
  EXPECT_EQ(beta_, expected);
}

TEST_F(ClassSupportsOfRows, AreArrangedInAnyOrder) {
  gather({2, 0, 1});
  supports_.arrange(std::vector<std::uint32_t>{2, 0, 1});
  ASSERT_EQ(supports_.rows.size(), 3U);
  EXPECT_EQ(supports_.rows[0].row, 1U);
  EXPECT_EQ(supports_.rows[1].row, 2U);
  EXPECT_TRUE(labels_of(0).empty());
  EXPECT_EQ(labels_of(1), (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_EQ(duals_of(2), (std::vector<double>{0.2, 0.3}));
  supports_.scatter(state_);
  EXPECT_EQ(beta_, all);
}

TEST_F(ClassSupportsOfRows, AreGatheredAnew) {
  gather({2, 0, 1});
  gather({3});
  ASSERT_EQ(supports_.rows.size(), 1U);
  EXPECT_EQ(duals_of(0), (std::vector<double>{0.2, 0.3}));
  gather({});
  EXPECT_TRUE(supports_.entries.empty());
}

}  // namespace
}  // namespace fenchel::kernel
