// Levels of smoothing by row: the scatter of the rows against dense eigenvalues, the two facts about the optimised prox-function, and
// that `auto` takes nothing but what lowers the curvature.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include <Eigen/Dense>

#include "fenchel/base/random.hpp"
#include "fenchel/solver/row_levels.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using solver::Curvature;
using solver::RowScatter;
using solver::SmoothingWeights;

// Rows of norms exp(spread * normal), one of them 0, in a problem with weights, one of them 0.
struct Rows {
  Rows(std::size_t n, std::size_t columns, double spread, bool free_bias, std::uint64_t seed) {
    Random random(seed);
    setup = random_setup(loss::Hinge{}, n, columns, Storage::dense64, seed);
    for (std::vector<double>& x : setup.rows) {
      const double norm = std::exp(spread * random.normal());
      for (double& value : x) value = norm * (0.3 + random.normal());
      setup.weights.push_back(0.2 + random.uniform());
    }
    for (double& value : setup.rows[2]) value = 0.0;
    setup.weights[1] = 0.0;
    setup.settings.bias = free_bias ? registry::Bias::free : registry::Bias::none;
    setup.settings.lambda = 0.1;
    dataset = dataset_of(setup);
    plan.emplace(dataset, setup.settings, setup.weights, std::vector<double>{});
    problem.emplace(plan->problem(0));
  }

  // M(s) entry by entry.
  [[nodiscard]] Eigen::MatrixXd scatter(std::span<const double> scale, std::span<const double> factors) const {
    const auto n = static_cast<Eigen::Index>(setup.rows.size());
    const auto d = static_cast<Eigen::Index>(setup.rows.front().size());
    Eigen::MatrixXd x(n, d);
    Eigen::VectorXd weights(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(i);
      weights[i] = problem->sample.weight(row) / problem->sample.weight_sum;
      if (!factors.empty()) weights[i] /= factors[row];
      for (Eigen::Index j = 0; j < d; ++j) {
        const auto column = static_cast<std::size_t>(j);
        x(i, j) = setup.rows[row][column] * (scale.empty() ? 1.0 : std::sqrt(scale[column]));
      }
    }
    if (problem->free_bias) x.rowwise() -= (weights.transpose() * x / weights.sum()).eval().row(0);
    return x.transpose() * weights.asDiagonal() * x;
  }
  [[nodiscard]] double gamma(std::span<const double> scale, std::span<const double> factors) const {
    return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scatter(scale, factors)).eigenvalues().maxCoeff();
  }
  [[nodiscard]] double mean(std::span<const double> numbers) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < numbers.size(); ++i) sum += problem->sample.weight(i) * numbers[i];
    return sum / problem->sample.weight_sum;
  }

  Case setup;
  data::Dataset dataset;
  std::optional<registry::Plan> plan;
  std::optional<problem::Problem> problem;
};

TEST(RowLevels, ScatterAgreesWithDenseEigenvalues) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Rows rows(60, seed % 3 == 0 ? 30 : 5, 1.0, seed % 2 == 0, seed);
    const std::size_t d = rows.problem->dimension();
    Random random(seed);
    std::vector<double> scale, factors;
    for (std::size_t j = 0; seed % 4 < 2 && j < d; ++j) scale.push_back(0.1 + random.uniform());
    for (std::size_t i = 0; seed > 4 && i < 60; ++i) factors.push_back(0.1 + random.uniform());
    RowScatter scatter(*rows.problem, scale, factors);
    const Eigen::MatrixXd dense = rows.scatter(scale, factors);
    EXPECT_NEAR(scatter.trace(), dense.trace(), 1e-10 * dense.trace());
    std::vector<double> v(d), image(d);
    for (double& x : v) x = random.normal();
    scatter.apply(v, image);
    const Eigen::VectorXd expected =
        dense * Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(d));
    for (std::size_t j = 0; j < d; ++j) {
      EXPECT_NEAR(image[j], expected[static_cast<Eigen::Index>(j)], 1e-11 * dense.trace());
    }
    const double largest = rows.gamma(scale, factors);
    for (const std::size_t products : {1, 3, 6, 12, 40}) {
      const Interval bounds = scatter.largest_eigenvalue(products);
      EXPECT_LE(bounds.low, largest * (1 + 1e-12));
      EXPECT_GE(bounds.high, largest * (1 - 1e-12)) << products;
      EXPECT_LE(bounds.high, scatter.trace() * (1 + 1e-12));
      if (products >= 12) {
        EXPECT_GE(bounds.low, 0.98 * largest);
      }
      if (d <= 5 && products > d) {  // more would lose orthogonality
        EXPECT_LE(bounds.high, largest * (1 + 1e-6));
      }
    }
    if (factors.empty()) {
      const std::vector<double> norms = scatter.row_norms();
      double sum = 0.0;  // of rho ||a||^2: the trace once more
      for (std::size_t i = 0; i < norms.size(); ++i) {
        sum += rows.problem->sample.weight(i) / rows.problem->sample.weight_sum * norms[i] * norms[i];
      }
      EXPECT_NEAR(sum, dense.trace(), 1e-10 * dense.trace());
    }
  }
}

