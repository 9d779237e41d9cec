// Momentum of dual coordinate ascent: where it goes the dual objective is largest along its way, alpha stays in its domain, w stays
// what alpha induces, and sweeps become fewer.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/run/run.hpp"
#include "fenchel/solver/dual_momentum.hpp"
#include "fenchel/solver/sdca.hpp"
#include "tests/support/dual_value.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

constexpr double middling_l2 = 0.2;

std::vector<loss::Any> parabolic_losses() {
  std::vector<loss::Any> all = every_loss();
  std::erase_if(all, [](const loss::Any& any) {
    return std::visit([]<class L>(const L&) { return !loss::ParabolicLoss<L>; }, any);
  });
  return all;
}

// A point of dual coordinate ascent, moved about by hand.
struct Walk {
  const problem::Problem& problem;
  double l2 = middling_l2;
  double bias_step = 0.0;
  double smoothing = 0.0;
  std::vector<double> shares{};
  std::vector<double> alpha{};
  LargeVector w{};
  double b = 0.0;
  solver::DualMomentum momentum{};

  Walk(const problem::Problem& given, double s, double gamma)
      : problem(given), l2(given.penalty.base().l2), bias_step(s), smoothing(gamma) {
    for (std::size_t i = 0; i < problem.rows(); ++i) {
      shares.push_back(problem.sample.weight(i) / problem.sample.weight_sum);
    }
    alpha.assign(problem.rows(), 0.0);
    w.assign(problem.dimension(), 0.0);
  }

  void induce() {
    std::vector<double> scaled(alpha.size());
    double sum = 0.0;
    for (std::size_t i = 0; i < alpha.size(); ++i) sum += scaled[i] = shares[i] * alpha[i];
    data::LinearMap(problem.design).adjoint(scaled, w);
    for (double& each : w) each /= l2;
    b = bias_step * sum;
  }
  // To `share` of the way from 0 to the end of every domain that its target points to, or to 1 where that is unbounded.
  void go_to(const std::vector<double>& share) {
    for (std::size_t i = 0; i < alpha.size(); ++i) {
      const Interval domain =
          std::visit([&](const auto& loss) { return loss.dual_domain(problem.sample.targets[i]); }, problem.loss);
      const bool up = domain.low == 0.0 || (domain.high > 0.0 && problem.sample.targets[i] > 0.0);
      const double end = up ? domain.high : domain.low;
      alpha[i] = share[i] * (std::isfinite(end) ? end : std::copysign(1.0, end));
    }
    induce();
  }
  void follow() {
    momentum.follow(
        {.problem = problem, .shares = shares, .l2 = l2, .bias_step = bias_step, .smoothing = smoothing},
        {.alpha = alpha, .w = w, .b = b});
  }
  [[nodiscard]] Dual dual(const Instance& instance, const std::vector<double>& at) const {
    Dual dual = dual_of(instance, at, bias_step, 0.0);
    for (std::size_t i = 0; i < at.size(); ++i) dual.value -= Quad(smoothing) / 2 * shares[i] * at[i] * at[i];
    return dual;
  }
};

class DualMomentumLaw : public testing::TestWithParam<loss::Any> {};

struct MomentumCase {
  Bias bias = Bias::none;
  double l2 = middling_l2;
  double smoothing = 0.0;
  std::size_t columns = 4;
  double stretch = 1.0;  // how much longer than others the rows are that get to the ends of their domains
};

