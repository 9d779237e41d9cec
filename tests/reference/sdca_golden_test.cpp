// Dual coordinate ascent against runs and constants that were computed outside this library.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "fenchel/kernel/dual_sweep.hpp"
#include "fenchel/solver/accelerated_sdca.hpp"
#include "tests/support/exact.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

using nlohmann::json;

Case traced_case(const json& data, const json& c) {
  Case setup{.rows = data["X_rows"].get<std::vector<std::vector<double>>>(), .labels = {}};
  std::string name = c["loss"];
  std::replace(name.begin(), name.end(), '_', '-');
  loss::Any loss = *loss::by_name(name);
  if (auto* smooth = std::get_if<loss::SmoothHinge>(&loss)) smooth->gamma = c["params"]["gamma"];
  setup.labels = data[has_classes(loss) ? "y_cls" : "y_reg"].get<std::vector<double>>();
  setup.settings.loss = loss;
  setup.settings.direct = penalty::Strength{.l1 = c["lambda1"], .l2 = c["lambda2"]};
  setup.settings.lambda = 0.0;
  setup.settings.bias = registry::Bias::none;
  return setup;
}

// One sweep in the order of the rows, through the library's kernel.
template <class Link>
void sweep(const problem::Problem& problem, Link link, std::vector<double>& alpha) {
  const std::size_t n = problem.rows();
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  const std::vector<double> shares(n, 1.0 / static_cast<double>(n));
  LargeVector curvatures = data::LinearMap(problem.design).row_square_norms({});
  for (double& q : curvatures) q /= problem.penalty.base().l2 * static_cast<double>(n);
  std::vector<std::uint8_t> resting(n, 0);
  kernel::SweepState state{.order = order,
                           .targets = problem.sample.targets,
                           .shares = shares,
                           .curvatures = curvatures,
                           .alpha = alpha,
                           .resting = resting};
  std::visit(
      [&](const auto& rows, const auto& loss) { kernel::dual_sweep(rows, kernel::RowVisit(loss), link, state); },
      problem.design.matrix, problem.loss);
}

TEST(SdcaGolden, EverySweep) {
  const json file = golden("sdca-trace.json"), data = golden("optimum-binary.json")["data"];
  bool net = false;
  for (const json& c : file["cases"]) {
    SCOPED_TRACE(c["loss"].get<std::string>() + " " + c["regularizer"].get<std::string>());
    const Case setup = traced_case(data, c);
    const Instance instance = instance_of(setup);
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings);
    const problem::Problem problem = plan.problem(0);
    const penalty::Strength g = problem.penalty.base();
    std::vector<double> alpha(problem.rows(), 0.0), induced(problem.dimension(), 0.0), w(problem.dimension());
    for (const json& epoch : c["epochs"]) {
      if (g.l1 == 0.0) {
        sweep(problem, kernel::RidgeLink{.w = induced, .inverse_l2 = 1.0 / g.l2}, alpha);
        w = induced;
      } else {
        net = true;
        sweep(problem, kernel::ElasticNetLink{.u = induced, .l1 = g.l1, .inverse_l2 = 1.0 / g.l2}, alpha);
        for (std::size_t j = 0; j < w.size(); ++j) w[j] = g.conjugate_gradient(induced[j]);
      }
      const std::vector<Quad> beta(alpha.begin(), alpha.end());
      const Exact exact = evaluate_exactly(instance, w, 0.0, beta);
      EXPECT_TRUE(exact.feasible);
      EXPECT_NEAR(static_cast<double>(exact.primal), epoch["primal"], 1e-10);
      EXPECT_NEAR(static_cast<double>(exact.dual), epoch["dual"], 1e-10);
      EXPECT_NEAR(static_cast<double>(exact.gap), epoch["gap"], 1e-10);
    }
    for (std::size_t i = 0; i < alpha.size(); ++i) EXPECT_NEAR(alpha[i], c["alpha"][i], 1e-10);
    for (std::size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(w[j], c["w"][j], 1e-10);
  }
  EXPECT_TRUE(net);
}

// g(w) = 1/2 ||w||^2 + sigma' ||w||_1 - z.w: the shift z of a proximal term is added to v.
TEST(SdcaGolden, Regularizer) {
  const json file = golden("sdca-regularizer.json");
  ASSERT_FALSE(file["cases"].empty());
  for (const json& c : file["cases"]) {
    const penalty::Strength g{.l1 = c["sigma_prime"], .l2 = 1.0};
    double conjugate = 0.0, value = 0.0;
    for (std::size_t j = 0; j < c["v"].size(); ++j) {
      const double z = c["z"][j], shifted = c["v"][j].get<double>() + z, w = g.conjugate_gradient(shifted);
      EXPECT_NEAR(w, c["grad_conj"][j], 1e-12);
      conjugate += g.conjugate(shifted);
      value += g.value(w) - z * w;
    }
    EXPECT_NEAR(conjugate, c["conj"], 1e-12);
    EXPECT_NEAR(value, c["g_at_grad"], 1e-12);
  }
}

TEST(SdcaGolden, ConstantsOfAcceleration) {
  const json c = golden("sdca-accelerated-params.json");
  const auto rows = golden("optimum-binary.json")["data"]["X_rows"].get<std::vector<std::vector<double>>>();
  double largest = 0.0;
  for (const std::vector<double>& row : rows) {
    largest = std::max(largest, std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
  }
  EXPECT_NEAR(largest, c["R2"], 1e-10);
  const auto constants = solver::Acceleration::of(1e-3, 1.0, largest / static_cast<double>(rows.size()));
  EXPECT_NEAR(constants.kappa, c["kappa"], 1e-10);
  EXPECT_NEAR(constants.mu, c["mu"], 1e-10);
  EXPECT_NEAR(constants.rho, c["rho"], 1e-10);
  EXPECT_NEAR(constants.eta, c["eta"], 1e-10);
  EXPECT_NEAR(constants.beta, c["beta"], 1e-10);
  const double xi_1 = constants.first_bound(0.5);  // the smooth hinge at 0
  EXPECT_NEAR(xi_1, c["xi1"], 1e-7);
  EXPECT_NEAR(constants.tolerance(xi_1), c["inner_tolerance_first"], 1e-10);
  // Condition 1 is met exactly where its bound is.
  const double t = 1.0 + 2.0 / constants.eta * std::log(xi_1 / 1e-3);
  EXPECT_NEAR(constants.bound_after(t - 1.0, xi_1), 1e-3, 1e-12);
}

}  // namespace
}  // namespace fenchel::test
