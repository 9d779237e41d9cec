// Laws of multiclass dual ascent, step by step.
#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include "fenchel/problem/multiclass_certificate.hpp"
#include "fenchel/registry/plan.hpp"
#include "fenchel/solver/feature_splits.hpp"
#include "fenchel/solver/multiclass_sdca.hpp"
#include "tests/support/multiclass.hpp"

namespace fenchel::test {
namespace {

// No step of sdca lowers the dual objective: neither that of a single block nor those of several, more than there are rows even,
// which are merged; nor with rows of no weight, nor where steps are not over the weights themselves.
TEST(MulticlassSdca, StepsNeverLowerTheDual) {
  struct Way {
    std::size_t blocks;
    registry::Bias bias = registry::Bias::none;
    penalty::Any penalty = penalty::L2{};
    bool weighted = false;
  };
  for (const loss::AnyVector& loss : every_vector_loss()) {
    for (const Way& way : {Way{.blocks = 1}, Way{.blocks = 2}, Way{.blocks = 3, .weighted = true},
                           Way{.blocks = 1000}, Way{.blocks = 1, .bias = registry::Bias::regularized},
                           Way{.blocks = 2, .bias = registry::Bias::regularized},
                           Way{.blocks = 3, .penalty = penalty::ElasticNet{0.3}}}) {
      Case setup = multiclass_case(loss, 90, 7, 5, Storage::csr64, 21);
      setup.settings.bias = way.bias;
      setup.settings.penalty = way.penalty;
      setup.settings.lambda = 0.003;
      if (way.weighted) {
        setup.weights.assign(90, 2.0);
        for (std::size_t i = 0; i < 90; i += 7) setup.weights[i] = 0.0;
      }
      const data::Dataset dataset = dataset_of(setup);
      const registry::Plan plan(dataset, setup.settings);
      const problem::MulticlassProblem problem = plan.multiclass();
      const problem::MulticlassCertifier certifier(problem);
      solver::Conduct conduct;
      conduct.ascent.blocks = way.blocks;
      solver::MulticlassSdca sdca(problem, {}, conduct);
      double last = certifier.dual(sdca.candidate().beta).value;
      const double first = last;
      for (int step = 0; step < 60; ++step) {
        sdca.step();
        const double value = certifier.dual(sdca.candidate().beta).value;
        EXPECT_GE(value, last - 1e-13 * (1 + std::fabs(last)))
            << loss::name(loss::Chosen(loss)) << " " << way.blocks << " blocks, step " << step;
        last = value;
      }
      EXPECT_GT(last, first + 1e-3);
    }
  }
}

// Sweeps that are long enough are cut in two, where nothing else is asked for, unless the loss has corners.
TEST(MulticlassSdca, BlocksAreChosenByTheWorkAndTheLoss) {
  for (const loss::AnyVector& loss : {loss::AnyVector(loss::MulticlassHinge{}), loss::AnyVector(loss::Softmax{})}) {
    for (const std::size_t rows : {30U, 3000U}) {
      Case setup = multiclass_case(loss, rows, 40, 9, Storage::dense64, 24);
      setup.settings.bias = registry::Bias::none;
      const data::Dataset dataset = dataset_of(setup);
      const registry::Plan plan(dataset, setup.settings);
      const problem::MulticlassProblem problem = plan.multiclass();
      const auto duals_with = [&](std::size_t blocks) {
        solver::Conduct conduct;
        conduct.ascent.blocks = blocks;
        solver::MulticlassSdca sdca(problem, {}, conduct);
        sdca.step();
        const problem::MulticlassCandidate offered = sdca.candidate();
        return std::vector<double>(offered.beta.begin(), offered.beta.end());
      };
      const bool cut = rows == 3000 && std::holds_alternative<loss::Softmax>(loss);
      const std::vector<double> chosen = duals_with(0);
      EXPECT_EQ(chosen == duals_with(1), !cut) << loss::name(loss::Chosen(loss)) << " " << rows;
      EXPECT_EQ(chosen == duals_with(2), cut) << loss::name(loss::Chosen(loss)) << " " << rows;
    }
  }
}

// Before a certificate is asked for, the hinges' estimate becomes the gap of what is offered.
TEST(MulticlassSdca, RefinedEstimatesAreTheGapsOfCandidates) {
  for (const loss::AnyVector& loss :
       {loss::AnyVector(loss::MulticlassHinge{}), loss::AnyVector(loss::SmoothMulticlassHinge{})}) {
    Case setup = multiclass_case(loss, 90, 7, 5, Storage::csr64, 22);
    setup.settings.bias = registry::Bias::none;
    setup.settings.lambda = 0.003;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::MulticlassProblem problem = plan.multiclass();
    const problem::MulticlassCertifier certifier(problem);
    solver::MulticlassSdca sdca(problem, {}, {});
    for (int step = 0; step < 12; ++step) {
      sdca.step();
      sdca.refine_estimate();
      const problem::MulticlassCandidate offered = sdca.candidate();
      const problem::Certificate pair =
          certifier.pair(certifier.primal(offered.w, {}), certifier.dual(offered.beta));
      EXPECT_NEAR(sdca.estimate().gap, pair.gap, 1e-9 * pair.primal) << step;
      EXPECT_EQ(sdca.passes_aside(), 1.0) << "evaluated once";
    }
  }
}

// So many features that every loop over the weights has several blocks.
TEST(MulticlassSdcaParallel, WideWeightsHaveTheSameBitsForAnyThreadCount) {
  for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
    Case setup = multiclass_case(loss::MulticlassHinge{}, 24, 5000, 3, Storage::csr64, 23);
    setup.settings.bias = bias;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::MulticlassProblem problem = plan.multiclass();
    const auto run = [&](std::size_t threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      solver::Conduct conduct;
      conduct.ascent.blocks = 2;
      solver::MulticlassSdca sdca(problem, {}, conduct);
      for (int step = 0; step < 6; ++step) sdca.step();
      sdca.refine_estimate();
      const problem::MulticlassCandidate offered = sdca.candidate();
      std::vector<double> all(offered.w.begin(), offered.w.end());
      all.insert(all.end(), offered.beta.begin(), offered.beta.end());
      all.push_back(sdca.estimate().gap);
      return all;
    };
    const std::vector<double> one = run(1);
    EXPECT_GT(*std::max_element(one.begin(), one.end()), 0.0);
    EXPECT_EQ(one, run(3));
  }
}

// Enough rows with a support that conjugate gradients go over them in several blocks, after enough epochs.
TEST(MulticlassSdcaParallel, ClimbingSupportsHasTheSameBitsForAnyThreadCount) {
  Case setup = multiclass_case(loss::MulticlassHinge{}, 6000, 5, 4, Storage::csr64, 29);
  setup.settings.lambda = 1e-4;
  setup.settings.bias = registry::Bias::none;
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const problem::MulticlassProblem problem = plan.multiclass();
  const auto run = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    solver::MulticlassSdca sdca(problem, {}, {});
    for (int step = 0; step < 15; ++step) sdca.step();
    const problem::MulticlassCandidate offered = sdca.candidate();
    return std::vector<double>(offered.beta.begin(), offered.beta.end());
  };
  const std::vector<double> one = run(1);
  EXPECT_NE(*std::max_element(one.begin(), one.end()), 0.0);
  EXPECT_EQ(one, run(3));
}

