// Multiclass fits: golden optima, certificates against wide arithmetic over losses, penalties, biases, weights and storage,
// exactness under a free bias, and bits that do not depend on threads.
#include <gtest/gtest.h>

#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "fenchel/base/error.hpp"
#include "fenchel/problem/circulation.hpp"
#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/multiclass_solvers.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/multiclass.hpp"
#include "tests/support/promise.hpp"

namespace fenchel::test {
namespace {

using nlohmann::json;

std::vector<double> side_by_side(const registry::Fit& fit, bool duals) {
  const std::size_t k = fit.outputs.size();
  const auto& first = duals ? fit.outputs[0].beta : fit.outputs[0].w;
  std::vector<double> all(first.size() * k);
  for (std::size_t l = 0; l < k; ++l) {
    const auto& values = duals ? fit.outputs[l].beta : fit.outputs[l].w;
    for (std::size_t i = 0; i < values.size(); ++i) all[i * k + l] = values[i];
  }
  return all;
}

std::vector<double> biases(const registry::Fit& fit) {
  std::vector<double> b;
  for (const registry::Output& output : fit.outputs) b.push_back(output.b);
  return b;
}

// Feasible in exact arithmetic, and a gap that is no smaller than the exact one.
void expect_certified(const Case& setup, const registry::Plan& plan, const registry::Fit& fit) {
  const problem::MulticlassProblem problem = plan.multiclass();
  const std::vector<double> B = side_by_side(fit, true);
  ASSERT_TRUE(problem::exactly_feasible(problem, B));
  const double scale = problem::MulticlassCertifier(problem).dual_as_given(B).scale;
  EXPECT_TRUE(scale == 1.0 || problem.penalty.strong_convexity() == 0.0);
  const ExactMulticlass exact = evaluate_exactly(setup, problem, side_by_side(fit, false), biases(fit), B, scale);
  EXPECT_TRUE(exact.feasible);
  EXPECT_GE(fit.total.gap, static_cast<double>(exact.primal - exact.dual));
  EXPECT_LE(fit.total.gap, static_cast<double>(exact.primal - exact.dual) + 1e-9);
  EXPECT_NEAR(fit.total.primal, static_cast<double>(exact.primal), 1e-12 * (1 + fit.total.primal));
  EXPECT_LE(fit.total.dual, static_cast<double>(exact.dual) + 1e-15);
}

// The solvers that the computed table says can do it; the others refuse.
std::vector<std::string> able(const registry::Plan& plan) {
  const problem::MulticlassProblem problem = plan.multiclass();
  std::vector<std::string> names;
  for (const registry::MulticlassSolverEntry& entry : registry::multiclass_solvers()) {
    if (entry.missing(problem.loss, problem.penalty)) {
      EXPECT_THROW(registry::choose(entry.name, problem), Error);
    } else {
      EXPECT_EQ(registry::choose(entry.name, problem).name, entry.name);
      names.emplace_back(entry.name);
    }
  }
  return names;
}

// Levels of smoothing that fall: the gap falls like the inverse of the passes.
bool anneals(const std::string& solver, const loss::AnyVector& loss) {
  return solver.starts_with("agm") && std::holds_alternative<loss::MulticlassHinge>(loss);
}

// Without strong convexity the stages themselves get long.
double annealed_tolerance(const registry::Plan& plan) {
  return plan.multiclass().penalty.strong_convexity() > 0.0 ? 1e-4 : 1e-3;
}

Case golden_case(const json& data, const json& c) {
  return {.rows = data["X_rows"].get<std::vector<std::vector<double>>>(),
          .labels = c["y"].get<std::vector<double>>(),
          .storage = Storage::dense64};
}

TEST(Multiclass, GoldenOptima) {
  const json file = golden("optimum-multiclass.json");
  for (const json& c : file["cases"]) {
    SCOPED_TRACE(c["loss"].get<std::string>());
    Case setup = golden_case(file["data"], c);
    if (c["loss"] == "multinomial_logistic") {
      setup.settings.loss = loss::Softmax{};
    } else {
      setup.settings.loss = loss::SmoothMulticlassHinge{c["gamma"]};
    }
    setup.settings.lambda = c["lambda2"].get<double>();
    setup.settings.bias = registry::Bias::none;
    const data::Dataset dataset = dataset_of(setup);
    for (const std::string& solver : able(registry::Plan(dataset, setup.settings))) {
      SCOPED_TRACE(solver);
      setup.settings.solver = solver;
      const registry::Plan plan(dataset, setup.settings);
      const run::Options options = promised(solver, {.tolerance = 1e-10, .max_passes = 100000});
      const registry::Fit fit = registry::fit(plan, options);
      EXPECT_EQ(fit.status, run::Status::optimal) << fit.total.gap << " after " << fit.passes;
      const double above = fit.total.primal - c["objective"].get<double>();
      EXPECT_GE(above, -1e-9);
      EXPECT_LE(above, fit.total.gap + 1e-9);
      expect_certified(setup, plan, fit);
    }
  }
}

struct Variation {
  std::string name;
  registry::Bias bias = registry::Bias::none;
  penalty::Any penalty = penalty::L2{};
  Storage storage = Storage::csr64;
  bool weights = false;
  bool factors = false;
  bool standardize = false;
  std::size_t classes = 4;
};

std::vector<Variation> variations() {
  using registry::Bias;
  return {{.name = "plain"},
          {.name = "free", .bias = Bias::free},
          {.name = "regularized", .bias = Bias::regularized, .storage = Storage::dense64},
          {.name = "weights", .bias = Bias::free, .storage = Storage::csr32, .weights = true},
          {.name = "elastic-net", .penalty = penalty::ElasticNet{0.3}, .storage = Storage::dense32},
          {.name = "elastic-net free", .bias = Bias::free, .penalty = penalty::ElasticNet{0.3}, .weights = true},
          {.name = "factors", .bias = Bias::regularized, .penalty = penalty::ElasticNet{0.1}, .factors = true},
          {.name = "standardize", .bias = Bias::free, .storage = Storage::dense64, .standardize = true},
          {.name = "l1", .penalty = penalty::L1{}},
          {.name = "l1 free", .bias = Bias::free, .penalty = penalty::L1{}, .weights = true},
          {.name = "l1 standardize", .bias = Bias::regularized, .penalty = penalty::L1{}, .standardize = true},
          {.name = "two classes", .bias = Bias::free, .classes = 2},
          {.name = "many classes", .classes = 11}};
}

TEST(Multiclass, CertificatesOfEveryKindOfProblem) {
  std::uint64_t seed = 7;
  for (const loss::AnyVector& loss : every_vector_loss()) {
    for (const Variation& v : variations()) {
      SCOPED_TRACE(std::string(loss::name(loss::Chosen(loss))) + " " + v.name);
      Case setup = multiclass_case(loss, 60, 6, v.classes, v.storage, ++seed);
      setup.settings.bias = v.bias;
      setup.settings.bias_value = 2.0;
      setup.settings.penalty = v.penalty;
      setup.settings.standardize = v.standardize;
      if (v.weights) {
        for (std::size_t i = 0; i < setup.rows.size(); ++i) {
          setup.weights.push_back(i % 7 == 6 ? 0.0 : 0.1 + static_cast<double>(i % 5));
        }
      }
      if (v.factors) setup.factors = {1.0, 0.5, 2.0, 1.0, 3.0, 0.25};
      const data::Dataset dataset = dataset_of(setup);
      double largest_dual = -infinity, least_primal = infinity;
      for (const std::string& solver :
           able(registry::Plan(dataset, setup.settings, setup.weights, setup.factors))) {
        SCOPED_TRACE(solver);
        setup.settings.solver = solver;
        const registry::Plan plan(dataset, setup.settings, setup.weights, setup.factors);
        const double tolerance = anneals(solver, loss) ? annealed_tolerance(plan) : 1e-6;
        const registry::Fit fit =
            registry::fit(plan, promised(solver, {.tolerance = tolerance, .max_passes = 20000}));
        EXPECT_EQ(fit.solver, solver);
        EXPECT_EQ(fit.status, run::Status::optimal) << fit.total.gap << " after " << fit.passes;
        expect_certified(setup, plan, fit);
        largest_dual = std::max(largest_dual, fit.total.dual);
        least_primal = std::min(least_primal, fit.total.primal);
      }
      EXPECT_LE(largest_dual, least_primal * (1 + 1e-14)) << "solvers contradict each other";
    }
  }
}

// newton and sdca find the same optimum: with more rows than columns and fewer, on scales that differ, and from a start.
TEST(Multiclass, NewtonAgreesWithSdca) {
  struct Shape {
    std::size_t rows, columns, classes;
  };
  std::uint64_t seed = 40;
  for (const loss::AnyVector& loss :
       {loss::AnyVector(loss::Softmax{}), loss::AnyVector(loss::SoftMaxOfHinge{0.2}),
        loss::AnyVector(loss::MulticlassHinge{}), loss::AnyVector(loss::SmoothMulticlassHinge{0.2})}) {
    const bool cornered = std::visit([](const auto& l) { return l.sparse_dual; }, loss);
    for (const Shape shape : {Shape{200, 4, 12}, Shape{60, 200, 12}, Shape{300, 20, 3}}) {
      if (cornered && shape.columns > shape.rows) continue;  // the hinges take sdca there
      for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
        SCOPED_TRACE(std::string(loss::name(loss::Chosen(loss))) + " " + std::to_string(shape.rows));
        Case setup = multiclass_case(loss, shape.rows, shape.columns, shape.classes,
                                     shape.columns == 20 ? Storage::dense64 : Storage::csr64, ++seed);
        for (auto& row : setup.rows) row[1] *= 8.0;
        setup.settings.bias = bias;
        setup.settings.lambda = 0.01;
        const data::Dataset dataset = dataset_of(setup);
        setup.settings.solver = "sdca";
        const registry::Fit reference =
            registry::fit(registry::Plan(dataset, setup.settings), {.tolerance = 1e-5, .max_passes = 20000});
        setup.settings.solver = "newton";
        const registry::Plan plan(dataset, setup.settings);
        const registry::Fit fit = registry::fit(plan, {.tolerance = cornered ? 1e-4 : 1e-6, .max_passes = 20000});
        EXPECT_EQ(fit.status, run::Status::optimal) << fit.total.gap << " after " << fit.passes;
        expect_certified(setup, plan, fit);
        EXPECT_LE(std::fabs(fit.total.primal - reference.total.primal), fit.total.gap + reference.total.gap);
        std::vector<solver::Start> starts;
        for (const registry::Output& o : fit.outputs) starts.push_back({.w = o.w, .b = o.b, .alpha = o.beta});
        const registry::Fit again =
            registry::fit(plan, {.tolerance = cornered ? 2e-4 : 1e-5, .max_passes = 20000}, starts);
        EXPECT_EQ(again.status, run::Status::optimal) << again.total.gap;
      }
    }
  }
}

// Rows that are long against the strength of the penalty are for newton, others for sdca.
TEST(Multiclass, AutoGoesByTheCondition) {
  Case setup = multiclass_case(loss::Softmax{}, 200, 6, 4, Storage::csr64, 6);
  const data::Dataset dataset = dataset_of(setup);
  const auto chosen = [&] {
    return std::string(registry::choose("auto", registry::Plan(dataset, setup.settings).multiclass()).name);
  };
  EXPECT_EQ(chosen(), "sdca");
  setup.settings.lambda = 1e-5;
  EXPECT_EQ(chosen(), "newton");
  setup.settings.penalty = penalty::ElasticNet{0.5};
  EXPECT_EQ(chosen(), "sdca");
  setup.settings.penalty = penalty::L2{};
  setup.settings.loss = loss::MulticlassHinge{};
  EXPECT_EQ(chosen(), "newton");
  setup.settings.lambda = 1e-3;
  EXPECT_EQ(chosen(), "sdca");
}

// Classes that can be separated: at the optimum hardly a margin is missed, on the way almost every one is, by a little.
TEST(Multiclass, SeparableClassesOnARawScale) {
  Case setup = multiclass_case(loss::MulticlassHinge{}, 60, 80, 3, Storage::dense64, 17);
  for (auto& row : setup.rows) {
    for (double& x : row) x *= 300.0;
  }
  setup.settings.bias = registry::Bias::none;
  setup.settings.lambda = 1.0 / 60;
  const data::Dataset dataset = dataset_of(setup);
  for (const std::string solver : {"auto", "sdca"}) {
    setup.settings.solver = solver;
    const registry::Plan plan(dataset, setup.settings);
    const registry::Fit fit = registry::fit(plan, {.tolerance = 1e-4, .max_passes = 2000});
    EXPECT_EQ(fit.status, run::Status::optimal) << fit.total.gap << " of " << fit.total.primal;
    EXPECT_LT(fit.total.primal, 1e-3);
    expect_certified(setup, plan, fit);
  }
}

// A fixed level leaves a gap of at most what the smoothing costs, and falling levels leave none.
TEST(Multiclass, SmoothingAtAFixedLevel) {
  for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
    Case setup = multiclass_case(loss::MulticlassHinge{}, 60, 6, 4, Storage::csr64, 12);
    setup.settings.bias = bias;
    const data::Dataset dataset = dataset_of(setup);
    const double optimum = registry::fit(registry::Plan(dataset, setup.settings), {.tolerance = 1e-8}).total.primal;
    for (const std::string solver : {"agm-inf", "agm-1"}) {
      for (const solver::Curvature curvature : {solver::Curvature::search, solver::Curvature::bound}) {
        setup.settings.solver = solver;
        setup.settings.gradient.curvature = curvature;
        double last = infinity;
        for (const double mu : {0.3, 0.03}) {
          setup.settings.ascent.smoothing = mu;
          const registry::Plan plan(dataset, setup.settings);
          const registry::Fit fit = registry::fit(plan, {.tolerance = 1e-9, .max_passes = 3000});
          expect_certified(setup, plan, fit);
          EXPECT_LE(fit.total.primal - optimum, 0.5 * mu);
          EXPECT_LE(fit.total.gap, 0.5 * mu) << solver << " " << mu;
          EXPECT_LT(fit.total.gap, last);
          last = fit.total.gap;
        }
      }
    }
  }
}

