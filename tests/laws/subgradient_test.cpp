// Cuts of the risk: below it everywhere, touching it where they were taken, with duals that sum to zero under a free bias;
// and the compact form in which their duals are kept.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/risk/pointwise.hpp"
#include "fenchel/solver/compact_dual.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

double value_at(const risk::Pointwise& risk, const std::vector<double>& w) {
  risk::Pointwise::State state;
  risk.locate(w, 0.0, state);
  return risk.value(state);
}

// Weights of small integers put many rows at the same kink.
std::vector<double> point(std::size_t d, bool integers, Random& random) {
  std::vector<double> w(d);
  for (double& x : w) x = integers ? std::round(2 * random.normal()) : random.normal();
  return w;
}

TEST(Subgradient, CutsAreTightAndBalanced) {
  Random random(11);
  std::uint64_t seed = 0;
  for (const loss::Any& loss : every_loss()) {
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      for (const bool integers : {false, true}) {
        for (const bool weighted : {false, true}) {
          SCOPED_TRACE(title(loss) + (integers ? " integers" : "") + (weighted ? " weighted" : ""));
          ++seed;
          Case setup = random_setup(loss, 40, 3, static_cast<Storage>(seed % 4), seed);
          setup.settings.bias = bias;
          setup.settings.lambda = 0.1;
          if (integers) {
            for (auto& row : setup.rows) {
              for (double& x : row) x = std::round(x);
            }
          }
          for (std::size_t i = 0; weighted && i < setup.rows.size(); ++i) {
            setup.weights.push_back(i % 5 == 4 ? 0.0 : 0.1 + random.uniform());
          }
          const data::Dataset dataset = dataset_of(setup);
          const registry::Plan plan(dataset, setup.settings, setup.weights);
          const problem::Problem problem = plan.problem(0);
          risk::Pointwise risk(problem.design, problem.sample, problem.loss, problem.free_bias);
          for (int k = 0; k < 5; ++k) {
            const std::vector<double> w = point(problem.dimension(), integers, random);
            risk::Pointwise::State state;
            risk.locate(w, 0.0, state);
            std::vector<double> slope(w.size());
            const double offset = risk.subgradient(state, slope);
            double cut = offset, size = std::fabs(offset);
            for (std::size_t j = 0; j < w.size(); ++j) {
              cut += slope[j] * w[j];
              size += std::fabs(slope[j] * w[j]);
            }
            EXPECT_NEAR(cut, risk.value(state), 1e-13 * (1 + size));

            long double sum = 0, magnitude = 0;
            for (std::size_t i = 0; i < problem.rows(); ++i) {
              const long double term = static_cast<long double>(problem.sample.weight(i)) * risk.dual()[i];
              sum += term;
              magnitude += std::fabs(term);
            }
            if (problem.free_bias) {
              EXPECT_LE(std::fabs(sum), 1e-15L * (1 + magnitude));
            }

            const std::vector<double> other = point(problem.dimension(), integers, random);
            double below = offset, terms = std::fabs(offset);
            for (std::size_t j = 0; j < w.size(); ++j) {
              below += slope[j] * other[j];
              terms += std::fabs(slope[j] * other[j]);
            }
            EXPECT_LE(below, value_at(risk, other) + 1e-13 * (1 + terms));
          }
        }
      }
    }
  }
}

TEST(CompactDual, KeepsEveryValue) {
  Random random(12);
  const std::size_t n = 10007;
  for (const loss::Any& loss : every_loss()) {
    std::vector<double> alpha(n), targets(n);
    const bool kinked = loss::smoothness(loss) == 0.0;
    std::visit(
        [&](const auto& l) {
          for (std::size_t i = 0; i < n; ++i) {
            targets[i] = has_classes(loss) ? (random.uniform() < 0.5 ? -1.0 : 1.0) : random.normal();
            const double z = i % 100 == 0 ? targets[i] : 3 * random.normal();
            alpha[i] = loss::project_dual(l, targets[i], -l.derivative(targets[i], z));
            if (i % 1000 == 7) alpha[i] *= 0.3;  // in between
          }
        },
        loss);
    const solver::CompactDual compact(alpha, targets, loss);
    std::vector<double> sum(n, 0.0);
    compact.add_to(1.0, targets, loss, sum);
    EXPECT_EQ(sum, alpha) << title(loss);
    compact.add_to(-0.5, targets, loss, sum);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(sum[i], 0.5 * alpha[i]);
    EXPECT_LE(compact.bytes(), kinked ? n / 3 : 8 * n) << title(loss);
  }
}

}  // namespace
}  // namespace fenchel::test
