// Sweeps by two threads in step and by one take turns in any order to the same bits: either leaves behind what the other goes on with.
#include "fenchel/kernel/feature_halves.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/kernel/multiclass_sweep.hpp"
#include "fenchel/kernel/support_sweep.hpp"
#include "fenchel/solver/feature_splits.hpp"
#include "tests/support/multiclass.hpp"

namespace fenchel::test {
namespace {

constexpr std::size_t row_count = 150, feature_count = 40, class_count = 33;
constexpr double inverse_l2 = 200.0, step_of_biases = 0.5;

struct Swept {
  std::vector<double> stored, beta, b, gains;
  bool operator==(const Swept&) const = default;
};

// Who sweeps over rows, and who over their supports after them; null: one thread.
struct Epoch {
  Duo* rows;
  Duo* supports;
};

class Sweeps {
 public:
  Sweeps() {
    state_.targets = targets_;
    state_.shares = shares_;
    state_.curvatures = curvatures_;
    state_.classes = class_count;
    state_.stride = kernel::padded(class_count);
    state_.inverse_l2 = inverse_l2;
    state_.bias_step = step_of_biases;
    state_.idle = idle_;
    state_.halves.splits = splits_;
    state_.order = order_;
    for (std::size_t i = 0; i < row_count; ++i) {
      targets_[i] = static_cast<std::uint32_t>((dataset_.targets[i] + 1.0) / 2.0);
      double square = 0.0;
      rows_.row(i).for_each([&](std::size_t /*j*/, double x) { square += x * x; });
      curvatures_[i] = shares_[i] * (inverse_l2 * square + step_of_biases);
    }
  }

  Swept run(const std::vector<Epoch>& epochs) {
    Swept swept{.stored = std::vector<double>(feature_count * state_.stride),
                .beta = std::vector<double>(row_count * class_count),
                .b = std::vector<double>(class_count),
                .gains = std::vector<double>(row_count)};
    state_.stored = swept.stored;
    state_.beta = swept.beta;
    state_.b = swept.b;
    state_.gains = swept.gains;
    std::iota(order_.begin(), order_.end(), 0U);
    Random random(52);
    for (const Epoch& epoch : epochs) {
      random.shuffle(std::span(order_));
      sweep_rows(epoch.rows);
      sweep_supports(epoch.supports);
    }
    return swept;
  }

 private:
  void sweep_rows(Duo* duo) {
    state_.halves.duo = duo;
    kernel::FollowingState follower(state_);
    kernel::MulticlassSweep leading(rows_, loss_, weights_, state_);
    kernel::MulticlassSweep following(rows_, loss_, weights_, follower.state);
    if (duo == nullptr) {
      leading.run();
    } else {
      duo->run([&](std::size_t side) { (side == 0 ? leading : following).run(); });
    }
  }
  void sweep_supports(Duo* duo) {
    state_.halves.duo = duo;
    kernel::FollowingState follower(state_);
    std::array<kernel::ClassSupports, 2> supports;
    supports[0].gather(state_, order_);
    supports[1] = supports[0];
    std::array<std::vector<std::uint32_t>, 2> places{order_, order_};
    kernel::WeightsByFeature own(state_), other(follower.state);
    kernel::SupportSweep leading(rows_, loss_, own, state_, supports[0]);
    kernel::SupportSweep following(rows_, loss_, other, follower.state, supports[1]);
    if (duo == nullptr) {
      leading.run(places[0], 0.0);
    } else {
      duo->run([&](std::size_t side) { (side == 0 ? leading : following).run(places[side], 0.0); });
    }
    supports[0].scatter(state_);
  }

  const data::Dataset dataset_ = dataset_of(
      multiclass_case(loss::MulticlassHinge{}, row_count, feature_count, class_count, Storage::csr64, 51));
  const data::CsrRows<double> rows_ = std::get<data::CsrRows<double>>(dataset_.matrix());
  const loss::MulticlassHinge loss_{};
  const kernel::detail::PlainWeights weights_{};
  const std::vector<std::uint32_t> splits_ = solver::feature_splits(dataset_.matrix());
  std::vector<std::uint32_t> order_ = std::vector<std::uint32_t>(row_count);
  std::vector<std::uint32_t> targets_ = std::vector<std::uint32_t>(row_count);
  std::vector<double> shares_ = std::vector<double>(row_count, 1.0 / row_count);
  std::vector<double> curvatures_ = std::vector<double>(row_count);
  std::vector<std::uint8_t> idle_ = std::vector<std::uint8_t>(row_count);
  kernel::MulticlassSweepState state_;
};

TEST(FeatureHalvesParallel, SweepsInStepAndAloneTakeTurnsToTheSameBits) {
  const std::unique_ptr<Duo> started = Duo::start(2 * kernel::padded(class_count));
  if (started == nullptr) GTEST_SKIP() << "there is a single processor";
  Duo* const two = started.get();
  Duo* const one = nullptr;
  Sweeps sweeps;
  const Swept alone = sweeps.run(std::vector<Epoch>(6, {one, one}));
  EXPECT_GT(std::ranges::count_if(alone.beta, [](double beta) { return beta > 0.0; }), 100);
  EXPECT_TRUE(sweeps.run(std::vector<Epoch>(6, {two, two})) == alone);
  EXPECT_TRUE(sweeps.run(std::vector<Epoch>(6, {two, one})) == alone);
  EXPECT_TRUE(sweeps.run(std::vector<Epoch>(6, {one, two})) == alone);
  const std::vector<Epoch> in_turns{{two, two}, {one, one}, {two, one}, {one, two}, {one, one}, {two, two}};
  EXPECT_TRUE(sweeps.run(in_turns) == alone);
}

}  // namespace
}  // namespace fenchel::test