// A weight of 2 is a row that occurs twice.
TEST(Multiclass, WeightsAreRepetitions) {
  for (const loss::AnyVector& loss : every_vector_loss()) {
    Case once = multiclass_case(loss, 40, 5, 3, Storage::csr64, 3);
    Case twice = once;
    for (std::size_t i = 0; i < 40; ++i) {
      once.weights.push_back(i % 2 == 0 ? 2.0 : 1.0);
      if (i % 2 != 0) continue;
      twice.rows.push_back(once.rows[i]);
      twice.labels.push_back(once.labels[i]);
    }
    const data::Dataset first = dataset_of(once), second = dataset_of(twice);
    const run::Options options{.tolerance = 1e-7, .max_passes = 50000};
    const double a = registry::fit(registry::Plan(first, once.settings, once.weights), options).total.primal;
    const double b = registry::fit(registry::Plan(second, twice.settings), options).total.primal;
    EXPECT_NEAR(a, b, 2e-7 * a) << loss::name(loss::Chosen(loss));
  }
}

// Any duals become an exact circulation, however far from one they are.
TEST(Multiclass, CirculationIsExact) {
  Random random(5);
  for (int t = 0; t < 60; ++t) {
    const std::size_t k = 2 + random.below(6), n = k + random.below(80);
    Case setup =
        multiclass_case(loss::MulticlassHinge{}, n, 3, k, Storage::dense64, 100 + static_cast<unsigned>(t));
    if (t % 2 == 1) {
      for (std::size_t i = 0; i < n; ++i) setup.weights.push_back(std::exp(3 * random.normal()));
    }
    const data::Dataset dataset = dataset_of(setup);
    const registry::Plan plan(dataset, setup.settings, setup.weights);
    const problem::MulticlassProblem problem = plan.multiclass();
    std::vector<double> beta(n * k);
    for (double& b : beta) b = random.uniform() < 0.5 ? 0.0 : 2 * random.uniform() - 0.5;
    if (t == 0) beta[0] = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> B = problem::weighted_duals(problem, beta);
    problem::make_circulation(problem, B);
    EXPECT_TRUE(problem::exactly_feasible(problem, B));
    const std::vector<double> w(problem.dimension() * k, 0.0);
    EXPECT_TRUE(evaluate_exactly(setup, problem, w, {}, B, 1.0).feasible);
    // One grid unit more in any entry is noticed.
    const auto large = std::max_element(B.begin(), B.end());
    if (*large == 0.0) continue;
    *large = std::nextafter(*large, 0.0);
    EXPECT_FALSE(problem::exactly_feasible(problem, B));
  }
}