TEST(RowLevels, NormsHaveMeanOneAndBoundGammaByTheirMeanSquared) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Rows rows(50, 6, 0.5 * static_cast<double>(seed % 5), seed % 2 == 0, seed);
    RowScatter equal(*rows.problem, {}, {});
    const std::vector<double> norms = equal.row_norms();
    const std::vector<double> factors = solver::norm_factors(*rows.problem, norms);
    EXPECT_NEAR(rows.mean(factors), 1.0, 1e-12);
    EXPECT_GT(*std::min_element(factors.begin(), factors.end()), 0.009);  // a row of zeros as well
    RowScatter by_norms(*rows.problem, {}, factors);
    const double mean = rows.mean(norms);
    EXPECT_LE(rows.gamma({}, factors), by_norms.trace() * (1 + 1e-12));
    EXPECT_LE(by_norms.trace(), 1.01 * mean * mean * (1 + 1e-12));
    EXPECT_LE(mean * mean, equal.trace() * (1 + 1e-12));
  }
  const Rows rows(10, 2, 0.0, false, 3);
  EXPECT_TRUE(solver::norm_factors(*rows.problem, std::vector<double>(10, 0.0)).empty());
}

// The choice |a_i'v| of section 5.6, v the maximiser of sum |a_i'v|, found by its fixed point from many starts: on rows that
// fill the space it is worse than none at all.
TEST(RowLevels, ThePapersChoiceMayBeWorseThanEqual) {
  std::size_t worse = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    Rows rows(40, 6, 0.0, false, seed);
    for (std::vector<double>& x : rows.setup.rows)
      for (double& value : x) value = random.normal();
    rows.dataset = dataset_of(rows.setup);
    rows.plan.emplace(rows.dataset, rows.setup.settings, std::vector<double>{}, std::vector<double>{});
    rows.problem.emplace(rows.plan->problem(0));
    std::vector<double> best;
    double most = 0.0;
    for (int start = 0; start < 50; ++start) {
      std::vector<double> v(6), products(40);
      for (double& x : v) x = random.normal();
      double sum = 0.0;
      for (int k = 0; k < 50; ++k) {
        const double length = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
        for (double& x : v) x /= length;
        std::vector<double> next(6);
        sum = 0.0;
        for (std::size_t i = 0; i < 40; ++i) {
          const std::vector<double>& a = rows.setup.rows[i];
          const double product = std::inner_product(v.begin(), v.end(), a.begin(), 0.0);
          products[i] = std::fabs(product);
          sum += products[i];
          for (std::size_t j = 0; j < 6; ++j) next[j] += product < 0.0 ? -a[j] : a[j];
        }
        v = next;
      }
      if (sum > most) {
        most = sum;
        best = products;
      }
    }
    for (double& s : best) s *= 40.0 / most;  // of mean 1
    worse += rows.gamma({}, best) > rows.gamma({}, {}) ? 1 : 0;
  }
  EXPECT_EQ(worse, 10U);
}

TEST(RowLevels, AutoNeverTakesALargerGamma) {
  std::size_t taken = 0, left = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::size_t columns = seed % 3 == 0 ? 25 : 4;
    const Rows rows(80, columns, 0.4 * static_cast<double>(seed % 5), seed % 2 == 0, seed);
    for (const double worth : {0.9, 0.5}) {
      for (const Curvature curvature : {Curvature::search, Curvature::bound}) {
        const solver::RowLevels levels = solver::row_levels(
            *rows.problem, {}, {.curvature = curvature, .weights = SmoothingWeights::automatic}, worth);
        EXPECT_LE(levels.passes, curvature == Curvature::search ? 54.0 : 5.0);
        if (levels.factors.empty()) {
          ++left;
          continue;
        }
        ++taken;
        const double trace = rows.scatter({}, levels.factors).trace();
        EXPECT_NEAR(levels.curvature_bound, trace, 1e-10 * trace);
        if (curvature == Curvature::search) {
          EXPECT_LE(rows.gamma({}, levels.factors), worth * rows.gamma({}, {}));
        } else {
          EXPECT_LE(trace, 0.9 * rows.scatter({}, {}).trace() * (1 + 1e-9));
        }
      }
    }
    const solver::RowLevels asked =
        solver::row_levels(*rows.problem, {}, {.weights = SmoothingWeights::norms}, 0.5);
    EXPECT_FALSE(asked.factors.empty());
    EXPECT_LE(asked.passes, 5.0);
  }
  EXPECT_GT(taken, 40U);
  EXPECT_GT(left, 40U);
}

}  // namespace
}  // namespace fenchel::test