// Three starts on a straight way, and where momentum goes from the third. Returns whether it moved.
bool expect_best_point(const loss::Any& loss, const MomentumCase& setting, std::uint64_t seed) {
  constexpr std::size_t rows = 40;
  const auto [bias, l2, smoothing, columns, stretch] = setting;
  Case setup = with_penalty(random_setup(loss, rows, columns, Storage::csr64, seed), 0.0, bias);
  setup.settings.direct->l2 = l2;
  for (std::size_t i = 0; i < 4; ++i) {
    for (double& x : setup.rows[i]) x *= stretch;
  }
  Random random(seed);
  for (std::size_t i = 0; i < rows; ++i) setup.weights.push_back(0.5 + random.uniform());
  const Instance instance = instance_of(setup);
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings, setup.weights);
  const problem::Problem problem = plan.problem(0);
  EXPECT_TRUE(solver::DualMomentum::takes(problem, {}));
  Walk walk(problem, bias == Bias::free ? 0.7 : 0.0, smoothing);
  // Two rows get to the ends of their domains, two to where the next step would take them there; the others walk on slowly.
  std::vector<double> share(rows), speed(rows);
  for (double& each : share) each = 0.1 + 0.05 * random.uniform();
  for (double& each : speed) each = 0.01 * random.uniform();
  share[0] = 0.97, speed[0] = 0.01;
  share[1] = 0.03, speed[1] = -0.01;
  share[2] = 0.9999 - 0.03, speed[2] = 0.01;
  share[3] = 0.0301, speed[3] = -0.01;
  std::vector<double> before;
  for (int start = 0; start < 3; ++start) {
    for (std::size_t i = 0; i < rows; ++i) share[i] += speed[i];
    if (start == 2) share[0] = 1.0, share[1] = 0.0;  // without rounding
    walk.go_to(share);
    before = walk.alpha;
    walk.follow();
  }
  const Dual reached = walk.dual(instance, walk.alpha);
  expect_no_fall(walk.dual(instance, before), reached);
  std::vector<double> way(rows);
  double length = 0.0;
  for (std::size_t i = 0; i < rows; ++i) length += std::fabs(way[i] = walk.alpha[i] - before[i]);
  bool may_go_on = length > 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    const Domain domain = domain_of(instance, instance.y[i]);
    EXPECT_TRUE(domain.low <= walk.alpha[i] && walk.alpha[i] <= domain.high);
    if (before[i] == domain.low || before[i] == domain.high) {
      EXPECT_EQ(walk.alpha[i], before[i]) << i;
    }
    // A kink of the conjugate at 0 ends a way, too.
    const Quad farther = walk.alpha[i] + Quad(0.02) * way[i];
    may_go_on = may_go_on && domain.low <= farther && farther <= domain.high && farther * walk.alpha[i] >= 0;
  }
  for (const double t : {-0.02, 0.02}) {  // a little less and a little more of the same way
    if (t > 0.0 && !may_go_on) continue;
    std::vector<double> beside = walk.alpha;
    for (std::size_t i = 0; i < rows; ++i) beside[i] += t * way[i];
    expect_no_fall(walk.dual(instance, beside), reached);
  }
  const LargeVector moved = walk.w;
  const double b = walk.b;
  walk.induce();
  for (std::size_t j = 0; j < moved.size(); ++j)
    EXPECT_NEAR(moved[j], walk.w[j], 1e-12 * (1 + std::fabs(walk.w[j])));
  EXPECT_NEAR(b, walk.b, 1e-12 * (1 + std::fabs(walk.b)));
  return length > 0.0;
}

TEST_P(DualMomentumLaw, GoesToTheBestPointOfItsWay) {
  int moved = 0, cases = 0;
  for (const Bias bias : {Bias::none, Bias::regularized, Bias::free}) {
    for (const double smoothing : {0.0, 0.3}) {
      for (const double l2 : {0.02, 0.07, 0.2, 0.7}) {  // weaker penalties want to go back, stronger ones too far
        for (std::uint64_t seed = 1; seed <= 3; ++seed, ++cases) {
          SCOPED_TRACE("seed " + std::to_string(seed) + " smoothing " + std::to_string(smoothing));
          if (expect_best_point(GetParam(), {.bias = bias, .l2 = l2, .smoothing = smoothing}, seed)) ++moved;
        }
      }
    }
  }
  EXPECT_GE(8 * moved, cases);
  RecordProperty("moved", moved);
}

