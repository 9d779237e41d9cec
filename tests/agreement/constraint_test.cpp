// Every loss x constraint x bias x weights x storage, and the solvers that the computed table says can do it, against an
// independent bracket of the optimum: the constraint as an exact penalty, by the ellipsoid method.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/registry/solvers.hpp"
#include "fenchel/run/run.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

constexpr double asked_tolerance = 1e-6;
constexpr long double rounding_noise = 1e-9L;  // of the reference

const std::vector<penalty::Any>& constraints() {
  static const std::vector<penalty::Any> all{
      penalty::L1Ball{.radius = 0.4},
      penalty::L2Ball{.radius = 0.3},
      penalty::L2Ball{.radius = 50.0},  // holds the free optimum
      penalty::ElasticNetBall{.radius = 0.3, .l1_ratio = 0.6},
      penalty::ElasticNetBall{.radius = 0.5, .l1_ratio = 1.0},
      penalty::ElasticNetBall{.radius = 0.2, .l1_ratio = 0.0},
      penalty::Simplex{.radius = 0.7},
  };
  return all;
}

// By how much w is outside, in a measure with slopes of at least about 1, and a subgradient added to g, times `price`.
struct Outside {
  long double price;
  std::span<const long double> w;
  std::vector<long double>& g;

  long double ball(long double l1, long double l2, long double budget) const {
    long double size = -budget;
    for (const long double x : w) size += l1 * std::fabs(x) + l2 / 2 * x * x;
    if (size <= 0) return 0;
    for (std::size_t j = 0; j < w.size(); ++j) {
      g[j] += price * (l2 * w[j] + (w[j] > 0 ? l1 : w[j] < 0 ? -l1 : 0.0L));
    }
    return price * size;
  }
  long double operator()(const penalty::L1Ball& k) const { return ball(1, 0, k.radius); }
  long double operator()(const penalty::L2Ball& k) const {
    return ball(0, 1, static_cast<long double>(k.radius) * k.radius / 2);
  }
  long double operator()(const penalty::ElasticNetBall& k) const {
    return ball(k.l1_ratio, 1.0L - k.l1_ratio, k.radius);
  }
  long double operator()(const penalty::Simplex& k) const {
    long double sum = -static_cast<long double>(k.radius), outside = 0;
    for (std::size_t j = 0; j < w.size(); ++j) {
      sum += w[j];
      if (w[j] >= 0) continue;
      outside -= w[j];
      g[j] -= price;
    }
    for (std::size_t j = 0; j < w.size(); ++j) g[j] += sum > 0 ? price : -price;
    return price * (outside + std::fabs(sum));
  }
  template <class P>
  long double operator()(const P& /*penalty*/) const {
    return 0;
  }
};

Bracket reference(const Instance& instance, const penalty::Any& constraint) {
  constexpr long double price = 200.0L;  // above the multiplier of each of these constraints, as the distances tell
  const auto function = [&](std::span<const long double> x, std::vector<long double>* g) {
    const long double risk = objective<long double>(instance, x, g);
    return risk + std::visit(Outside{price, x.first(instance.l1.size()), *g}, constraint);
  };
  Bracket bracket = minimum(function, instance.unknowns(), 1000.0L, 1e-11L);
  std::vector<long double> ignored(bracket.x.size());
  const std::span<const long double> w = std::span<const long double>(bracket.x).first(instance.l1.size());
  EXPECT_LE(std::visit(Outside{1.0L, w, ignored}, constraint), 1e-9L) << "the reference is no exact penalty";
  return bracket;
}

void expect_sound(const Instance& instance, const Bracket& bracket, std::span<const double> w, double b,
                  const problem::Certificate& certificate) {
  ASSERT_TRUE(certificate.valid());
  const long double value = objective_at(instance, w, b);
  EXPECT_GE(certificate.gap, 0.0);
  EXPECT_GE(certificate.gap + rounding_noise, value - bracket.high);
  EXPECT_LE(certificate.dual, bracket.high + rounding_noise);
  EXPECT_NEAR(certificate.primal, static_cast<double>(value), 1e-13 * (1.0 + std::fabs(certificate.primal)));
}

class Constraints : public testing::TestWithParam<loss::Any> {};

