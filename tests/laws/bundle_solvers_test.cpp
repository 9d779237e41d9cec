// What bmrm, bmrm-ls and pegasos say about themselves: the dual vectors they hand over prove at least the bounds they work
// with, and pegasos's weights are those of its dual vector.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/problem/certificate.hpp"
#include "fenchel/registry/multiclass_solvers.hpp"
#include "fenchel/registry/solvers.hpp"
#include "fenchel/solver/line_bundle.hpp"
#include "fenchel/solver/risk_cuts.hpp"
#include "tests/support/multiclass.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

struct BundleCase {
  BundleCase(const loss::Any& loss, std::size_t n, std::size_t d, Bias bias, bool weighted, std::uint64_t seed)
      : setup(random_setup(loss, n, d, static_cast<Storage>(seed % 4), seed)) {
    setup.settings.bias = bias;
    setup.settings.lambda = 0.01;
    Random random(seed);
    for (std::size_t i = 0; weighted && i < n; ++i) {
      setup.weights.push_back(i >= contradicting(d) && i % 5 == 0 ? 0.0 : 0.2 + random.uniform());
    }
  }
  Case setup;
};

problem::Certificate certify(const problem::Problem& problem, solver::Solver& solver) {
  const problem::Certifier certifier(problem);
  const problem::Candidate at = solver.candidate();
  return certifier.pair(certifier.primal_with_best_bias(at.w, at.b), certifier.dual(at.alpha));
}

// Long enough for cuts to be dropped.
TEST(BundleSolvers, DualVectorsProveTheLowerBound) {
  std::uint64_t seed = 0;
  for (const loss::Any& loss : every_loss()) {
    for (const Bias bias : {Bias::none, Bias::free}) {
      for (const double l1_ratio : {0.0, 0.3}) {
        ++seed;
        BundleCase asked(loss, 60, 6, bias, seed % 3 == 0, seed);
        if (l1_ratio > 0.0) asked.setup.settings.penalty = penalty::ElasticNet{l1_ratio};
        const data::Dataset dataset = dataset_of(asked.setup);
        const registry::Plan plan(dataset, asked.setup.settings, asked.setup.weights);
        const problem::Problem problem = plan.problem(0);
        for (const char* name : {"bmrm", "bmrm-ls"}) {
          const auto solver = registry::choose(name, problem).make(problem, {}, {});
          for (int t = 1; t <= 72; ++t) {
            solver->step();
            if (t % 24 != 0) continue;
            const double rounding = 1e-12 * (1 + std::fabs(solver->estimate().primal));
            EXPECT_LE(certify(problem, *solver).gap, solver->estimate().gap + rounding)
                << name << " " << title(loss) << " " << l1_ratio << " " << t;
          }
        }
      }
    }
  }
}

problem::Certificate certify(const problem::MulticlassProblem& problem, solver::MulticlassSolver& solver) {
  const problem::MulticlassCertifier certifier(problem);
  const problem::MulticlassCandidate at = solver.candidate();
  return certifier.pair(certifier.primal_with_best_bias(at.w, at.b), certifier.dual(at.beta));
}

Case case_of_all_classes(const loss::AnyVector& loss, Bias bias, double l1_ratio, std::uint64_t seed) {
  Case setup = multiclass_case(loss, 60, 5, 2 + seed % 4, static_cast<Storage>(seed % 4), seed);
  setup.settings.bias = bias;
  setup.settings.lambda = 0.01;
  if (l1_ratio > 0.0) setup.settings.penalty = penalty::ElasticNet{l1_ratio};
  for (std::size_t i = 0; seed % 3 == 0 && i < setup.rows.size(); ++i) {
    setup.weights.push_back(i % 7 == 6 ? 0.0 : 0.1 + static_cast<double>(i % 5));
  }
  return setup;
}

template <class Check>
void for_all_classes(Check&& check) {
  std::uint64_t seed = 0;
  for (const loss::AnyVector& loss : every_vector_loss()) {
    for (const Bias bias : {Bias::none, Bias::free}) {
      for (const double l1_ratio : {0.0, 0.3}) {
        const Case setup = case_of_all_classes(loss, bias, l1_ratio, ++seed);
        SCOPED_TRACE(std::string(loss::name(loss::Chosen(loss))) + " seed " + std::to_string(seed));
        const data::Dataset dataset = dataset_of(setup);
        const registry::Plan plan(dataset, setup.settings, setup.weights);
        check(plan.multiclass());
      }
    }
  }
}