// Products with vectors of several blocks, and after the rows that made almost all of the way have been left out of it.
TEST_P(DualMomentumLaw, GoesThereInManyColumnsAndWithoutLongRows) {
  int moved = 0;
  for (const double l2 : {0.02, 0.2, 2.0, 20.0}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const MomentumCase& way :
           {MomentumCase{.l2 = l2, .columns = 5000}, MomentumCase{.l2 = l2, .stretch = 1e4}}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + " l2 " + std::to_string(l2));
        if (expect_best_point(GetParam(), way, seed)) ++moved;
      }
    }
  }
  EXPECT_GT(moved, 0);
  RecordProperty("moved", moved);
}

TEST_P(DualMomentumLaw, StandsStillWithoutAWay) {
  Case setup = with_penalty(random_setup(GetParam(), 40, 4, Storage::csr64, 2), 0.0, Bias::none);
  setup.settings.direct->l2 = middling_l2;
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const problem::Problem problem = plan.problem(0);
  Walk walk(problem, 0.0, 0.0);
  std::vector<double> share(40, 0.1);
  for (int k = 0; k < 4; ++k) {  // a start, a way, and starts that forget them
    if (k == 2) walk.momentum.forget();
    for (double& each : share) each += 0.01;
    walk.go_to(share);
    const std::vector<double> before = walk.alpha;
    walk.follow();
    EXPECT_EQ(walk.alpha, before) << k;
  }
  // A way without length leads nowhere.
  const std::vector<double> before = walk.alpha;
  walk.momentum.forget();
  for (int k = 0; k < 3; ++k) walk.follow();
  EXPECT_EQ(walk.alpha, before);
}

run::Result run_sdca(const Case& setup, bool momentum, double tolerance, double most_passes) {
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings, setup.weights);
  const problem::Problem problem = plan.problem(0);
  solver::Conduct conduct{.seed = 1};
  conduct.ascent.momentum = momentum;
  solver::Sdca method(problem, {}, conduct);
  return run::run(problem, method, {.tolerance = tolerance, .max_passes = most_passes});
}

// Rows with much in common and a weak penalty: sweeps alone are slow.
TEST_P(DualMomentumLaw, MakesSweepsFewer) {
  constexpr std::size_t rows = 60;
  Case setup = random_setup(GetParam(), rows, 20, Storage::csr64, 5);
  for (std::vector<double>& row : setup.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = (row[j] + 2.0) / static_cast<double>(1 + j);
  }
  setup.settings.bias = Bias::none;
  setup.settings.lambda = 1e-3;
  const run::Result with = run_sdca(setup, true, 1e-4, 2000), without = run_sdca(setup, false, 1e-4, 2000);
  ASSERT_EQ(with.status, run::Status::optimal);
  EXPECT_LE(with.certificate.dual, without.certificate.primal);
  EXPECT_LE(without.certificate.dual, with.certificate.primal);
  EXPECT_LT(with.passes, 0.7 * without.passes);
  RecordProperty("passes", std::to_string(with.passes) + " / " + std::to_string(without.passes));
}

// Under weights of a wide range the gain of most steps is less than the rounding of the dual objective, and a gap under corners is
// linear in the errors of w.
TEST_P(DualMomentumLaw, DoesNotLiveOnRounding) {
  for (const Bias bias : {Bias::none, Bias::free}) {
    Case setup = with_penalty(random_setup(GetParam(), 60, 5, Storage::csr64, 3), 0.0, bias);
    constexpr std::array<double, 4> wide{1.0, 3.0, 1e-8, 1e5};
    for (std::size_t i = 0; i < setup.rows.size(); ++i) setup.weights.push_back(wide[i % wide.size()]);
    const run::Result with = run_sdca(setup, true, 1e-7, 5000), without = run_sdca(setup, false, 1e-7, 5000);
    if (without.status != run::Status::optimal) continue;
    EXPECT_EQ(with.status, run::Status::optimal);
    EXPECT_LE(with.passes, 2.0 * without.passes + 20.0);
  }
}

