// Laws of multiclass dual ascent, step by step.
#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include "fenchel/problem/multiclass_certificate.hpp"
#include "fenchel/registry/plan.hpp"
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

}  // namespace
}  // namespace fenchel::test
