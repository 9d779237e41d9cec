// Laws of conjugate gradients on the supports of a multiclass hinge.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/kernel/class_rows.hpp"
#include "fenchel/problem/multiclass_certificate.hpp"
#include "fenchel/registry/plan.hpp"
#include "fenchel/solver/multiclass_sdca.hpp"
#include "fenchel/solver/support_ascent.hpp"
#include "tests/support/multiclass.hpp"

namespace fenchel::test {
namespace {

constexpr std::size_t ascent_rows = 120, ascent_classes = 4;

// The weights of a dual vector, padded as sweeps keep them, straight from their definition.
LargeVector padded_weights_of(const problem::MulticlassProblem& problem, std::span<const double> shares,
                              std::span<const double> beta) {
  const std::size_t stride = kernel::padded(ascent_classes);
  LargeVector w(problem.dimension() * stride, 0.0);
  const double inverse_l2 = 1.0 / problem.penalty.base().l2;
  std::visit(
      [&](const auto& matrix) {
        for (std::size_t i = 0; i < ascent_rows; ++i) {
          const std::size_t y = problem.sample.targets[i];
          const auto add = [&](std::size_t j, double x) {
            for (std::size_t l = 0; l < ascent_classes; ++l) {
              if (l == y) continue;
              const double change = shares[i] * beta[i * ascent_classes + l] * x * inverse_l2;
              w[j * stride + l] -= change;
              w[j * stride + y] += change;
            }
          };
          matrix.row(i).for_each(add);
          if (problem.design.constant != 0.0) add(matrix.cols(), problem.design.constant);
        }
      },
      problem.design.matrix);
  return w;
}

// From duals that a few sweeps have led to: the dual rises, weights stay those of the duals, these feasible, and what was 0 is 0.
TEST(SupportAscent, RaisesTheDualWithinTheSupport) {
  for (const registry::Bias bias : {registry::Bias::none, registry::Bias::regularized}) {
    for (const Storage storage : {Storage::csr64, Storage::dense64}) {
      Case setup = multiclass_case(loss::MulticlassHinge{}, ascent_rows, 9, ascent_classes, storage, 31);
      setup.settings.bias = bias;
      setup.settings.lambda = 1e-3;
      const data::Dataset dataset = dataset_of(setup);
      const registry::Plan plan(dataset, setup.settings);
      const problem::MulticlassProblem problem = plan.multiclass();
      const problem::MulticlassCertifier certifier(problem);
      solver::MulticlassSdca sdca(problem, {}, {});
      sdca.step();
      sdca.step();
      const problem::MulticlassCandidate offered = sdca.candidate();
      const std::vector<double> before(offered.beta.begin(), offered.beta.end());
      std::vector<double> shares(ascent_rows, 1.0 / ascent_rows), curvatures(ascent_rows);
      const LargeVector squares =
          data::LinearMap(problem.design)
              .row_square_norms(std::vector<double>(problem.dimension(), 1.0 / problem.penalty.base().l2));
      for (std::size_t i = 0; i < ascent_rows; ++i) curvatures[i] = shares[i] * squares[i];

      std::vector<double> beta = before;
      LargeVector weights = padded_weights_of(problem, shares, beta);
      solver::SupportAscent ascent;
      const solver::SupportAscent::Setting setting{.problem = problem,
                                                   .shares = shares,
                                                   .curvatures = curvatures,
                                                   .inverse_l2 = 1.0 / problem.penalty.base().l2,
                                                   .stride = kernel::padded(ascent_classes)};
      EXPECT_EQ(ascent.climb(setting, beta, weights, 0.0), 0.0);
      EXPECT_TRUE(ascent.rows().empty());
      EXPECT_EQ(beta, before) << "there was no work to spend";

      double last = certifier.dual(before).value;
      for (int turn = 0; turn < 5; ++turn) {
        EXPECT_GT(ascent.climb(setting, beta, weights, 1e9), 0.0);
        const double value = certifier.dual(beta).value;
        EXPECT_GE(value, last - 1e-14) << turn;
        last = value;
      }
      EXPECT_GT(last, certifier.dual(before).value + 1e-7);

      const LargeVector exact = padded_weights_of(problem, shares, beta);
      for (std::size_t e = 0; e < exact.size(); ++e) EXPECT_NEAR(weights[e], exact[e], 1e-11);
      for (std::size_t i = 0; i < ascent_rows; ++i) {
        double sum = 0.0;
        for (std::size_t l = 0; l < ascent_classes; ++l) {
          const std::size_t e = i * ascent_classes + l;
          if (l == problem.sample.targets[i]) continue;
          EXPECT_GE(beta[e], 0.0);
          EXPECT_TRUE(before[e] > 0.0 || beta[e] == 0.0);
          sum += beta[e];
        }
        EXPECT_LE(sum, 1.0 + 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
