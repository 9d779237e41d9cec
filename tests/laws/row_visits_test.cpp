// The order of work of row-by-row methods: who is visited, who rests, and who comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "fenchel/kernel/dual_sweep.hpp"
#include "fenchel/solver/row_visits.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::solver {
namespace {

struct Rows {
  explicit Rows(std::size_t n, std::size_t d = 1) {
    test::Case setup{.rows = std::vector<std::vector<double>>(n, std::vector<double>(d, 1.0)),
                     .labels = std::vector<double>(n, 1.0),
                     .storage = test::Storage::dense64};
    dataset = test::dataset_of(setup);
    shares.assign(n, 1.0 / static_cast<double>(n));
    curvatures.assign(n, 1.0);
  }
  data::Dataset dataset;
  std::vector<double> shares, curvatures;
};

std::multiset<std::uint32_t> visited(const RowVisits& visits) {
  return {visits.order().begin(), visits.order().end()};
}

TEST(RowVisits, VisitsEveryRowOfPositiveShareOnce) {
  Rows rows(50);
  rows.shares[3] = rows.shares[17] = 0.0;
  RowVisits visits(rows.dataset.matrix(), rows.shares, rows.curvatures, {.seed = 1});
  std::vector<std::uint32_t> before;
  for (int sweep = 0; sweep < 3; ++sweep) {
    visits.draw();
    EXPECT_EQ(visits.order().size(), 48u);
    const auto rows_visited = visited(visits);
    for (std::uint32_t i = 0; i < 50; ++i) EXPECT_EQ(rows_visited.count(i), i == 3 || i == 17 ? 0u : 1u);
    const std::vector<std::uint32_t> order(visits.order().begin(), visits.order().end());
    EXPECT_NE(order, before);
    before = order;
    visits.settle(1.0);
  }
}

TEST(RowVisits, RowsAtRestReturn) {
  for (const RowOrder order : {RowOrder::shuffled, RowOrder::runs, RowOrder::windows}) {
    Rows rows(40);
    RowVisits visits(rows.dataset.matrix(), rows.shares, rows.curvatures, {.seed = 2, .rows = order});
    visits.draw();
    EXPECT_EQ(visits.rest_beyond(), infinity);  // nobody rests before a violation is known
    visits.settle(1.0);
    EXPECT_EQ(visits.rest_beyond(), 0.1);
    for (const std::uint32_t i : {4u, 5u, 39u}) visits.resting()[i] = 1;
    visits.settle(0.9);
    EXPECT_FALSE(visits.all());
    EXPECT_NEAR(visits.share(), 37.0 / 40, 1e-12);
    visits.draw();
    EXPECT_EQ(visits.order().size(), 37u);
    EXPECT_EQ(visited(visits).count(5), 0u);
    visits.settle(0.8);  // not settled yet
    visits.draw();
    EXPECT_EQ(visits.order().size(), 37u);
    visits.settle(0.01);  // those awake have settled: all are asked again
    EXPECT_TRUE(visits.all());
    EXPECT_EQ(visits.share(), 1.0);
    EXPECT_NEAR(visits.rest_beyond(), 0.3 * 0.9, 1e-15);  // the last sweep over all had that violation
    visits.draw();
    EXPECT_EQ(visits.order().size(), 40u);
    EXPECT_EQ(visits.resting()[5], 0);
  }
}

// Settled rows sleep on when the others wake, until the work has doubled.
TEST(RowVisits, SettledRowsReturnLast) {
  for (const RowOrder order : {RowOrder::shuffled, RowOrder::runs, RowOrder::windows}) {
    Rows rows(40);
    RowVisits visits(rows.dataset.matrix(), rows.shares, rows.curvatures, {.seed = 2, .rows = order});
    EXPECT_EQ(visits.settling_gap(), infinity);
    const auto rest_and_wake = [&] {  // a full sweep in which two rows rest, and one that ends the rest
      visits.draw();
      EXPECT_TRUE(visits.all());
      for (const std::uint32_t i : {4u, 5u}) visits.resting()[i] = kernel::rests;
      visits.settle(1.0, 0.25);
      visits.draw();
      visits.settle(0.01, 0.125);
    };
    rest_and_wake();
    EXPECT_TRUE(visits.complete());
    EXPECT_EQ(visits.settling_gap(), 0.25);  // that of the full sweep
    visits.resting()[7] = kernel::settled;
    rest_and_wake();  // which is less work than before
    EXPECT_TRUE(visits.all());
    EXPECT_FALSE(visits.complete());
    EXPECT_NEAR(visits.share(), 39.0 / 40, 1e-12);
    visits.draw();
    EXPECT_EQ(visits.order().size(), 39u);
    EXPECT_EQ(visited(visits).count(7), 0u);
    visits.settle(1.0);  // now the work has doubled
    EXPECT_TRUE(visits.complete());
    EXPECT_EQ(visits.resting()[7], kernel::awake);
    visits.draw();
    EXPECT_EQ(visited(visits).count(7), 1u);
  }
}

TEST(RowVisits, WakeBringsEverybodyBack) {
  Rows rows(10);
  RowVisits visits(rows.dataset.matrix(), rows.shares, rows.curvatures, {.seed = 2});
  visits.draw();
  for (std::uint8_t& rests : visits.resting()) rests = 1;
  visits.settle(1.0);
  visits.draw();
  EXPECT_TRUE(visits.order().empty());
  visits.wake();
  EXPECT_EQ(visits.rest_beyond(), infinity);
  visits.draw();
  EXPECT_EQ(visits.order().size(), 10u);
}

// Neighbours stay together, those between which nobody is awake, too; a long row is a run of its own.
TEST(RowVisits, RunsKeepNeighboursTogether) {
  constexpr std::size_t n = 900;
  Rows rows(n, 200);  // larger than a cache
  rows.shares[8] = 0.0;
  RowVisits visits(rows.dataset.matrix(), rows.shares, rows.curvatures, {.seed = 4, .rows = RowOrder::runs});
  visits.settle(1.0);
  std::vector<std::uint32_t> awake;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (i % 3 == 0)
      visits.resting()[i] = kernel::rests;
    else if (rows.shares[i] > 0.0)
      awake.push_back(i);
  }
  visits.settle(0.9);
  visits.draw();
  const std::vector<std::uint32_t> order(visits.order().begin(), visits.order().end());
  EXPECT_NE(order, awake);
  EXPECT_TRUE(std::ranges::is_permutation(order, awake));
  constexpr std::size_t run = 8;
  std::size_t together = 0;
  for (std::size_t k = 0; k + 1 < order.size(); ++k) {
    const auto at = static_cast<std::size_t>(std::ranges::find(awake, order[k]) - awake.begin());
    if (at % run != run - 1 && at + 1 < awake.size()) {
      ASSERT_EQ(order[k + 1], awake[at + 1]);
      ++together;
    }
  }
  EXPECT_EQ(together, awake.size() - (awake.size() + run - 1) / run);
  // Among few who are awake, nobody has neighbours.
  for (std::uint32_t i = 0; i < n; ++i) visits.resting()[i] = i % 20 == 1 ? kernel::awake : kernel::rests;
  visits.settle(0.9);
  visits.draw();
  const std::span<const std::uint32_t> few = visits.order();
  together = 0;
  for (std::size_t k = 0; k + 1 < few.size(); ++k) together += few[k + 1] == few[k] + 20 ? 1 : 0;
  EXPECT_LT(together, few.size() / 4);
  const Rows longer(9, 16384), small(100);
  EXPECT_EQ(RowVisits::rows_in_run(longer.dataset.matrix(), RowOrder::runs), 1u);
  EXPECT_EQ(RowVisits::rows_in_run(small.dataset.matrix(), RowOrder::runs), 1u);
  EXPECT_EQ(RowVisits::rows_in_run(rows.dataset.matrix(), RowOrder::shuffled), 1u);
}

