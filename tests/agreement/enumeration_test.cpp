// Every loss x penalty x factors x bias x weights x standardized or not x storage, and for each the solvers that the computed table says
// can do it, against an independent bracket of the optimum: no certificate may ever promise more than is true.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/registry/solvers.hpp"
#include "fenchel/run/run.hpp"
#include "tests/support/promise.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

const run::Options wanted{.tolerance = 1e-7, .max_passes = 20000};

struct PenaltyChoice {
  std::string name;
  penalty::Any penalty;
  double lambda;
  std::optional<penalty::Strength> direct{};
};

const std::vector<PenaltyChoice>& penalties() {
  static const std::vector<PenaltyChoice> all{
      {"l2", penalty::L2{}, 0.1},
      {"l1", penalty::L1{}, 0.05},
      {"elastic-net", penalty::ElasticNet{0.4}, 0.1},
      {"none", penalty::None{}, 0.1},
      {"direct", penalty::L2{}, 0.0, penalty::Strength{.l1 = 0.03, .l2 = 0.07}},
  };
  return all;
}

enum class Weights { unit, random, classes };
enum class BiasChoice { none, free, regularized, regularized_wide };

// A problem with its reference optimum; unit weights use --C, so that both ways to set lambda occur.
struct Fixture {
  Fixture(const loss::Any& loss, const PenaltyChoice& choice, bool factors, BiasChoice bias, Weights weights,
          bool standardize, Storage storage, std::uint64_t seed)
      : setup(random_setup(loss, 12 + seed % 12, 2 + seed % 3, storage, seed)) {
    Random random(seed + 1);
    const std::size_t d = setup.rows.front().size();
    setup.settings.penalty = choice.penalty;
    setup.settings.direct = choice.direct;
    setup.settings.bias = bias == BiasChoice::none   ? Bias::none
                          : bias == BiasChoice::free ? Bias::free
                                                     : Bias::regularized;
    setup.settings.bias_value = bias == BiasChoice::regularized_wide ? 2.5 : 1.0;
    if (factors) setup.factors = {0.0, 2.5, 0.5, 1.0};
    setup.factors.resize(factors ? d : 0);
    if (weights == Weights::random) {
      for (std::size_t i = 0; i < setup.rows.size(); ++i) {
        setup.weights.push_back(i >= contradicting(d) && i % 3 == 0 ? 0.0 : 0.2 + 2 * random.uniform());
      }
    }
    if (weights == Weights::classes) setup.settings.class_weight.by_label = {{3.0, 0.7}, {7.0, 2.0 / 3}};
    if (weights == Weights::unit && !choice.direct) {
      setup.settings.C = 1.0 / (choice.lambda * static_cast<double>(setup.rows.size()));
    } else {
      setup.settings.lambda = choice.lambda;
    }
    setup.settings.standardize = standardize;
    if (standardize) setup.scales = deviations_of(setup.rows, instance_of(setup).c);
    instance = instance_of(setup);
    // The ball holds a minimiser: lambda >= 0.02 and P(0) below 20 bound penalised weights by 1000, and the data
    // leave no direction in which unpenalised ones could run away.
    bracket = minimum(instance, 1000.0L, 1e-12L);
  }

  Case setup;
  Instance instance;
  Bracket bracket;
};

// What must hold for the certificate of any point whatever.
void expect_sound(const Fixture& f, std::span<const double> w, double b, const problem::Certificate& certificate) {
  if (!certificate.valid()) return;
  const long double value = objective_at(f.instance, w, b);
  EXPECT_GE(certificate.gap, 0.0);
  EXPECT_GE(certificate.gap + 1e-17L, value - f.bracket.high);
  EXPECT_LE(certificate.dual, f.bracket.high + 1e-17L);
  EXPECT_NEAR(certificate.primal, static_cast<double>(value), 1e-13 * (1.0 + std::fabs(certificate.primal)));
  EXPECT_LE(certificate.dual, certificate.primal - certificate.gap);
}

// The auditor's view: any weights, the dual point built from them, also for problems that no solver takes.
void audit(const Fixture& f, const problem::Problem& problem, std::uint64_t seed) {
  const problem::Certifier certifier(problem);
  Random random(seed);
  for (const double noise : {0.0, 1e-8, 1e-3, 1.0}) {
    std::vector<double> w(f.bracket.x.begin(), f.bracket.x.end());
    for (double& x : w) x += noise * random.normal();
    const double b = problem.free_bias ? w.back() : 0.0;
    w.resize(problem.dimension());
    const problem::PrimalPoint as_given = certifier.primal(w, b);
    const problem::PrimalPoint best = certifier.primal_with_best_bias(w, b);
    for (const problem::PrimalPoint* primal : {&as_given, &best}) {
      const problem::Certificate own = certifier.pair(*primal, certifier.dual_of(*primal));
      EXPECT_TRUE(own.valid());
      expect_sound(f, w, primal->b, own);
      std::vector<double> alpha(problem.rows());
      for (double& a : alpha) a = 3 * random.normal();
      expect_sound(f, w, primal->b, certifier.pair(*primal, certifier.dual(alpha)));
    }
  }
}