// What may run in step is seen to do so.
bool two_can_run() { return Duo::start(1) != nullptr; }

// Rows so long that two threads sweep in step, with the biases and penalties that have weights or sums of their own; and so many
// classes that the few that a step changes are listed.
TEST(MulticlassSdcaParallel, ThreadsInStepHaveTheBitsOfOne) {
  if (!two_can_run()) GTEST_SKIP() << "there is a single processor";
  struct Way {
    loss::AnyVector loss;
    registry::Bias bias = registry::Bias::none;
    penalty::Any penalty = penalty::L2{};
    std::size_t classes = 21;
  };
  for (const Way& way :
       {Way{.loss = loss::MulticlassHinge{}}, Way{.loss = loss::MulticlassHinge{}, .classes = 33},
        Way{.loss = loss::MulticlassHinge{}, .bias = registry::Bias::free},
        Way{.loss = loss::MulticlassHinge{}, .bias = registry::Bias::regularized},
        Way{.loss = loss::SmoothMulticlassHinge{}, .bias = registry::Bias::regularized},
        Way{.loss = loss::MulticlassHinge{}, .penalty = penalty::ElasticNet{0.3}},
        Way{.loss = loss::Softmax{}, .bias = registry::Bias::regularized, .penalty = penalty::ElasticNet{0.3}}}) {
    Case setup = multiclass_case(way.loss, 240, 80, way.classes, Storage::csr64, 31);
    setup.settings.lambda = 0.002;
    setup.settings.bias = way.bias;
    setup.settings.penalty = way.penalty;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::MulticlassProblem problem = plan.multiclass();
    const auto run = [&](std::size_t threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      solver::MulticlassSdca sdca(problem, {}, {});
      for (int step = 0; step < 8; ++step) sdca.step();
      EXPECT_EQ(sdca.runs_in_step() > 0, threads > 1);
      const problem::MulticlassCandidate offered = sdca.candidate();
      std::vector<double> all(offered.w.begin(), offered.w.end());
      all.insert(all.end(), offered.b.begin(), offered.b.end());
      all.insert(all.end(), offered.beta.begin(), offered.beta.end());
      all.push_back(sdca.estimate().gap);
      return all;
    };
    EXPECT_EQ(run(1), run(2)) << loss::name(loss::Chosen(way.loss));
  }
}

