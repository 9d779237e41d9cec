// Both ways to keep weights give the scores of a list and take its changes as the sums say, for every kind of row without gaps.
#include "fenchel/kernel/listed_weights.hpp"

#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/random.hpp"
#include "fenchel/kernel/class_supports.hpp"

namespace fenchel::kernel {
namespace {

constexpr std::size_t class_count = 7;

struct Listed {
  std::vector<double> scores;
  std::vector<double> stored;  // after the changes
};

constexpr double constant_value = 2.5;

// What a sweep tells of a row.
template <class Row>
struct Visit {
  const ClassSupports::Row* support;
  Row row;
  std::size_t first, listed;
};

template <class Weights, class Row>
Listed work(const Row& row, bool constant, std::vector<double> stored, const std::vector<std::uint32_t>& list,
            const std::vector<double>& change) {
  Listed result{.scores = std::vector<double>(list.size()), .stored = {}};
  MulticlassSweepState state;
  state.classes = class_count;
  state.stride = padded(class_count);
  state.stored = stored;
  state.constant = constant ? constant_value : 0.0;
  {
    Weights weights(state);
    // Two visits at once, side by side.
    const ClassSupports::Row support;
    const std::size_t half = list.size() / 2;
    std::vector<Visit<Row>> visits;
    if (half > 0) visits.push_back({.support = &support, .row = row, .first = 0, .listed = half});
    visits.push_back({.support = &support, .row = row, .first = half, .listed = list.size() - half});
    weights.score(std::span<const Visit<Row>>(visits), std::span<const std::uint32_t>(list),
                  std::span(result.scores));
    weights.add(0, row, list, change.data());
  }
  result.stored = std::move(stored);
  return result;
}

template <class Row>
Listed by_the_sums(const Row& row, bool constant, std::vector<double> stored,
                   const std::vector<std::uint32_t>& list, const std::vector<double>& change) {
  Listed result{.scores = std::vector<double>(list.size()), .stored = {}};
  for (std::size_t l = 0; l < list.size(); ++l) {
    const auto use = [&](std::size_t j, double x) {
      double& weight = stored[j * padded(class_count) + list[l]];
      result.scores[l] += x * weight;
      weight += x * change[l];
    };
    row.for_each(use);
    if (constant) use(stored.size() / padded(class_count) - 1, constant_value);
  }
  result.stored = std::move(stored);
  return result;
}

void expect_same(const Listed& found, const Listed& wanted) {
  for (std::size_t l = 0; l < wanted.scores.size(); ++l) EXPECT_NEAR(found.scores[l], wanted.scores[l], 1e-12);
  ASSERT_EQ(found.stored.size(), wanted.stored.size());
  for (std::size_t e = 0; e < wanted.stored.size(); ++e) EXPECT_NEAR(found.stored[e], wanted.stored[e], 1e-12) << e;
}

template <class Value>
void check(std::size_t features, bool constant) {
  Random random(features);
  std::vector<Value> values(features);
  for (Value& value : values) value = static_cast<Value>(random.normal());
  std::vector<std::uint32_t> columns(features);
  std::iota(columns.begin(), columns.end(), 0U);
  std::vector<double> stored((features + (constant ? 1 : 0)) * padded(class_count));
  for (double& weight : stored) weight = random.normal();
  for (std::size_t count = 1; count <= class_count; ++count) {
    std::vector<std::uint32_t> list(class_count);
    std::iota(list.begin(), list.end(), 0U);
    random.shuffle(std::span(list));
    list.resize(count);
    std::vector<double> change(count);
    for (double& c : change) c = random.normal();
    const data::SparseRow<Value> sparse{.columns = columns, .values = values};
    const data::DenseRow<Value> dense{.values = values};
    const Listed wanted = by_the_sums(sparse, constant, stored, list, change);
    expect_same(work<WeightsByFeature>(sparse, constant, stored, list, change), wanted);
    expect_same(work<WeightsByFeature>(dense, constant, stored, list, change), wanted);
    expect_same(work<WeightsByClass>(sparse, constant, stored, list, change), wanted);
    expect_same(work<WeightsByClass>(dense, constant, stored, list, change), wanted);
  }
}

// Where they are copied, the biases are, too, and go back.
template <class Weights>
void check_biases() {
  std::vector<double> stored(3 * padded(class_count), 1.0), b{0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  MulticlassSweepState state;
  state.classes = class_count;
  state.stride = padded(class_count);
  state.stored = stored;
  state.b = b;
  {
    Weights weights(state);
    EXPECT_EQ(weights.bias(4), 4.0);
    weights.bias(4) += 0.5;
  }
  EXPECT_EQ(b, (std::vector<double>{0.0, 1.0, 2.0, 3.0, 4.5, 5.0, 6.0}));
  EXPECT_EQ(stored, std::vector<double>(3 * padded(class_count), 1.0));
}

TEST(ListedWeights, HoldTheBiases) {
  check_biases<WeightsByFeature>();
  check_biases<WeightsByClass>();
}

TEST(ListedWeights, ScoreAndChangeAsTheSumsSay) {
  for (const std::size_t features : {1, 3, 4, 7, 8, 13, 16, 33}) {
    for (const bool constant : {false, true}) {
      check<double>(features, constant);
      check<float>(features, constant);
    }
  }
}

}  // namespace
}  // namespace fenchel::kernel