struct Attempt {
  std::string solver;
  run::Result result;
};

std::vector<Attempt> solve(const problem::Problem& problem) {
  std::vector<Attempt> attempts;
  const auto able = registry::supporting(problem.loss, problem.penalty);
  for (const registry::SolverEntry& entry : registry::solvers()) {
    if (std::find(able.begin(), able.end(), entry.name) == able.end()) {
      refusal(Fault::usage, [&] { registry::choose(entry.name, problem); });
      continue;
    }
    EXPECT_EQ(registry::choose(entry.name, problem).name, entry.name);
    const auto solver = entry.make(problem, {}, {.seed = 5});
    attempts.push_back({std::string(entry.name), run::run(problem, *solver, promised(entry.name, wanted))});
  }
  if (able.empty()) {
    refusal(Fault::usage, [&] { registry::choose("auto", problem); });
  } else {
    EXPECT_NE(std::find(able.begin(), able.end(), registry::choose("auto", problem).name), able.end());
  }
  return attempts;
}

void check(const Fixture& f, std::uint64_t seed) {
  EXPECT_LE(f.bracket.high - f.bracket.low, 2e-11L) << "the reference itself is loose";
  const data::Dataset dataset = dataset_of(f.setup);
  // The plan finds the scales itself, and refuses these if they are not the same but for rounding.
  const registry::Plan plan(dataset, f.setup.settings, f.setup.weights, f.setup.factors, f.setup.scales);
  ASSERT_EQ(plan.outputs(), 1u);
  const problem::Problem problem = plan.problem(0);
  audit(f, problem, seed);
  const std::vector<Attempt> attempts = solve(problem);
  for (const Attempt& attempt : attempts) {
    SCOPED_TRACE(attempt.solver);
    const run::Result& r = attempt.result;
    ASSERT_TRUE(r.certificate.valid());
    expect_sound(f, r.w, r.b, r.certificate);
    const bool claims = r.status == run::Status::optimal;
    EXPECT_EQ(claims, run::meets(r.certificate, promised(attempt.solver, wanted)));
    // Without smoothness all but bmrm may be slow; unpenalised columns and an optimum of zero are tests of their own.
    const bool must = (loss::smoothness(problem.loss) > 0.0 || attempt.solver == "bmrm") &&
                      !problem.penalty.has_unpenalized() && f.bracket.high > 1e-12L;
    EXPECT_TRUE(claims || !must) << run::name(r.status) << " gap " << r.certificate.gap << " passes " << r.passes;
    if (problem.free_bias) {  // the reference knows its bias to about the root of its bracket
      EXPECT_LE(r.bias_range.low, static_cast<double>(f.bracket.x.back()) + 1e-4);
      EXPECT_GE(r.bias_range.high, static_cast<double>(f.bracket.x.back()) - 1e-4);
    }
    for (const Attempt& other : attempts) {
      const long double difference =
          objective_at(f.instance, r.w, r.b) - objective_at(f.instance, other.result.w, other.result.b);
      // Objectives carry the rounding of long double, squares that of their roots; a gap may be far below.
      const long double size = f.bracket.high + std::sqrt(std::fmax(f.bracket.high, 0.0L));
      const long double rounding = 16 * std::numeric_limits<long double>::epsilon() * size;
      EXPECT_LE(std::fabs(difference), r.certificate.gap + other.result.certificate.gap + rounding);
    }
  }
}

class Enumeration : public testing::TestWithParam<loss::Any> {};

void enumerate(const loss::Any& loss, bool standardize) {
  std::uint64_t seed = standardize ? 2 : 1;  // so that another storage meets each problem
  for (const PenaltyChoice& penalty : penalties()) {
    for (const bool factors : {false, true}) {
      for (const BiasChoice bias :
           {BiasChoice::none, BiasChoice::free, BiasChoice::regularized, BiasChoice::regularized_wide}) {
        for (const Weights weights : {Weights::unit, Weights::random, Weights::classes}) {
          if (weights == Weights::classes && !has_classes(loss)) continue;
          ++seed;
          const auto storage = static_cast<Storage>(seed % 4);
          SCOPED_TRACE(title(loss) + " " + penalty.name + (factors ? " factors" : "") + " bias " +
                       std::to_string(static_cast<int>(bias)) + " weights " +
                       std::to_string(static_cast<int>(weights)) + " storage " +
                       std::to_string(static_cast<int>(storage)) + (standardize ? " standardized" : "") + " seed " +
                       std::to_string(seed));
          check(Fixture(loss, penalty, factors, bias, weights, standardize, storage, seed), seed);
          if (testing::Test::HasFailure()) return;  // one clear failure says more than a thousand
        }
      }
    }
  }
}

TEST_P(Enumeration, EveryCertificateIsSound) { enumerate(GetParam(), false); }
TEST_P(Enumeration, EveryStandardizedCertificateIsSound) { enumerate(GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(Losses, Enumeration, testing::ValuesIn(every_loss()), name_of_loss);

}  // namespace
}  // namespace fenchel::test
