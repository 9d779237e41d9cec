// Rounds visit every row once, and rows on their two sides have no class in common.
#include "fenchel/solver/class_rounds.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/random.hpp"

namespace fenchel::solver {
namespace {

TEST(ClassRounds, PartRowsByTheirClasses) {
  Random random(3);
  for (const std::size_t classes : {2U, 3U, 5U, 6U, 13U, 26U}) {
    std::vector<double> beta;
    std::vector<std::uint32_t> targets, rows;
    std::vector<double> ones;
    for (std::uint32_t i = 0; i < 900; ++i) {
      targets.push_back(static_cast<std::uint32_t>(random.below(classes)));
      rows.push_back(i);
      ones.push_back(1.0);
      const std::uint64_t odds = 1 + random.below(classes);
      for (std::size_t l = 0; l < classes; ++l) beta.push_back(random.below(odds) == 0 ? 0.25 : 0.0);
    }
    kernel::MulticlassSweepState state;
    state.targets = targets;
    state.shares = state.curvatures = ones;
    state.classes = classes;
    state.beta = beta;
    kernel::ClassSupports supports;
    supports.gather(state, rows);
    const ClassRounds found = class_rounds(supports, classes);

    const auto classes_of = [&](const std::vector<std::uint32_t>& places) {
      std::set<std::uint32_t> result;
      for (const std::uint32_t place : places) {
        result.insert(supports.rows[place].target);
        for (const auto& entry : supports.entries_of(supports.rows[place])) result.insert(entry.label);
      }
      return result;
    };
    std::vector<std::uint32_t> places = found.rest;
    for (const auto& sides : found.rounds) {
      std::vector<std::uint32_t> both;
      std::ranges::set_intersection(classes_of(sides[0]), classes_of(sides[1]), std::back_inserter(both));
      EXPECT_TRUE(both.empty());
      for (const auto& side : sides) places.insert(places.end(), side.begin(), side.end());
    }
    std::ranges::sort(places);
    EXPECT_EQ(places, rows) << classes << " classes";
    std::vector<std::uint32_t> seen;
    for (const auto& row : supports.rows) seen.push_back(row.row);
    std::ranges::sort(seen);
    EXPECT_EQ(seen, rows);
    for (const std::uint32_t place : found.rest) {
      EXPECT_GT(supports.rows[place].last - supports.rows[place].first, 2U) << "four classes at least";
    }
  }
}

}  // namespace
}  // namespace fenchel::solver
