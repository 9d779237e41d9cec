// newton for losses of all classes begins with dual ascent where that is worth while.
#include <gtest/gtest.h>

#include <cmath>

#include "fenchel/registry/fit.hpp"
#include "tests/support/multiclass.hpp"

namespace fenchel::test {
namespace {

Case staged_case(std::size_t columns, double lambda) {
  Case setup = multiclass_case(loss::Softmax{}, 600, columns, 6, Storage::csr64, 31);
  for (auto& row : setup.rows) {
    for (std::size_t j = 0; j < row.size(); j += 2) row[j] *= 8.0;
  }
  setup.settings.solver = "newton";
  setup.settings.lambda = lambda;
  setup.settings.bias = registry::Bias::none;
  return setup;
}

registry::Fit staged_fit(const Case& setup, const run::Options& options,
                         std::span<const solver::Start> starts = {}) {
  const data::Dataset dataset = dataset_of(setup);
  return registry::fit(registry::Plan(dataset, setup.settings, setup.weights), options, starts);
}

// Rows come in a random order, Newton's steps do not.
TEST(StagedNewton, AscendsFirstWhereColumnsAreMany) {
  for (const std::size_t columns : {20, 250}) {
    Case setup = staged_case(columns, 1e-4);
    const run::Options options{.tolerance = 1e-6, .max_passes = 5000};
    const registry::Fit one = staged_fit(setup, options);
    setup.settings.seed = 7;
    const registry::Fit other = staged_fit(setup, options);
    EXPECT_EQ(one.status, run::Status::optimal) << one.total.gap;
    EXPECT_EQ(one.outputs[0].w == other.outputs[0].w, columns == 20) << columns;
  }
}

// Whatever the problem, what is claimed does not contradict what a solver of another kind claims.
TEST(StagedNewton, ClaimsHoldForEveryBiasAndWeights) {
  for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free, registry::Bias::regularized}) {
    for (const bool weighted : {false, true}) {
      Case setup = staged_case(250, 1e-2);
      setup.settings.bias = bias;
      for (std::size_t i = 0; weighted && i < setup.rows.size(); ++i) {
        setup.weights.push_back(static_cast<double>(i % 4));  // some of them 0
      }
      const registry::Fit newton = staged_fit(setup, {.tolerance = 1e-6, .max_passes = 5000});
      EXPECT_EQ(newton.status, run::Status::optimal) << newton.total.gap;
      setup.settings.solver = "fista";
      const registry::Fit fista = staged_fit(setup, {.tolerance = 1e-4, .max_passes = 5000});
      EXPECT_LE(newton.total.dual, fista.total.primal * (1 + 1e-14));
      EXPECT_LE(fista.total.dual, newton.total.primal * (1 + 1e-14));
      EXPECT_LE(std::fabs(newton.total.primal - fista.total.primal), newton.total.gap + fista.total.gap);
    }
  }
}

// Where the fit has to end before Newton's method would have come anywhere, it goes on row by row.
TEST(StagedNewton, KeepsToAFewPasses) {
  const registry::Fit fit = staged_fit(staged_case(250, 1e-5), {.tolerance = 1e-9, .max_passes = 25});
  EXPECT_LE(fit.passes, 25.0);
  EXPECT_LT(fit.total.gap, 1.0);
}

// Columns of any scale: an ascent that leads nowhere does no harm.
TEST(StagedNewton, TakesAnyScale) {
  for (const double scale : {1e2, 1e4, 1e6, 1e8, 1e9}) {
    Case setup = staged_case(250, 1e-2);
    for (auto& row : setup.rows) {
      for (double& x : row) x *= scale;
    }
    const registry::Fit fit = staged_fit(setup, {.tolerance = 1e-3, .max_passes = 20000});
    EXPECT_EQ(fit.status, run::Status::optimal) << scale << ": " << fit.total.gap;
  }
}

// The point that was given is not left for another one.
TEST(StagedNewton, GoesOnFromAStart) {
  Case setup = staged_case(250, 1e-5);
  const registry::Fit first = staged_fit(setup, {.tolerance = 1e-8, .max_passes = 5000});
  std::vector<solver::Start> starts;
  for (const registry::Output& o : first.outputs) starts.push_back({.w = o.w, .b = o.b, .alpha = o.beta});
  const run::Options options{.tolerance = 1e-6, .max_passes = 5000};
  const registry::Fit again = staged_fit(setup, options, starts);
  EXPECT_EQ(again.status, run::Status::optimal) << again.total.gap;
  EXPECT_LT(again.passes, first.passes);
  setup.settings.seed = 7;
  EXPECT_EQ(staged_fit(setup, options, starts).outputs[0].w, again.outputs[0].w);
}

}  // namespace
}  // namespace fenchel::test
