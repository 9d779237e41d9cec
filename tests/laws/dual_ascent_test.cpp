// The dual objective never falls: not in a step, whatever the option, and not when blocks are merged, however much
// their rows have in common.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/solver/dual_ascent.hpp"
#include "tests/support/exact.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using kernel::StepOption;
using registry::Bias;

struct Dual {
  Quad value = 0;
  Quad size = 0;
};

// The dual of the problem with the proximal term of a free bias, (1/(2 s)) (b - centre)^2, if s > 0.
Dual dual_of(const Instance& p, std::span<const double> alpha, double s, double centre) {
  const Quad total = weight_sum<Quad>(p);
  Dual dual;
  Quad t = 0;
  std::vector<Quad> u(p.l1.size(), Quad(0));
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    if (p.c[i] == 0.0) continue;
    const Quad share = Quad(p.c[i]) / total, conjugate = conjugate_at(p, p.y[i], alpha[i]);
    dual.value -= share * conjugate;
    dual.size += share * magnitude(conjugate);
    t += share * alpha[i];
    for (std::size_t j = 0; j < p.features(); ++j) u[j] += share * alpha[i] * p.rows[i][j];
    if (p.constant != 0.0) u[p.features()] += share * alpha[i] * p.constant;
  }
  for (std::size_t j = 0; j < u.size(); ++j) {
    const Quad excess = larger(Quad(0), magnitude(u[j]) - p.l1[j]), term = excess * excess / (2 * Quad(p.l2[j]));
    dual.value -= term;
    dual.size += term;
  }
  const Quad bias = Quad(centre) * t + Quad(s) / 2 * t * t;
  dual.value -= bias;
  dual.size += magnitude(bias);
  return dual;
}

void expect_no_fall(const Dual& before, const Dual& after) {
  ASSERT_GE(static_cast<double>(after.value - before.value),
            -1e-12 * static_cast<double>(before.size + after.size));
}

Case with_penalty(Case setup, double l1, Bias bias) {
  setup.settings.direct = penalty::Strength{.l1 = l1, .l2 = 0.05};
  setup.settings.lambda = 0.0;
  setup.settings.bias = bias;
  return setup;
}

// 1/s of the bias's term, as the solver has it: ten times the mean curvature of the rows.
double bias_step(const Instance& p, double l2) {
  const auto total = static_cast<double>(weight_sum<long double>(p));
  double mean = 0.0;
  for (std::size_t i = 0; i < p.rows.size(); ++i) {
    for (const double x : p.rows[i]) mean += p.c[i] / total * x * x / l2;
  }
  return mean / 10.0;
}

class DualAscentLaw : public testing::TestWithParam<loss::Any> {};

TEST_P(DualAscentLaw, NoStepLowersTheDual) {
  for (const double l1 : {0.0, 0.04}) {
    const Case setup = with_penalty(random_setup(GetParam(), 24, 3, Storage::csr64, 3), l1, Bias::regularized);
    const Instance instance = instance_of(setup);
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::Problem problem = plan.problem(0);
    for (int option = 1; option <= 5; ++option) {
      if (option == 5 && loss::smoothness(GetParam()) == 0.0) continue;
      SCOPED_TRACE("option " + std::to_string(option) + " l1 " + std::to_string(l1));
      const std::size_t n = problem.rows(), d = problem.dimension();
      const double l2 = problem.penalty.base().l2;
      const std::vector<double> shares(n, 1.0 / static_cast<double>(n));
      LargeVector curvatures = data::LinearMap(problem.design).row_square_norms({});
      double largest = 0.0;
      for (double& q : curvatures) largest = std::max(largest, q /= l2 * static_cast<double>(n));
      std::vector<double> alpha(n, 0.0), induced(d, 0.0);
      std::vector<std::uint8_t> resting(n, 0);
      Dual dual = dual_of(instance, alpha, 0.0, 0.0);
      for (std::uint32_t k = 0; k < 4 * n; ++k) {
        const std::vector<std::uint32_t> order{static_cast<std::uint32_t>(k % n)};
        kernel::SweepState state{.order = order,
                                 .targets = problem.sample.targets,
                                 .shares = shares,
                                 .curvatures = curvatures,
                                 .alpha = alpha,
                                 .resting = resting,
                                 .rule = {.option = static_cast<StepOption>(option), .largest_curvature = largest},
                                 .constant = problem.design.constant};
        std::visit(
            [&](const auto& rows, const auto& loss) {
              if (l1 == 0.0) {
                kernel::RidgeLink link{.w = induced, .inverse_l2 = 1.0 / l2};
                kernel::dual_sweep(rows, kernel::RowVisit(loss), link, state);
              } else {
                kernel::ElasticNetLink link{.u = induced, .l1 = l1, .inverse_l2 = 1.0 / l2};
                kernel::dual_sweep(rows, kernel::RowVisit(loss), link, state);
              }
            },
            problem.design.matrix, problem.loss);
        const Dual next = dual_of(instance, alpha, 0.0, 0.0);
        expect_no_fall(dual, next);
        if (HasFatalFailure()) return;
        dual = next;
      }
      EXPECT_GT(dual.value, 0);
    }
  }
}

TEST_P(DualAscentLaw, NoMergeOfBlocksLowersTheDual) {
  for (const bool identical : {false, true}) {
    for (const Bias bias : {Bias::none, Bias::free}) {
      for (const double l1 : {0.0, 0.04}) {
        Case setup = with_penalty(random_setup(GetParam(), 24, 3, Storage::csr64, 4), l1, bias);
        if (identical) {
          for (std::vector<double>& row : setup.rows) row = setup.rows.front();
        }
        const Instance instance = instance_of(setup);
        const data::Dataset dataset = dataset_of(setup);
        const registry::Plan plan(dataset, setup.settings);
        const problem::Problem problem = plan.problem(0);
        const double s = bias == Bias::free ? bias_step(instance, problem.penalty.base().l2) : 0.0;
        for (const std::size_t blocks : {1u, 2u, 3u}) {
          SCOPED_TRACE("blocks " + std::to_string(blocks) + (identical ? " identical" : "") + " l1 " +
                       std::to_string(l1) + (s > 0.0 ? " bias" : ""));
          solver::DualAscent ascent(problem, {}, {.seed = 9, .ascent = {.blocks = blocks}});
          for (int sweep = 0; sweep < 25; ++sweep) {
            const double centre = ascent.bias();
            const Dual before = dual_of(instance, ascent.alpha(), s, centre);
            ascent.sweep();
            expect_no_fall(before, dual_of(instance, ascent.alpha(), s, centre));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, DualAscentLaw, testing::ValuesIn(every_loss()), name_of_loss);

}  // namespace
}  // namespace fenchel::test
