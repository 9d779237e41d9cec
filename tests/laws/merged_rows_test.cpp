// Merging equal rows changes neither the objective nor the dual objective, and fits with it are fits of the problem asked.
#include "fenchel/solver/merged_rows.hpp"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <string>
#include <vector>

#include "fenchel/problem/certificate.hpp"
#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/solvers.hpp"
#include "tests/support/promise.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

// Copies of the rows of a random problem, in random order; copies of a row have different weights, some of them 0.
Case repeated(const loss::Any& loss, std::size_t n, std::size_t distinct, Storage storage, std::uint64_t seed) {
  const Case source = random_setup(loss, distinct, 3, storage, seed);
  Case setup = source;
  setup.rows.clear();
  setup.labels.clear();
  Random random(seed);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = i < distinct ? i : random.below(distinct);
    setup.rows.push_back(source.rows[k]);
    setup.labels.push_back(source.labels[k]);
    setup.weights.push_back(i % 7 == 6 ? 0.0 : 0.3 + random.uniform());
  }
  return setup;
}

struct Both {
  data::Dataset dataset;
  registry::Plan plan;
  problem::Problem asked;
  solver::MergedRows rows;
  std::vector<double> targets;
  problem::Problem merged;

  explicit Both(const Case& setup)
      : dataset(dataset_of(setup)),
        plan(dataset, setup.settings, setup.weights, setup.factors),
        asked(plan.problem(0)),
        rows(dataset.matrix(), data::find_equal_rows(dataset.matrix(), dataset.targets), asked.sample),
        merged(rows.problem(asked, targets)) {}
};

TEST(MergedRows, ObjectivesAndCertificatesAreTheSame) {
  std::uint64_t seed = 1;
  for (const loss::Any& loss : every_loss()) {
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      SCOPED_TRACE(title(loss));
      ++seed;
      Case setup = repeated(loss, 60, 14, static_cast<Storage>(seed % 4), seed);
      setup.settings.bias = bias;
      setup.settings.penalty = penalty::ElasticNet{0.3};
      setup.settings.lambda = 0.1;
      setup.factors = {1.0, 0.5, 2.0};
      if (has_classes(setup.settings.loss)) setup.settings.class_weight.by_label = {{7.0, 3.0}};
      if (seed % 2 == 0) setup.weights.clear();
      const Both both(setup);
      ASSERT_EQ(both.rows.rows(), 14u);
      const problem::Certifier asked(both.asked), merged(both.merged);
      Random random(seed);
      std::vector<double> w(both.asked.dimension()), alpha(both.rows.rows()), expanded;
      for (double& x : w) x = random.normal();
      for (double& a : alpha) a = random.normal();
      for (const std::uint32_t place : both.rows.place()) expanded.push_back(alpha[place]);
      const double b = bias == Bias::free ? random.normal() : 0.0;
      const problem::PrimalPoint p = asked.primal(w, b), q = merged.primal(w, b);
      const problem::DualPoint d = asked.dual(alpha, both.rows.place()), e = merged.dual(alpha);
      EXPECT_EQ(d.beta, asked.dual(expanded).beta);
      const double scale = 1.0 + std::fabs(p.value) + std::fabs(d.value);
      EXPECT_NEAR(p.value, q.value, 1e-13 * scale);
      EXPECT_NEAR(d.value, e.value, 1e-12 * scale);
      for (std::size_t j = 0; j < d.u.size(); ++j) EXPECT_NEAR(d.scale * d.u[j], e.scale * e.u[j], 1e-12 * scale);
      EXPECT_NEAR(asked.pair(p, d).gap, merged.pair(q, e).gap, 1e-12 * scale);
      // A start that is the same on equal rows is kept; a weight of 0 has no say.
      const std::vector<double> back = both.rows.merged(expanded, both.asked.sample);
      for (std::size_t k = 0; k < back.size(); ++k) {
        if (both.merged.sample.weights[k] > 0.0) {
          EXPECT_NEAR(back[k], alpha[k], 1e-14);
        }
      }
    }
  }
}

TEST(MergedRows, AStartIsTheMeanUnderTheWeights) {
  const Case setup{
      .rows = {{1.0}, {2.0}, {1.0}, {1.0}}, .labels = {3.0, 3.0, 3.0, 7.0}, .weights = {1.0, 0.0, 0.5, 2.0}};
  const Both both(setup);
  EXPECT_EQ(both.rows.rows(), 3u);
  const std::vector<double> weights(both.merged.sample.weights.begin(), both.merged.sample.weights.end());
  EXPECT_EQ(weights, (std::vector{1.5 / 3.5, 0.0, 2.0 / 3.5}));
  EXPECT_EQ(both.merged.sample.weight_sum, 1.0);
  const std::vector<double> start = both.rows.merged(std::vector{-0.9, -0.2, 0.0, 0.4}, both.asked.sample);
  const std::vector<double> expected{-0.9 / 1.5, 0.0, 0.4};
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(start[k], expected[k], 1e-15);
  EXPECT_EQ(both.rows.passes_a_pass(), 6.0 / 8.0);
}

registry::Fit fit(const Case& setup, bool merge, std::string_view solver, double tolerance,
                  std::span<const solver::Start> start = {}) {
  const data::Dataset dataset = dataset_of(setup);
  registry::Settings settings = setup.settings;
  settings.merge_rows = merge;
  settings.solver = solver;
  const registry::Plan plan(dataset, settings, setup.weights);
  return registry::fit(plan, promised(solver, {.tolerance = tolerance, .max_passes = 3000}), start);
}