TEST_P(DualMomentumLaw, CountsPassesOverDataWithoutEntries) {
  Case setup = random_setup(GetParam(), 30, 3, Storage::csr64, 1);
  for (std::vector<double>& row : setup.rows) row.assign(row.size(), 0.0);
  setup.settings.lambda = 0.1;
  const run::Result result = run_sdca(setup, true, 1e-3, 300);
  EXPECT_TRUE(std::isfinite(result.passes) && result.passes > 0.0 && result.passes <= 303.0) << result.passes;
  EXPECT_EQ(result.status, run::Status::optimal);
}

INSTANTIATE_TEST_SUITE_P(Losses, DualMomentumLaw, testing::ValuesIn(parabolic_losses()), name_of_loss);

// What ParabolicLoss promises: the curvature of phi*(-alpha) is the smoothness, and what remains is linear on either side of 0.
TEST_P(DualMomentumLaw, ConjugatesAreParabolas) {
  std::visit(
      [&]<class L>(const L& loss) {
        if constexpr (loss::ParabolicLoss<L>) {
          for (const double y : has_classes(GetParam()) ? std::vector{-1.0, 1.0} : std::vector{-0.7, 0.0, 2.5}) {
            const Interval domain = loss.dual_domain(y);
            for (const double side : {-1.0, 1.0}) {
              const double room = side > 0.0 ? domain.high : -domain.low;
              if (!(room > 0.0)) continue;
              const double end = side * std::fmin(room, 3.0);
              const auto slope = [&](double alpha) {
                return loss.conjugate(y, alpha) / alpha - 0.5 * loss.smoothness() * alpha;
              };
              for (const double part : {0.1, 0.5, 0.9}) {
                EXPECT_NEAR(slope(part * end), slope(end), 1e-12 * (1 + std::fabs(slope(end)))) << y << ' ' << part;
              }
              const bool both = domain.low < 0.0 && domain.high > 0.0;
              if (both && L::conjugate_shape == loss::ConjugateShape::parabola) {
                const double other = -side * std::fmin(0.1, side > 0.0 ? -domain.low : domain.high);
                EXPECT_NEAR(slope(other), slope(end), 1e-12 * (1 + std::fabs(slope(end)))) << y;
              }
            }
          }
        }
      },
      GetParam());
}

TEST(DualMomentum, IsForPlainPenaltiesAndParabolas) {
  const auto takes = [](const loss::Any& loss, penalty::Strength strength, const solver::Conduct& conduct = {}) {
    Case setup = random_setup(loss, 20, 3, Storage::csr64, 1);
    setup.settings.direct = strength;
    setup.settings.lambda = 0.0;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    return solver::DualMomentum::takes(plan.problem(0), conduct);
  };
  EXPECT_TRUE(takes(loss::Hinge{}, {.l1 = 0.0, .l2 = 0.1}));
  EXPECT_TRUE(takes(loss::Squared{}, {.l1 = 0.0, .l2 = 0.1}));
  EXPECT_FALSE(takes(loss::Hinge{}, {.l1 = 0.1, .l2 = 0.1}));
  EXPECT_FALSE(takes(loss::Squared{}, {.l1 = 0.1, .l2 = 0.0}));
  EXPECT_FALSE(takes(loss::Logistic{}, {.l1 = 0.0, .l2 = 0.1}));
  const penalty::Strength plain{.l1 = 0.0, .l2 = 0.1};
  EXPECT_TRUE(takes(loss::Hinge{}, plain, {.rows = solver::RowOrder::runs}));
  EXPECT_FALSE(takes(loss::Hinge{}, plain, {.rows = solver::RowOrder::windows}));
  EXPECT_FALSE(takes(loss::Hinge{}, plain, {.ascent = {.momentum = false}}));
  EXPECT_FALSE(takes(loss::Hinge{}, plain, {.ascent = {.step = kernel::StepOption::bound}}));
  EXPECT_FALSE(takes(loss::Hinge{}, plain, {.ascent = {.sampling = solver::Sampling::uniform}}));
}

}  // namespace
}  // namespace fenchel::test