TEST(Multiclass, RawScalesConverge) {
  for (const loss::AnyVector& loss : every_vector_loss()) {
    Case setup = multiclass_case(loss, 80, 4, 3, Storage::dense64, 9);
    for (auto& row : setup.rows) {
      row[0] *= 200.0;
      row[1] += 50.0;
    }
    setup.settings.lambda = 1.0;
    const data::Dataset dataset = dataset_of(setup);
    const registry::Fit fit = registry::fit(registry::Plan(dataset, setup.settings), {.tolerance = 1e-3});
    EXPECT_EQ(fit.status, run::Status::optimal) << loss::name(loss::Chosen(loss)) << " " << fit.total.gap;
  }
}

TEST(Multiclass, ParallelBitsDoNotDependOnThreads) {
  for (const loss::AnyVector& loss : {loss::AnyVector(loss::MulticlassHinge{}), loss::AnyVector(loss::Softmax{})}) {
    Case setup = multiclass_case(loss, 600, 9, 10, Storage::csr64, 4);
    const data::Dataset dataset = dataset_of(setup);
    for (const std::string& solver : able(registry::Plan(dataset, setup.settings))) {
      setup.settings.solver = solver;
      const registry::Plan plan(dataset, setup.settings);
      std::vector<registry::Fit> fits;
      for (const std::size_t threads : {1, 3}) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        fits.push_back(registry::fit(plan, {.tolerance = 1e-5, .max_passes = 20}));
      }
      EXPECT_EQ(side_by_side(fits[0], false), side_by_side(fits[1], false)) << solver;
      EXPECT_EQ(fits[0].total.gap, fits[1].total.gap) << solver;
      EXPECT_EQ(fits[0].passes, fits[1].passes) << solver;
    }
  }
}