TEST(MergedRows, FitsAgreeWithThoseOfTheRowsAsTheyAre) {
  std::uint64_t seed = 30;
  for (const loss::Any& loss : {loss::Any(loss::Hinge{}), loss::Any(loss::Logistic{}), loss::Any(loss::Huber{})}) {
    ++seed;
    Case setup = repeated(loss, 5000, 60, static_cast<Storage>(seed % 4), seed);
    setup.settings.lambda = 0.01;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings, setup.weights);
    const registry::Fit reference = fit(setup, false, "auto", 1e-8);
    EXPECT_FALSE(reference.distinct_rows);
    for (const std::string_view solver : registry::supporting(plan.problem(0).loss, plan.problem(0).penalty)) {
      SCOPED_TRACE(title(loss) + " " + std::string(solver));
      const registry::Fit merged = fit(setup, true, solver, 1e-5);
      const bool row_by_row = solver == "sdca" || solver == "accelerated-sdca" || solver == "pegasos";
      EXPECT_EQ(merged.distinct_rows.has_value(), !row_by_row);
      if (!sublinear(solver)) {
        EXPECT_EQ(merged.status, run::Status::optimal);
      }
      // Gaps are about exact values of P; those reported are rounded.
      EXPECT_LE(std::fabs(merged.total.primal - reference.total.primal),
                merged.total.gap + reference.total.gap + 1e-15);
      // What is certified is what the problem asked has at these points.
      const registry::Output& output = merged.outputs.front();
      ASSERT_EQ(output.beta.size(), setup.rows.size());
      const problem::Certifier certifier(plan.problem(0));
      const problem::Certificate again =
          certifier.pair(certifier.primal(output.w, output.b), certifier.dual_as_given(output.beta));
      EXPECT_LE(again.gap, merged.total.gap * (1 + 1e-9) + again.rounding);
    }
  }
}

TEST(MergedRows, SeveralOutputsAndWarmStarts) {
  Case setup = repeated(loss::SquaredHinge{}, 5000, 60, Storage::csr64, 5);
  for (std::size_t i = 0; i < setup.labels.size(); ++i) {
    if (setup.rows[i][0] > 0.5) setup.labels[i] = 9.0;  // a third class
  }
  setup.settings.lambda = 0.01;
  const registry::Fit merged = fit(setup, true, "newton", 1e-6), separate = fit(setup, false, "newton", 1e-6);
  ASSERT_EQ(merged.outputs.size(), 3u);
  std::vector<solver::Start> starts;
  std::vector<std::vector<double>> alpha;
  for (std::size_t k = 0; k < 3; ++k) {
    const registry::Output &a = merged.outputs[k], &b = separate.outputs[k];
    EXPECT_LE(std::fabs(a.certificate.primal - b.certificate.primal),
              a.certificate.gap + b.certificate.gap + 1e-15);
    alpha.push_back(b.beta);
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings, setup.weights);
    for (std::size_t i = 0; i < alpha[k].size(); ++i) {
      const double c = plan.combined_weights()[i];
      alpha[k][i] = c > 0.0 ? alpha[k][i] / c : 0.0;
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    starts.push_back({.w = separate.outputs[k].w, .b = separate.outputs[k].b, .alpha = alpha[k]});
  }
  const registry::Fit warm = fit(setup, true, "newton", 1e-5, starts);
  EXPECT_TRUE(warm.distinct_rows);
  EXPECT_EQ(warm.status, run::Status::optimal);
  EXPECT_LT(warm.passes, fit(setup, true, "newton", 1e-5).passes);
}

TEST(MergedRows, OnlyWhereItPays) {
  const Case few = repeated(loss::Hinge{}, 5000, 4000, Storage::csr64, 2);
  EXPECT_FALSE(fit(few, true, "newton", 1e-1).distinct_rows);
  const Case small = repeated(loss::Hinge{}, 1000, 20, Storage::csr64, 2);
  EXPECT_FALSE(fit(small, true, "newton", 1e-1).distinct_rows);
  const Case many = repeated(loss::Hinge{}, 5000, 20, Storage::csr64, 2);
  EXPECT_EQ(fit(many, true, "newton", 1e-1).distinct_rows, 20u);
  EXPECT_FALSE(fit(many, true, "sdca", 1e-1).distinct_rows);
}

TEST(MergedRowsParallel, SameBitsForAnyThreadCount) {
  for (const std::string_view solver : {"fista", "newton"}) {
    const Case setup = repeated(loss::Logistic{}, 3 * 4096, 300, Storage::csr64, 8);
    std::vector<registry::Fit> fits;
    for (const std::size_t threads : {1, 4}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      fits.push_back(fit(setup, true, solver, 1e-4));
      EXPECT_TRUE(fits.back().distinct_rows);
    }
    EXPECT_EQ(fits[0].outputs[0].w, fits[1].outputs[0].w);
    EXPECT_EQ(fits[0].outputs[0].b, fits[1].outputs[0].b);
    EXPECT_EQ(fits[0].outputs[0].beta, fits[1].outputs[0].beta);
    EXPECT_EQ(fits[0].total.gap, fits[1].total.gap);
  }
}

}  // namespace
}  // namespace fenchel::test
