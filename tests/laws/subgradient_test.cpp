// Cuts of the risk: below it everywhere, touching it where they were taken, with duals that sum to zero under a free bias;
// and the compact form in which their duals are kept.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/risk/pointwise.hpp"
#include "fenchel/solver/compact_dual.hpp"
#include "fenchel/solver/risk_cuts.hpp"
#include "tests/support/multiclass.hpp"
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
    problem::Problem problem;
    problem.sample.targets = targets;
    problem.loss = loss;
    const solver::CompactDual compact(alpha, problem);
    std::vector<double> sum(n, 0.0);
    compact.add_to(1.0, problem, sum);
    EXPECT_EQ(sum, alpha) << title(loss);
    compact.add_to(-0.5, problem, sum);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(sum[i], 0.5 * alpha[i]);
    EXPECT_LE(compact.bytes(), kinked ? n / 3 : 8 * n) << title(loss);
  }
}

TEST(CompactDual, KeepsEveryClass) {
  Random random(13);
  const std::size_t n = 5003;
  for (const std::size_t k : {2u, 6u, 7u, 30u, 300u}) {
    problem::MulticlassProblem problem;
    problem.sample.classes = k;
    std::vector<double> beta(n * k, 0.0);
    std::size_t listed = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 3 == 0) continue;
      beta[i * k + random.below(k)] = 1.0;
      if (i % 500 != 1) continue;
      for (std::size_t l = 0; l < k; ++l) beta[i * k + l] = random.uniform() / static_cast<double>(k);
      ++listed;
    }
    const solver::CompactClassDual compact(beta, problem);
    std::vector<double> sum(n * k, 0.0);
    compact.add_to(1.0, problem, sum);
    EXPECT_EQ(sum, beta) << k;
    compact.add_to(-0.5, problem, sum);
    for (std::size_t e = 0; e < sum.size(); ++e) EXPECT_EQ(sum[e], 0.5 * beta[e]);
    EXPECT_LE(compact.bytes(), 2 * n + listed * 8 * (k + 1)) << k;
  }
}

// Of all classes: below the risk everywhere, and short of it where they were taken by what was asked for at most.
TEST(Subgradient, CutsOfAllClasses) {
  Random random(14);
  std::uint64_t seed = 0;
  for (const loss::AnyVector& loss : every_vector_loss()) {
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      for (const bool integers : {false, true}) {
        SCOPED_TRACE(std::string(loss::name(loss::Chosen(loss))) + (integers ? " integers" : ""));
        ++seed;
        const std::size_t k = 2 + seed % 4;
        Case setup = multiclass_case(loss, 50, 3, k, static_cast<Storage>(seed % 4), seed);
        setup.settings.bias = bias;
        for (std::size_t i = 0; seed % 2 == 0 && i < setup.rows.size(); ++i) {
          setup.weights.push_back(i % 5 == 4 ? 0.0 : 0.1 + random.uniform());
        }
        const data::Dataset dataset = dataset_of(setup);
        const registry::Plan plan(dataset, setup.settings, setup.weights);
        const problem::MulticlassProblem problem = plan.multiclass();
        const bool smoothed = problem.free_bias && std::holds_alternative<loss::MulticlassHinge>(loss);
        solver::ClassCuts cuts(problem, std::vector<double>(problem.free_bias ? k : 0));
        const risk::ClassRisk risk(problem.design, problem.sample, problem.loss, problem.free_bias);
        for (const double gap : {1.0, 1e-2, 1e-5}) {
          cuts.sharpen(gap);
          const std::vector<double> w = point(problem.dimension() * k, integers, random);
          std::vector<double> slope(w.size());
          const solver::CutOracle::Answer answer = cuts.cut(w, slope);
          const auto cut_at = [&](const std::vector<double>& v) {
            double height = answer.offset;
            for (std::size_t j = 0; j < v.size(); ++j) height += slope[j] * v[j];
            return height;
          };
          EXPECT_NEAR(cut_at(w) + answer.shortfall, answer.value, 1e-10 * (1 + answer.value));
          EXPECT_LE(answer.shortfall, smoothed ? 0.1 * gap : 0.0);

          std::vector<double> sums(k, 0.0);
          for (std::size_t i = 0; i < problem.rows(); ++i) {
            for (std::size_t l = 0; l < k; ++l) {
              const double flow = problem.sample.weight(i) * cuts.dual()[i * k + l];
              sums[l] += flow;
              sums[problem.sample.targets[i]] -= flow;
            }
          }
          for (const double sum : sums) EXPECT_TRUE(!problem.free_bias || std::fabs(sum) <= 1e-8) << sum;

          const std::vector<double> other = point(w.size(), integers, random);
          risk::ClassRisk::State state;
          risk.locate(other, std::vector<double>(problem.free_bias ? k : 0), state);
          EXPECT_LE(cut_at(other), risk.value(state) + 1e-9 * (1 + std::fabs(answer.offset)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