TEST(BundleSolvers, DualsOfAllClassesProveTheLowerBound) {
  for_all_classes([](const problem::MulticlassProblem& problem) {
    for (const char* name : {"bmrm", "bmrm-ls"}) {
      const auto solver = registry::choose(name, problem).make(problem, {}, {});
      for (int t = 1; t <= 72; ++t) {
        solver->step();
        if (t % 24 != 0) continue;
        const double rounding = 1e-9 * (1 + std::fabs(solver->estimate().primal));
        EXPECT_LE(certify(problem, *solver).gap, solver->estimate().gap + rounding) << name << " " << t;
      }
    }
  });
}

// The bound of bmrm-ls never falls, though its cuts may fall short of the risk.
TEST(BundleSolvers, LowerBoundOfTheLineSearchRises) {
  for_all_classes([](const problem::MulticlassProblem& problem) {
    const std::size_t k = problem.classes();
    solver::ClassCuts cuts(problem, std::vector<double>(problem.free_bias ? k : 0));
    solver::LineBundle bundle(problem.penalty.repeated(k), std::vector<double>(problem.dimension() * k));
    double first = infinity, last = -infinity;
    for (int t = 0; t < 60; ++t) {
      cuts.sharpen(bundle.best() - bundle.lower());
      bundle.step(cuts);
      EXPECT_GE(bundle.lower(), last - 1e-12 * (1 + std::fabs(last))) << t;
      EXPECT_GE(bundle.best(), bundle.lower() - 1e-9 * (1 + std::fabs(last)));
      last = bundle.lower();
      if (t == 0) first = bundle.best() - bundle.lower();
    }
    EXPECT_LE(bundle.best() - bundle.lower(), 0.1 * first);
  });
}

TEST(Pegasos, WeightsAreThoseOfTheDualVector) {
  std::uint64_t seed = 0;
  int compared = 0;
  for (const loss::Any& loss : every_loss()) {
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      for (const std::size_t batch : {1u, 7u, 1000u}) {
        ++seed;
        BundleCase asked(loss, 50, 4, bias, seed % 2 == 0, seed);
        asked.setup.settings.standardize = seed % 5 == 0;
        const data::Dataset dataset = dataset_of(asked.setup);
        const registry::Plan plan(dataset, asked.setup.settings, asked.setup.weights);
        const problem::Problem problem = plan.problem(0);
        if (solver::Pegasos::missing(problem.loss, problem.penalty)) continue;
        solver::Pegasos pegasos(problem, {}, {.seed = seed, .batch = batch});
        data::LinearMap map(problem.design);
        double first = 0.0;
        for (int epoch = 1; epoch <= 200; ++epoch) {
          EXPECT_EQ(pegasos.step(), 1.0);
          if (epoch == 1) first = certify(problem, pegasos).gap;
          if (epoch % 40 != 1) continue;
          const problem::Candidate at = pegasos.candidate();
          std::vector<double> beta(problem.rows()), u(problem.dimension());
          for (std::size_t i = 0; i < beta.size(); ++i) {
            std::visit(
                [&](const auto& l) {
                  const Interval domain = l.dual_domain(problem.sample.targets[i]);
                  EXPECT_GE(at.alpha[i], domain.low - 1e-15);
                  EXPECT_LE(at.alpha[i], domain.high + 1e-15);
                },
                problem.loss);
            beta[i] = problem.sample.weight(i) * at.alpha[i] / problem.sample.weight_sum;
          }
          map.adjoint(beta, u);
          for (std::size_t j = 0; j < u.size(); ++j) {
            const double w = u[j] / problem.penalty[j].l2;
            EXPECT_NEAR(at.w[j], w, 1e-11 * (1 + std::fabs(w))) << title(loss) << " batch " << batch;
          }
        }
        EXPECT_LE(certify(problem, pegasos).gap, 0.2 * first) << title(loss) << " batch " << batch;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 50);
}

}  // namespace
}  // namespace fenchel::test
