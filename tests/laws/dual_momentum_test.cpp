// Momentum of dual coordinate ascent: where it goes the dual objective is largest along its way, alpha stays in its domain, w stays
// what alpha induces, and sweeps become fewer.
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

constexpr double l2 = 0.05;

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
  double bias_step;
  std::vector<double> shares{};
  std::vector<double> alpha{};
  LargeVector w{};
  double b = 0.0;
  solver::DualMomentum momentum{};

  Walk(const problem::Problem& given, double s) : problem(given), bias_step(s) {
    shares.assign(problem.rows(), 1.0 / static_cast<double>(problem.rows()));
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
  // To `share` of the way from 0 to the end of every domain, or to 1 where that is unbounded.
  void go_to(const std::vector<double>& share) {
    for (std::size_t i = 0; i < alpha.size(); ++i) {
      const Interval domain =
          std::visit([&](const auto& loss) { return loss.dual_domain(problem.sample.targets[i]); }, problem.loss);
      const double end = domain.high > 0.0 ? domain.high : domain.low;
      alpha[i] = share[i] * (std::isfinite(end) ? end : std::copysign(1.0, end));
    }
    induce();
  }
  void follow() {
    momentum.follow({.problem = problem, .shares = shares, .l2 = l2, .bias_step = bias_step},
                    {.alpha = alpha, .w = w, .b = b});
  }
};

class DualMomentumLaw : public testing::TestWithParam<loss::Any> {};

TEST_P(DualMomentumLaw, GoesToTheBestPointOfItsWay) {
  for (const Bias bias : {Bias::none, Bias::regularized, Bias::free}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (bias == Bias::free ? " free" : ""));
      const Case setup = with_penalty(random_setup(GetParam(), 40, 4, Storage::csr64, seed), 0.0, bias);
      const Instance instance = instance_of(setup);
      const data::Dataset dataset = dataset_of(setup);
      const registry::Plan plan(dataset, setup.settings);
      const problem::Problem problem = plan.problem(0);
      ASSERT_TRUE(solver::DualMomentum::takes(problem, {}));
      const double s = bias == Bias::free ? 0.7 : 0.0;
      Walk walk(problem, s);
      // One row stands at an end, one goes there in the end; the others walk on slowly.
      Random random(seed);
      std::vector<double> share(40), speed(40);
      for (double& each : share) each = 0.1 + 0.05 * random.uniform();
      for (double& each : speed) each = 0.01 * random.uniform();
      share[0] = speed[0] = 0.0;
      const auto go_on = [&] {
        for (std::size_t i = 0; i < share.size(); ++i) share[i] += speed[i];
        walk.go_to(share);
      };
      go_on();
      walk.follow();
      go_on();
      walk.follow();
      const std::vector<double> start = walk.alpha;
      go_on();
      const std::vector<double> before = walk.alpha;
      walk.follow();
      const Dual reached = dual_of(instance, walk.alpha, s, 0.0);
      expect_no_fall(dual_of(instance, before, s, 0.0), reached);
      EXPECT_EQ(walk.alpha[0], before[0]);
      // A little more and a little less of the same way.
      std::vector<double> way(40);
      double length = 0.0;
      for (std::size_t i = 0; i < way.size(); ++i) length += std::fabs(way[i] = walk.alpha[i] - before[i]);
      for (const double t : {-0.02, 0.02}) {
        std::vector<double> beside = walk.alpha;
        bool inside = true;
        for (std::size_t i = 0; i < beside.size(); ++i) {
          const Domain domain = domain_of(instance, instance.y[i]);
          beside[i] += t * way[i];
          inside = inside && domain.low <= beside[i] && beside[i] <= domain.high;
        }
        if (inside && length > 0.0) expect_no_fall(dual_of(instance, beside, s, 0.0), reached);
      }
      for (std::size_t i = 0; i < walk.alpha.size(); ++i) {
        const Domain domain = domain_of(instance, instance.y[i]);
        EXPECT_TRUE(domain.low <= walk.alpha[i] && walk.alpha[i] <= domain.high);
      }
      const LargeVector moved = walk.w;
      const double b = walk.b;
      walk.induce();
      for (std::size_t j = 0; j < moved.size(); ++j)
        EXPECT_NEAR(moved[j], walk.w[j], 1e-12 * (1 + std::fabs(walk.w[j])));
      EXPECT_NEAR(b, walk.b, 1e-12 * (1 + std::fabs(walk.b)));
    }
  }
}

TEST_P(DualMomentumLaw, StandsStillWithoutAWay) {
  const Case setup = with_penalty(random_setup(GetParam(), 40, 4, Storage::csr64, 2), 0.0, Bias::none);
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const problem::Problem problem = plan.problem(0);
  Walk walk(problem, 0.0);
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

// Rows with much in common and a weak penalty: sweeps alone are slow.
TEST_P(DualMomentumLaw, MakesSweepsFewer) {
  constexpr std::size_t rows = 60;
  Case setup = random_setup(GetParam(), rows, 20, Storage::csr64, 5);
  for (std::vector<double>& row : setup.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = (row[j] + 2.0) / static_cast<double>(1 + j);
  }
  setup.settings.bias = Bias::none;
  setup.settings.lambda = 1e-3;
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const problem::Problem problem = plan.problem(0);
  const auto run = [&](bool momentum) {
    solver::Conduct conduct{.seed = 1};
    conduct.ascent.momentum = momentum;
    solver::Sdca method(problem, {}, conduct);
    return run::run(problem, method, {.tolerance = 1e-4, .max_passes = 2000});
  };
  const run::Result with = run(true), without = run(false);
  ASSERT_EQ(with.status, run::Status::optimal);
  EXPECT_LE(with.certificate.dual, without.certificate.primal);
  EXPECT_LE(without.certificate.dual, with.certificate.primal);
  EXPECT_LT(with.passes, 0.7 * without.passes);
  RecordProperty("passes", std::to_string(with.passes) + " / " + std::to_string(without.passes));
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
