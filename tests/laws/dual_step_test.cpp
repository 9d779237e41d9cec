// Every way to choose a new dual variable raises the dual objective and stays in its domain; clearances say the truth
// about where a step stays put.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "fenchel/kernel/dual_step.hpp"
#include "tests/support/exact.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using kernel::StepOption;
using kernel::StepRule;

constexpr double largest_q = 30.0;

struct Point {
  double y, alpha, z, q;
};

// Targets, scores and curvatures, ordinary and extreme, with alpha inside the domain and at its ends.
std::vector<Point> points_of(const loss::Any& loss) {
  std::mt19937_64 engine(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<Point> points;
  const auto targets =
      has_classes(loss) ? std::vector<double>{-1.0, 1.0} : std::vector<double>{-3.7, 0.0, 0.25, 1e4};
  for (const double y : targets) {
    for (const double q : {0.0, 1e-12, 1e-3, 0.4, 7.0, largest_q}) {
      for (int k = 0; k < 24; ++k) {
        const double z = k < 4 ? y : k < 8 ? 1e3 * normal(engine) : y + 2 * normal(engine);
        const Interval domain = std::visit([&](const auto& l) { return l.dual_domain(y); }, loss);
        const double share = uniform(engine);
        double alpha = 3 * normal(engine);
        if (std::isfinite(domain.low) && std::isfinite(domain.high)) {
          alpha = domain.low + share * (domain.high - domain.low);
        }
        if (k % 4 == 1) alpha = std::isfinite(domain.low) ? domain.low : 0.0;
        if (k % 4 == 2) alpha = std::isfinite(domain.high) ? domain.high : 0.0;
        points.push_back({y, domain.clamp(alpha), z, q});
      }
    }
  }
  return points;
}

Instance instance_for(const loss::Any& loss) {
  return {.rows = {},
          .y = {},
          .c = {},
          .loss = std::string(loss::name(loss)),
          .parameter = parameter_of(loss),
          .l1 = {},
          .l2 = {}};
}

struct Gain {
  Quad value;
  Quad size;  // of what was added up
};

Gain gain_of(const Instance& p, const Point& at, double t, double smoothing) {
  const Quad before = conjugate_at(p, at.y, at.alpha), after = conjugate_at(p, at.y, t), d = Quad(t) - at.alpha;
  const Quad smooth = Quad(smoothing) / 2 * (Quad(t) * t - Quad(at.alpha) * at.alpha);
  const Quad linear = Quad(at.z) * d, square = Quad(at.q) / 2 * d * d;
  return {before - after - smooth - linear - square,
          magnitude(before) + magnitude(after) + magnitude(smooth) + magnitude(linear) + square};
}

class DualStep : public testing::TestWithParam<loss::Any> {};

TEST_P(DualStep, EveryOptionRaisesTheDualObjective) {
  const Instance p = instance_for(GetParam());
  std::visit(
      [&](const auto& loss) {
        for (const Point& at : points_of(GetParam())) {
          for (const double smoothing : {0.0, 0.3}) {
            for (int option = 1; option <= 5; ++option) {
              if (option == 5 && loss.smoothness() + smoothing == 0.0) continue;
              const StepRule rule{.option = static_cast<StepOption>(option),
                                  .largest_curvature = largest_q,
                                  .smoothing = smoothing};
              const double t = kernel::dual_step(rule, loss, at.y, at.alpha, at.z, at.q);
              ASSERT_TRUE(loss.dual_domain(at.y).contains(t)) << option << " " << at.alpha << " " << at.z;
              const Gain gain = gain_of(p, at, t, smoothing);
              ASSERT_GE(static_cast<double>(gain.value), -1e-12 * static_cast<double>(gain.size))
                  << option << " y " << at.y << " alpha " << at.alpha << " z " << at.z << " q " << at.q << " t "
                  << t;
            }
          }
        }
      },
      GetParam());
}

TEST_P(DualStep, OptionIsNoWorseThanTheOthers) {
  const Instance p = instance_for(GetParam());
  std::visit(
      [&](const auto& loss) {
        for (const Point& at : points_of(GetParam())) {
          const auto gain = [&](int option) {
            const StepRule rule{.option = static_cast<StepOption>(option), .largest_curvature = largest_q};
            return gain_of(p, at, kernel::dual_step(rule, loss, at.y, at.alpha, at.z, at.q), 0.0);
          };
          const Gain best = gain(1), second = gain(2), third = gain(3);
          const Quad slack = Quad(1e-12) * (best.size + second.size + third.size);
          ASSERT_GE(static_cast<double>(best.value - second.value + slack), 0.0);
          ASSERT_GE(static_cast<double>(second.value - third.value + slack), 0.0);
        }
      },
      GetParam());
}

// Inside the clearance the step leaves alpha alone, and does so until z has moved that far; outside it moves.
TEST_P(DualStep, ClearanceSaysWhereAlphaRests) {
  std::visit(
      []<class L>(const L& loss) {
        if constexpr (loss::RestingLoss<L>) {
          int resting = 0, moving = 0;
          for (const Point& at : points_of(loss)) {
            if (at.q < 1e-3) continue;  // a step as long as the domain hides the difference
            const double clearance = loss.clearance(at.y, at.alpha, at.z);
            const double noise = 1e-9 * (1.0 + std::fabs(at.z) + std::fabs(at.y));
            const auto step = [&](double z) { return loss.dual_step(at.y, at.alpha, z, at.q); };
            if (clearance > noise) {
              ++resting;
              for (const double share : {-0.999, 0.0, 0.999}) {
                ASSERT_EQ(step(at.z + share * clearance), at.alpha) << at.y << " " << at.alpha << " " << at.z;
              }
              // One of the two ends is where it starts to move.
              const double far = clearance + std::max(noise, 1e-6 * (1.0 + at.q));
              ASSERT_TRUE(step(at.z + far) != at.alpha || step(at.z - far) != at.alpha) << at.alpha << " " << at.z;
            } else if (clearance < -noise) {
              ++moving;
              ASSERT_NE(step(at.z), at.alpha) << at.y << " " << at.alpha << " " << at.z << " " << at.q;
            }
          }
          EXPECT_GT(resting, 0);
          EXPECT_GT(moving, 0);
        }
      },
      GetParam());
}

TEST(LogisticStep, LosesNoMoreThanItsTolerance) {
  const loss::Any any = loss::Logistic{};
  const Instance p = instance_for(any);
  for (const Point& at : points_of(any)) {
    for (const double tolerance : {1e-12, 1e-6, 1e-2, 0.3}) {
      const double t = loss::Logistic{}.dual_step(at.y, at.alpha, at.z, at.q, tolerance);
      const Gain gain = gain_of(p, at, t, 0.0);
      // Optimality up to a slope of `tolerance` loses at most tolerance^2 / (2 gamma) against the best step.
      const Gain best = gain_of(p, at, loss::Logistic{}.dual_step(at.y, at.alpha, at.z, at.q), 0.0);
      EXPECT_GE(static_cast<double>(gain.value - best.value),
                -tolerance * tolerance / 8.0 - 1e-12 * static_cast<double>(gain.size + best.size));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, DualStep, testing::ValuesIn(every_loss()), name_of_loss);

}  // namespace
}  // namespace fenchel::test
