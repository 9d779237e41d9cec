// Pragam's invariant, J_mu(w) <= D(alpha), and the rate that follows from it, with and without a free bias, for the curvature's bound and
// for trials.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "fenchel/problem/certificate.hpp"
#include "fenchel/solver/metric.hpp"
#include "fenchel/solver/pragam.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

struct Trial {
  Trial(const loss::Any& loss, bool free_bias, std::uint64_t seed)
      : setup(random_setup(loss, 30, 4, Storage::dense64, seed)) {
    setup.settings.bias = free_bias ? registry::Bias::free : registry::Bias::none;
    setup.settings.lambda = 0.05;
    if (seed % 2 == 0) {
      setup.settings.penalty = penalty::ElasticNet{0.3};
      for (std::size_t i = 0; i < 30; ++i)
        setup.weights.push_back(i % 7 == 6 ? 0.0 : 0.5 + 0.05 * static_cast<double>(i));
    }
    dataset = dataset_of(setup);
    plan.emplace(dataset, setup.settings, setup.weights, std::vector<double>{});
    problem = plan->problem(0);
  }
  Case setup;
  data::Dataset dataset;
  std::optional<registry::Plan> plan;
  problem::Problem problem;
};

// The largest (1/sum c) sum c alpha^2 / 2; a free bias binds the two classes of the hinge together.
double largest_half_square(const problem::Problem& p) {
  double all = 0.0, sides[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < p.rows(); ++i) {
    const Interval domain = std::visit([&](const auto& l) { return l.dual_domain(p.sample.targets[i]); }, p.loss);
    const double most = std::max(-domain.low, domain.high);
    const double share = 0.5 * p.sample.weight(i) / p.sample.weight_sum * most * most;
    all += share;
    sides[p.sample.targets[i] > 0.0 ? 1 : 0] += share;
  }
  const bool hinge = std::holds_alternative<loss::Hinge>(p.loss);
  return p.free_bias && hinge ? 2 * std::min(sides[0], sides[1]) : all;
}

double true_gap(const problem::Problem& p, solver::Pragam& method) {
  const problem::Certifier certifier(p);
  const problem::Candidate now = method.candidate();
  return certifier.primal_with_best_bias(now.w, now.b).value - certifier.dual(now.alpha).value;
}

TEST(Pragam, KeepsItsInvariantAndItsRate) {
  std::uint64_t seed = 0;
  for (const loss::Any& loss : every_loss()) {
    for (const bool free_bias : {false, true}) {
      for (const solver::Curvature curvature : {solver::Curvature::bound, solver::Curvature::search}) {
        ++seed;
        const Trial instance(loss, free_bias, seed);
        const problem::Problem& p = instance.problem;
        solver::Pragam method(p, {}, {.gradient = {.curvature = curvature}});
        const double D = largest_half_square(p);
        const double L =
            solver::conjugate_curvature(p.penalty, risk::PointwiseDual(p.design, p.sample, p.loss, p.free_bias));
        for (int k = 0; k < 60; ++k) {
          method.step();
          SCOPED_TRACE(testing::Message()
                       << title(loss) << " bias " << free_bias << " seed " << seed << " step " << k);
          EXPECT_GE(method.excess(), -1e-12);
          if (loss::smoothness(loss) > 0.0) continue;  // their domain may be the whole line
          const double gap = true_gap(p, method);
          EXPECT_LE(gap, method.level() * D + 1e-12);
          if (curvature == solver::Curvature::bound) {
            EXPECT_LE(gap, 4 * L * D / ((k + 1.0) * (k + 2.0)) + 1e-12);
          }
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// A single class under a free bias: the optimum is w = 0, alpha = 0, reached at once.
TEST(Pragam, OneClassIsSolvedAtOnce) {
  const Trial instance(loss::Hinge{}, true, 5);
  problem::Problem p = instance.problem;
  const std::vector<double> targets(p.rows(), -1.0);
  p.sample.targets = targets;
  solver::Pragam method(p, {}, {});
  for (int k = 0; k < 5; ++k) {
    method.step();
    EXPECT_LE(true_gap(p, method), 1e-12);
    EXPECT_GE(method.excess(), -1e-12);
  }
}

// A start at the optimum's dual is a centre that mu leads back to.
TEST(Pragam, StartsFromADualPoint) {
  const Trial instance(loss::Hinge{}, true, 7);
  solver::Pragam cold(instance.problem, {}, {});
  for (int k = 0; k < 3000; ++k) cold.step();
  const problem::Candidate found = cold.candidate();
  solver::Pragam warm(instance.problem, {.w = found.w, .b = found.b, .alpha = found.alpha}, {});
  solver::Pragam again(instance.problem, {}, {});
  for (int k = 0; k < 20; ++k) {
    warm.step();
    again.step();
    EXPECT_GE(warm.excess(), -1e-12);
  }
  EXPECT_LT(true_gap(instance.problem, warm), 0.1 * true_gap(instance.problem, again));
}

}  // namespace
}  // namespace fenchel::test
