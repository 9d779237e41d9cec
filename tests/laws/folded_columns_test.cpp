// Folding columns with a single entry changes neither the objective nor the dual objective, and fits with it are fits of the
// problem asked.
#include "fenchel/solver/folded_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include <oneapi/tbb/global_control.h>

#include "fenchel/problem/multiclass_certificate.hpp"
#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/plan.hpp"
#include "fenchel/solver/multiclass_sdca.hpp"
#include "tests/support/multiclass.hpp"

namespace fenchel::test {
namespace {

constexpr std::size_t classes = 4;
constexpr std::size_t few_shared = 6;

// A few columns that rows share, then `own` columns for each row but every third, and two empty ones in between.
Case with_rare_columns(const loss::AnyVector& loss, std::size_t n, std::size_t own, Storage storage,
                       std::size_t shared = few_shared) {
  Case setup = multiclass_case(loss, n, shared, classes, storage, 5);
  Random random(6);
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double>& row = setup.rows[i];
    row.resize(shared + 2 + n * own, 0.0);
    for (std::size_t j = 0; j < own && i % 3 != 0; ++j) {
      row[shared + 2 + i * own + j] = std::round(64 * random.normal()) / 64;
    }
  }
  setup.settings.solver = "sdca";
  return setup;
}

TEST(FoldedColumns, ObjectivesAreTheSame) {
  for (const loss::AnyVector& loss : every_vector_loss()) {
    for (const Storage storage : {Storage::csr64, Storage::csr32}) {
      for (const registry::Bias bias : {registry::Bias::none, registry::Bias::regularized}) {
        Case setup = with_rare_columns(loss, 40, 3, storage);
        setup.settings.bias = bias;
        const data::Dataset dataset = dataset_of(setup);
        const registry::Plan plan(dataset, setup.settings);
        const problem::MulticlassProblem asked = plan.multiclass();
        const solver::FoldedColumns columns(asked);
        const problem::MulticlassProblem folded = columns.problem();
        EXPECT_LE(folded.dimension(), few_shared + 40 + 1);
        EXPECT_LT(folded.dimension(), asked.dimension());

        Random random(7);
        std::vector<double> w(folded.dimension() * classes), beta(asked.rows() * classes);
        LargeVector expanded;
        for (double& weight : w) weight = random.normal();
        for (std::size_t e = 0; e < beta.size(); ++e) {
          beta[e] = e % classes == asked.sample.targets[e / classes] ? 0.0 : random.uniform() / classes;
        }
        columns.expand(w, expanded);
        const problem::MulticlassCertifier of_asked(asked), of_folded(folded);
        const double primal = of_folded.primal(w, {}).value, dual = of_folded.dual(beta).value;
        EXPECT_NEAR(of_asked.primal(expanded, {}).value, primal, 1e-13 * std::fabs(primal));
        EXPECT_NEAR(of_asked.dual(beta).value, dual, 1e-13 * std::fabs(dual));
      }
    }
  }
}

// So many rows, and so many entries against columns, that several threads count and fold.
TEST(FoldedColumnsParallel, AreTheSameForAnyThreadCount) {
  const Case setup = with_rare_columns(loss::MulticlassHinge{}, 600, 1, Storage::csr64, 40);
  const data::Dataset dataset = dataset_of(setup);
  ASSERT_GE(data::nonzeros(dataset.matrix()), 8 * (data::cols(dataset.matrix()) + 1));
  const registry::Plan plan(dataset, setup.settings);
  const problem::MulticlassProblem asked = plan.multiclass();
  const auto fold = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return solver::FoldedColumns(asked);
  };
  const solver::FoldedColumns by_one = fold(1), by_two = fold(2);
  const problem::MulticlassProblem one = by_one.problem(), two = by_two.problem();
  const auto& wanted = std::get<data::CsrRows<double>>(one.design.matrix);
  const auto& found = std::get<data::CsrRows<double>>(two.design.matrix);
  EXPECT_LT(wanted.cols(), data::cols(asked.design.matrix));
  EXPECT_EQ(found.cols(), wanted.cols());
  EXPECT_TRUE(std::ranges::equal(found.offsets, wanted.offsets));
  EXPECT_TRUE(std::ranges::equal(found.columns, wanted.columns));
  EXPECT_TRUE(std::ranges::equal(found.values, wanted.values));
}