TEST(RowVisits, WindowsCoverAllRows) {
  Rows rows(700, 16384);  // 128 KiB a row: 256 rows a window
  rows.shares[300] = 0.0;
  RowVisits visits(rows.dataset.matrix(), rows.shares, rows.curvatures, {.seed = 3, .rows = RowOrder::windows});
  visits.draw();
  ASSERT_EQ(visits.windows().size(), 3u);
  std::size_t begin = 0;
  for (const RowVisits::Window& window : visits.windows()) {
    for (std::size_t k = begin; k < window.end; ++k) {
      EXPECT_GE(visits.order()[k], window.first);
      EXPECT_LT(visits.order()[k], window.last);
    }
    begin = window.end;
  }
  EXPECT_EQ(begin, 699u);
  EXPECT_EQ(std::set<std::uint32_t>(visits.order().begin(), visits.order().end()).size(), 699u);
}

// Frequencies of independent draws against their probabilities, by the chi-square statistic of a fixed seed.
TEST(RowVisits, DrawsIndependently) {
  constexpr std::size_t n = 60;
  constexpr int sweeps = 400;
  for (const Sampling sampling : {Sampling::uniform, Sampling::importance}) {
    Rows rows(n);
    rows.shares[7] = 0.0;
    for (std::size_t i = 0; i < n; ++i) rows.curvatures[i] = 0.1 + static_cast<double>(i % 5);
    std::vector<double> weights(n, 1.0);
    if (sampling == Sampling::importance) {
      double mean = 0.0;
      for (std::size_t i = 0; i < n; ++i) mean += (i == 7 ? 0.0 : rows.curvatures[i]) / (n - 1);
      for (std::size_t i = 0; i < n; ++i) weights[i] = rows.curvatures[i] + mean;
    }
    weights[7] = 0.0;
    double sum = 0.0;
    for (const double w : weights) sum += w;
    RowVisits visits(rows.dataset.matrix(), rows.shares, rows.curvatures,
                     {.seed = 5, .ascent = {.sampling = sampling}});
    std::vector<double> counts(n, 0.0);
    double draws = 0.0;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      visits.draw();
      visits.settle(1.0);
      for (const std::uint32_t i : visits.order()) counts[i] += 1.0, draws += 1.0;
    }
    EXPECT_EQ(counts[7], 0.0);
    double statistic = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double expected = draws * weights[i] / sum;
      if (expected > 0.0) statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    EXPECT_LT(statistic, 100.0);  // 58 degrees of freedom: mean 58, deviation 10.8
    EXPECT_GT(statistic, 20.0);
  }
}

TEST(RowVisits, SameSeedSameOrder) {
  for (const Sampling sampling : {Sampling::permutation, Sampling::uniform, Sampling::importance}) {
    Rows rows(30);
    const auto order = [&](std::uint64_t seed) {
      RowVisits visits(rows.dataset.matrix(), rows.shares, rows.curvatures,
                       {.seed = seed, .ascent = {.sampling = sampling}});
      visits.draw();
      visits.draw();
      return std::vector<std::uint32_t>(visits.order().begin(), visits.order().end());
    };
    EXPECT_EQ(order(4), order(4));
    EXPECT_NE(order(4), order(5));
  }
}

}  // namespace
}  // namespace fenchel::solver