// Rows without gaps, so many that two threads sweep over supports that have no class in common.
TEST(MulticlassSdcaParallel, RoundsHaveTheBitsOfOneThread) {
  if (!two_can_run()) GTEST_SKIP() << "there is a single processor";
  struct Way {
    loss::AnyVector loss;
    registry::Bias bias;
  };
  for (const Way& way : {Way{.loss = loss::MulticlassHinge{}, .bias = registry::Bias::none},
                         Way{.loss = loss::MulticlassHinge{}, .bias = registry::Bias::free},
                         Way{.loss = loss::SmoothMulticlassHinge{}, .bias = registry::Bias::regularized}}) {
    Case setup = multiclass_case(way.loss, 1000, 20, 9, Storage::dense64, 41);
    setup.settings.lambda = 1e-3;
    setup.settings.bias = way.bias;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::MulticlassProblem problem = plan.multiclass();
    const problem::MulticlassCertifier certifier(problem);
    const auto run = [&](std::size_t threads) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      solver::MulticlassSdca sdca(problem, {}, {});
      double last = -infinity;
      for (int step = 0; step < 3; ++step) {
        sdca.step();
        if (way.bias == registry::Bias::free) continue;  // exact feasibility takes long
        const double value = certifier.dual(sdca.candidate().beta).value;
        EXPECT_GE(value, last - 1e-13 * (1 + std::fabs(last))) << "step " << step;
        last = value;
      }
      EXPECT_EQ(sdca.runs_in_step() > 0, threads > 1);
      const problem::MulticlassCandidate offered = sdca.candidate();
      std::vector<double> all(offered.w.begin(), offered.w.end());
      all.insert(all.end(), offered.b.begin(), offered.b.end());
      all.insert(all.end(), offered.beta.begin(), offered.beta.end());
      return all;
    };
    EXPECT_EQ(run(1), run(2)) << loss::name(loss::Chosen(way.loss));
  }
}

// Both halves have half of the entries, up to those of the feature between them, and every row is cut at the same feature.
TEST(FeatureSplits, CutEveryRowAtTheFeatureInTheMiddle) {
  const data::Dataset dataset = dataset_of(multiclass_case(loss::Softmax{}, 200, 31, 3, Storage::csr64, 33));
  const data::Matrix matrix = dataset.matrix();
  const std::vector<std::uint32_t> splits = solver::feature_splits(matrix);
  const auto& rows = std::get<data::CsrRows<double>>(matrix);
  ASSERT_EQ(splits.size(), rows.rows());
  std::size_t first_half = 0, last_of_first = 0, first_of_second = rows.cols();
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const auto columns = rows.row(i).columns;
    ASSERT_LE(splits[i], columns.size());
    first_half += splits[i];
    if (splits[i] > 0) last_of_first = std::max<std::size_t>(last_of_first, columns[splits[i] - 1]);
    if (splits[i] < columns.size()) first_of_second = std::min<std::size_t>(first_of_second, columns[splits[i]]);
  }
  EXPECT_LT(last_of_first, first_of_second);
  EXPECT_NEAR(static_cast<double>(first_half), 0.5 * static_cast<double>(rows.nonzeros()), 200.0);
}

TEST(FeatureSplits, AreNoneForDenseRows) {
  const data::Dataset dataset = dataset_of(multiclass_case(loss::Softmax{}, 20, 5, 3, Storage::dense64, 33));
  EXPECT_TRUE(solver::feature_splits(dataset.matrix()).empty());
}

}  // namespace
}  // namespace fenchel::test