TEST_P(Constraints, EverySolverAgreesWithTheReference) {
  std::uint64_t seed = 1;
  for (const penalty::Any& constraint : constraints()) {
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      ++seed;
      Case setup = random_setup(GetParam(), 12 + seed % 7, 2 + seed % 2, static_cast<Storage>(seed % 4), seed);
      setup.settings.penalty = constraint;
      setup.settings.bias = bias;
      if (seed % 2 == 0) {
        Random random(seed);
        for (std::size_t i = 0; i < setup.rows.size(); ++i) setup.weights.push_back(0.2 + random.uniform());
      }
      Case unpenalized = setup;
      unpenalized.settings.penalty = penalty::None{};
      unpenalized.settings.lambda = 0.0;
      const Instance instance = instance_of(unpenalized);
      const Bracket bracket = reference(instance, constraint);
      const data::Dataset dataset = dataset_of(setup);
      const registry::Plan plan(dataset, setup.settings, setup.weights);
      const problem::Problem problem = plan.problem(0);
      const penalty::Constraint& set = *problem.penalty.constraint();
      const problem::Certifier certifier(problem);
      for (const registry::SolverEntry& entry : registry::solvers()) {
        if (entry.missing(problem.loss, problem.penalty)) {
          refusal(Fault::usage, [&] { registry::choose(entry.name, problem); });
          continue;
        }
        SCOPED_TRACE(title(GetParam()) + " " + std::string(entry.name) + " constraint " +
                     std::to_string(&constraint - constraints().data()) + " bias " +
                     std::to_string(static_cast<int>(bias)) + " seed " + std::to_string(seed));
        const auto solver = entry.make(problem, {}, {.seed = 5});
        const run::Result r = run::run(problem, *solver,
                                       {.tolerance = asked_tolerance,
                                        .absolute_tolerance = 1e-14,
                                        .max_passes = 40000});  // the optimum may be 0
        // Without smoothness pdhg may rest on a plateau for longer than the loop waits, but near the optimum only.
        const bool must = loss::smoothness(problem.loss) > 0.0;
        EXPECT_TRUE(r.status == run::Status::optimal || !must)
            << run::name(r.status) << " gap " << r.certificate.gap << " passes " << r.passes;
        EXPECT_LE(r.certificate.gap, 1e-4 * (1.0 + r.certificate.primal));
        expect_sound(instance, bracket, r.w, r.b, r.certificate);
        EXPECT_TRUE(penalty::contains(set, r.w));
        // What is stored certifies again, and nothing outside the set ever does.
        const problem::DualPoint dual = certifier.dual_as_given(r.beta);
        const problem::Certificate again = certifier.pair(certifier.primal(r.w, r.b), dual);
        EXPECT_LE(again.gap, r.certificate.gap + again.rounding);
        std::vector<double> outside = r.w;
        outside.front() += 100.0;
        EXPECT_FALSE(certifier.pair(certifier.primal(outside, r.b), dual).valid());
      }
      // Any dual vector gives a bound.
      Random random(seed);
      std::vector<double> w(problem.dimension()), alpha(problem.rows());
      for (double& x : w) x = random.normal();
      for (double& a : alpha) a = random.normal();
      const problem::PrimalPoint primal = certifier.primal_with_best_bias(w, 0.0);
      expect_sound(instance, bracket, primal.w, primal.b, certifier.pair(primal, certifier.dual(alpha)));
      expect_sound(instance, bracket, primal.w, primal.b, certifier.pair(primal, certifier.dual_of(primal)));
      if (HasFailure()) return;  // one clear failure says more than a thousand
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, Constraints, testing::ValuesIn(every_loss()), name_of_loss);

TEST(ConstraintSettings, WhatDoesNotGoTogetherIsRefused) {
  Case setup = random_setup(loss::Hinge{}, 12, 3, Storage::csr64, 1);
  setup.settings.penalty = penalty::L1Ball{};
  const data::Dataset dataset = dataset_of(setup);
  const auto refused = [&](const registry::Settings& settings, std::vector<double> factors = {}) {
    refusal(Fault::usage, [&] { registry::Plan(dataset, settings, {}, std::move(factors)); });
  };
  registry::Settings with_lambda = setup.settings, with_C = setup.settings, scaled = setup.settings;
  with_lambda.lambda = 0.1;
  with_C.C = 1.0;
  scaled.standardize = true;
  refused(with_lambda);
  refused(with_C);
  refused(scaled);
  refused(setup.settings, {1.0, 2.0, 3.0});
}

}  // namespace
}  // namespace fenchel::test
