// Weights mean repetition: an integer weight equals as many copies of the row, a weight of 0 leaves the row out.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/solvers.hpp"
#include "tests/support/promise.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

struct Value {
  double primal;
  double gap;
};

Value solve(const Case& setup, std::string_view solver) {
  const data::Dataset dataset = dataset_of(setup);
  registry::Settings settings = setup.settings;
  settings.solver = solver;
  const registry::Plan plan(dataset, settings, setup.weights, setup.factors);
  const registry::Fit fit = registry::fit(plan, promised(solver, {.tolerance = 1e-8, .max_passes = 5000}));
  return {fit.total.primal, fit.total.gap};
}

TEST(WeightsAgreement, IntegerWeightsAreRepetitions) {
  std::uint64_t seed = 50;
  int compared = 0;
  for (const loss::Any& loss : every_loss()) {
    for (const penalty::Any& penalty : {penalty::Any(penalty::L2{}), penalty::Any(penalty::L1{}),
                                        penalty::Any(penalty::ElasticNet{0.5}), penalty::Any(penalty::None{})}) {
      for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
        Case weighted = random_setup(loss, 14, 2, static_cast<Storage>(seed % 4), seed);
        ++seed;
        weighted.settings.penalty = penalty;
        weighted.settings.bias = bias;
        weighted.settings.C = 0.5;  // lambda = 1/(C sum c) must see the weights, too
        Case repeated = weighted;
        repeated.rows.clear();
        repeated.labels.clear();
        for (std::size_t i = 0; i < weighted.rows.size(); ++i) {
          const std::size_t copies = i < contradicting(2) ? 1 + i % 3 : i % 4;
          weighted.weights.push_back(static_cast<double>(copies));
          repeated.rows.insert(repeated.rows.end(), copies, weighted.rows[i]);
          repeated.labels.insert(repeated.labels.end(), copies, weighted.labels[i]);
        }
        const data::Dataset dataset = dataset_of(weighted);
        const registry::Plan plan(dataset, weighted.settings, weighted.weights);
        for (const std::string_view solver : registry::supporting(plan.problem(0).loss, plan.problem(0).penalty)) {
          SCOPED_TRACE(title(loss) + " " + std::string(solver));
          const Value a = solve(weighted, solver), b = solve(repeated, solver);
          EXPECT_LE(std::fabs(a.primal - b.primal), a.gap + b.gap + 1e-15);
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 200);
}

// The same point has the same certificate values in both forms, whatever the solver.
TEST(WeightsAgreement, CertificatesOfBothFormsAgree) {
  for (const loss::Any& loss : every_loss()) {
    Case weighted = random_setup(loss, 14, 2, Storage::csr64, 77);
    weighted.settings.lambda = 0.1;
    Case repeated = weighted;
    repeated.rows.clear();
    repeated.labels.clear();
    for (std::size_t i = 0; i < 14; ++i) {
      weighted.weights.push_back(static_cast<double>(i % 3));
      repeated.rows.insert(repeated.rows.end(), i % 3, weighted.rows[i]);
      repeated.labels.insert(repeated.labels.end(), i % 3, weighted.labels[i]);
    }
    const data::Dataset one = dataset_of(weighted), other = dataset_of(repeated);
    const registry::Plan first(one, weighted.settings, weighted.weights), second(other, repeated.settings);
    const problem::Certifier a(first.problem(0)), b(second.problem(0));
    const std::vector<double> w{0.3, -0.4};
    const problem::PrimalPoint p = a.primal(w, 0.2), q = b.primal(w, 0.2);
    const problem::Certificate x = a.pair(p, a.dual_of(p)), y = b.pair(q, b.dual_of(q));
    EXPECT_NEAR(x.primal, y.primal, 1e-14 * (1 + x.primal)) << title(loss);
    EXPECT_NEAR(x.gap, y.gap, 1e-12 * (1 + x.primal)) << title(loss);
  }
}

}  // namespace
}  // namespace fenchel::test