// Entries whose squares underflow fold like others; columns without entries have no weight, whether or not any other is left.
TEST(FoldedColumns, TinyEntriesAndNone) {
  for (const double entry : {1e-200, 0.0}) {
    Case setup = multiclass_case(every_vector_loss().front(), 8, 1, classes, Storage::csr64, 5);
    for (std::size_t i = 0; i < setup.rows.size(); ++i) {
      setup.rows[i].assign(10, 0.0);
      setup.rows[i][i] = entry;
    }
    setup.settings.bias = registry::Bias::none;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::MulticlassProblem asked = plan.multiclass();
    const solver::FoldedColumns columns(asked);
    const std::size_t left = columns.problem().dimension();
    EXPECT_EQ(left, entry == 0.0 ? 0u : setup.rows.size());
    LargeVector expanded;
    columns.expand(std::vector<double>(left * classes, 2.0), expanded);
    ASSERT_EQ(expanded.size(), 10 * classes);
    EXPECT_EQ(expanded.front(), entry == 0.0 ? 0.0 : 2.0);
    EXPECT_EQ(expanded.back(), 0.0);
    EXPECT_FALSE(std::signbit(expanded.back()));
  }
}

TEST(FoldedColumns, SolversOfTheFoldedProblemSolveTheOneAsked) {
  for (const loss::AnyVector& loss : every_vector_loss()) {
    Case setup = with_rare_columns(loss, 60, 3, Storage::csr64);
    setup.settings.bias = registry::Bias::free;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::MulticlassProblem asked = plan.multiclass();
    const solver::FoldedColumns columns(asked);
    solver::FoldedSolver solver(columns, [](const problem::MulticlassProblem& folded) {
      return std::make_unique<solver::MulticlassSdca>(folded, solver::MulticlassStart{}, solver::Conduct{});
    });
    const problem::MulticlassCertifier certifier(asked);
    problem::Certificate pair;
    for (int step = 1; step <= 3000 && !(pair.valid() && pair.gap <= 1e-6 * pair.primal); ++step) {
      solver.step();
      if (step % 100 != 0 && !solver.stationary()) continue;
      const problem::MulticlassCandidate offered = solver.candidate();
      pair = certifier.pair(certifier.primal_with_best_bias(offered.w, offered.b), certifier.dual(offered.beta));
      if (solver.stationary()) break;
    }
    ASSERT_TRUE(pair.valid());
    EXPECT_LE(pair.gap, 1e-6 * pair.primal) << loss::name(loss::Chosen(loss));
  }
}

TEST(FoldedColumns, OnlyWhereItPays) {
  const auto pays = [](const Case& setup) {
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    return solver::FoldedColumns::where_it_pays(plan.multiclass()).has_value();
  };
  Case setup = with_rare_columns(loss::MulticlassHinge{}, 120, 150, Storage::csr64);
  EXPECT_TRUE(pays(setup));
  Case thresholded = setup;
  thresholded.settings.penalty = penalty::ElasticNet{};
  EXPECT_FALSE(pays(thresholded));
  Case dense = setup;
  dense.storage = Storage::dense64;
  EXPECT_FALSE(pays(dense));
  EXPECT_FALSE(pays(with_rare_columns(loss::MulticlassHinge{}, 40, 3, Storage::csr64)));   // few weights
  for (std::vector<double>& row : setup.rows) std::fill(row.begin() + 1, row.end(), 1.0);  // nothing is rare
  EXPECT_FALSE(pays(setup));
}

// The whole way, from settings to a certificate of the data as they are.
TEST(FoldedColumns, FitsMeetTheirTolerance) {
  const Case setup = with_rare_columns(loss::MulticlassHinge{}, 120, 150, Storage::csr64);
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const registry::Fit fit = registry::fit(plan, {.tolerance = 1e-6});
  EXPECT_EQ(fit.status, run::Status::optimal);
  EXPECT_EQ(fit.outputs.front().w.size(), plan.multiclass().dimension());
  EXPECT_LE(fit.total.gap, 1e-6 * fit.total.primal);
}

}  // namespace
}  // namespace fenchel::test
