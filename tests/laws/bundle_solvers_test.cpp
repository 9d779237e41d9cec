// What bmrm, bmrm-ls and pegasos say about themselves: the dual vectors they hand over prove at least the bounds they work
// with, and pegasos's weights are those of its dual vector.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/problem/certificate.hpp"
#include "fenchel/registry/solvers.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

struct Asked {
  Asked(const loss::Any& loss, std::size_t n, std::size_t d, Bias bias, bool weighted, std::uint64_t seed)
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
        Asked asked(loss, 60, 6, bias, seed % 3 == 0, seed);
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

TEST(Pegasos, WeightsAreThoseOfTheDualVector) {
  std::uint64_t seed = 0;
  int compared = 0;
  for (const loss::Any& loss : every_loss()) {
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      for (const std::size_t batch : {1u, 7u, 1000u}) {
        ++seed;
        Asked asked(loss, 50, 4, bias, seed % 2 == 0, seed);
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
