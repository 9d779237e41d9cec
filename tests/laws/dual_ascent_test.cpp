// The dual objective never falls: not in a step, whatever the option, and not when blocks are merged, however much
// their rows have in common.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "fenchel/solver/dual_ascent.hpp"
#include "tests/support/dual_value.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using kernel::StepOption;
using registry::Bias;

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