TEST(Multiclass, WarmStartsAndWindows) {
  Case setup = multiclass_case(loss::Softmax{}, 200, 6, 4, Storage::csr64, 6);
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings);
  const registry::Fit cold = registry::fit(plan, {.tolerance = 1e-8});
  std::vector<solver::Start> starts;
  for (const registry::Output& o : cold.outputs) starts.push_back({.w = o.w, .b = o.b, .alpha = o.beta});
  const registry::Fit warm = registry::fit(plan, {.tolerance = 1e-6}, starts);
  EXPECT_EQ(warm.status, run::Status::optimal);
  EXPECT_LT(warm.passes, 0.5 * cold.passes);
  setup.settings.row_order = solver::RowOrder::windows;
  const registry::Plan windowed(dataset, setup.settings);
  EXPECT_EQ(registry::fit(windowed, {.tolerance = 1e-6}).status, run::Status::optimal);
}

TEST(Multiclass, RefusesWhatNoSolverTakes) {
  Case setup = multiclass_case(loss::MulticlassHinge{}, 30, 3, 3, Storage::csr64, 8);
  setup.settings.penalty = penalty::None{};
  const data::Dataset dataset = dataset_of(setup);
  const auto refused = [&] { EXPECT_THROW(registry::fit(registry::Plan(dataset, setup.settings), {}), Error); };
  refused();
  setup.settings.penalty = penalty::L2{};
  setup.settings.solver = "fista";
  refused();
  setup.settings.solver = "pragam";
  refused();
  setup.settings.loss = loss::Softmax{};
  setup.settings.solver = "agm-1";
  setup.settings.ascent.smoothing = 0.1;  // of what is smooth
  refused();
}

}  // namespace
}  // namespace fenchel::test
