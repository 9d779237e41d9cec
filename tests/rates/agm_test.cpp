// The theorems behind accelerated gradient methods, as assertions on small problems: the invariants, the rates of Theorems 6 and 14,
// the duality gap bounds, for strong convexity in either part, fixed and searched curvature, Euclidean and entropy geometry.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/penalty/strength.hpp"
#include "fenchel/solver/accelerated_gradient.hpp"
#include "fenchel/solver/divergence_part.hpp"
#include "tests/support/golden.hpp"

namespace fenchel::test {
namespace {

using solver::AcceleratedGradient;
using solver::AgmPoint;
using Matrix = std::vector<std::vector<double>>;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

// f(x) = ||A x - b||^2 / 2 + (lambda1/2) ||x||^2; the dual point behind its first part is alpha = A x - b.
class LeastSquares final : public solver::SmoothPart {
 public:
  LeastSquares(Matrix rows, std::vector<double> targets, double convexity)
      : A(std::move(rows)), b(std::move(targets)), lambda1(convexity), mean(b.size()), latest(b.size()) {}
  [[nodiscard]] double convexity() const override { return lambda1; }
  void locate(AgmPoint& point) override {
    point.image.resize(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) point.image[i] = product(A[i], point.x);
  }
  double value(AgmPoint& point) override {
    double sum = lambda1 * product(point.x, point.x);
    for (std::size_t i = 0; i < b.size(); ++i) sum += (point.image[i] - b[i]) * (point.image[i] - b[i]);
    return 0.5 * sum;
  }
  double gradient(AgmPoint& point, std::span<double> gradient) override {
    for (std::size_t i = 0; i < b.size(); ++i) latest[i] = point.image[i] - b[i];
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      gradient[j] = lambda1 * point.x[j];
      for (std::size_t i = 0; i < b.size(); ++i) gradient[j] += A[i][j] * latest[i];
    }
    return value(point);
  }
  void average(double theta) override {
    for (std::size_t i = 0; i < b.size(); ++i) mean[i] = (1.0 - theta) * mean[i] + theta * latest[i];
  }
  [[nodiscard]] double curvature() const {
    double sum = lambda1;
    for (const auto& row : A) sum += product(row, row);
    return sum;
  }

  Matrix A;
  std::vector<double> b;
  double lambda1;
  std::vector<double> mean, latest;
};

class ElasticNet final : public solver::SimplePart {
 public:
  explicit ElasticNet(penalty::Strength strength) : g(strength) {}
  [[nodiscard]] double convexity() const override { return g.l2; }
  [[nodiscard]] double value(std::span<const double> x) const override {
    double sum = 0.0;
    for (const double v : x) sum += g.value(v);
    return sum;
  }
  void mirror(std::span<const double> x, std::span<double> result) const override {
    std::copy(x.begin(), x.end(), result.begin());
  }
  [[nodiscard]] double divergence(std::span<const double> x, std::span<const double> c) const override {
    double sum = 0.0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += (x[j] - c[j]) * (x[j] - c[j]);
    return 0.5 * sum;
  }
  void minimize(std::span<const double> pull, double weight, std::span<double> x) override {
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = penalty::soft_threshold(pull[j], g.l1) / (weight + g.l2);
  }
  penalty::Strength g;
};

struct Toy {
  explicit Toy(double lambda1, penalty::Strength strength, std::uint64_t seed)
      : smooth(random_matrix(seed), random_targets(seed), lambda1), simple(strength) {
    Random random(seed + 7);
    start.x.resize(columns);
    for (double& v : start.x) v = random.normal();
    smooth.locate(start);
  }
  static constexpr std::size_t rows = 6, columns = 4;
  static Matrix random_matrix(std::uint64_t seed) {
    Random random(seed);
    Matrix A(rows, std::vector<double>(columns));
    for (auto& row : A) {
      for (std::size_t j = 0; j < columns; ++j) row[j] = random.normal() / std::pow(4.0, static_cast<double>(j));
    }
    return A;
  }
  static std::vector<double> random_targets(std::uint64_t seed) {
    Random random(seed + 3);
    std::vector<double> b(rows);
    for (double& v : b) v = random.normal();
    return b;
  }
  // By proximal coordinate descent, which has nothing in common with what is tested.
  [[nodiscard]] std::vector<double> minimizer() const {
    std::vector<double> x(columns, 0.0), residual = smooth.b;
    for (double& r : residual) r = -r;
    for (int sweep = 0; sweep < 20000; ++sweep) {
      for (std::size_t j = 0; j < columns; ++j) {
        double slope = 0.0, square = smooth.lambda1;
        for (std::size_t i = 0; i < rows; ++i) {
          slope += smooth.A[i][j] * residual[i];
          square += smooth.A[i][j] * smooth.A[i][j];
        }
        const double next =
            penalty::soft_threshold((square - smooth.lambda1) * x[j] - slope, simple.g.l1) / (square + simple.g.l2);
        for (std::size_t i = 0; i < rows; ++i) residual[i] += smooth.A[i][j] * (next - x[j]);
        x[j] = next;
      }
    }
    return x;
  }
  [[nodiscard]] double objective(const std::vector<double>& x) {
    AgmPoint point{.x = x, .image = {}};
    smooth.locate(point);
    return smooth.value(point) + simple.value(x);
  }

  LeastSquares smooth;
  ElasticNet simple;
  AgmPoint start;
};

enum class Form { infinity, one };

std::unique_ptr<AcceleratedGradient> method_of(Form form, Toy& toy, bool adaptive) {
  const double L = adaptive ? 0.01 * toy.smooth.curvature() : toy.smooth.curvature();
  std::unique_ptr<AcceleratedGradient> method;
  if (form == Form::infinity) {
    method = std::make_unique<solver::AgmInfinity>(toy.smooth, toy.simple,
                                                   solver::CurvatureSearch{.L = L, .adaptive = adaptive});
  } else {
    method = std::make_unique<solver::AgmOne>(toy.smooth, toy.simple,
                                              solver::CurvatureSearch{.L = L, .adaptive = adaptive});
  }
  method->restart(toy.start, L);
  return method;
}

// Theorem 6 of the paper, and Theorem 14, for a fixed L.
double rate(Form form, const Toy& toy, std::size_t step, double distance) {
  const double L = toy.smooth.curvature();
  const double lambda1 = toy.smooth.lambda1, lambda2 = toy.simple.g.l2;
  const double lambda = lambda1 + lambda2;
  if (form == Form::infinity) {
    const auto k = static_cast<double>(step);
    return distance * std::min(4 * L / ((k + 1) * (k + 1)),
                               (L - lambda1) * std::pow(1 + std::sqrt(lambda / (4 * L)), -2 * k + 2));
  }
  const auto k = static_cast<double>(step - 1);
  return (L - lambda1) * distance *
         std::min(std::pow(1 - std::sqrt(lambda / (L + lambda2)), k), 4 / ((k + 2) * (k + 2)));
}

struct Strengths {
  double lambda1;
  penalty::Strength strength;
};
const std::vector<Strengths>& every_strength() {
  static const std::vector<Strengths> all{{0.0, {0.0, 0.3}},  {0.0, {0.2, 0.1}}, {0.0, {0.2, 0.0}},
                                          {0.4, {0.0, 0.0}},  {0.1, {0.1, 0.2}}, {0.0, {0.0, 0.0}},
                                          {0.05, {0.3, 0.0}}, {0.0, {0.0, 1e-4}}};
  return all;
}

TEST(AcceleratedGradient, MeetsItsRateAndInvariant) {
  std::uint64_t seed = 1;
  for (const Form form : {Form::infinity, Form::one}) {
    for (const bool adaptive : {false, true}) {
      for (const Strengths& choice : every_strength()) {
        Toy toy(choice.lambda1, choice.strength, ++seed);
        const std::vector<double> best = toy.minimizer();
        const double optimum = toy.objective(best);
        const double distance = toy.simple.divergence(best, toy.start.x);
        const auto method = method_of(form, toy, adaptive);
        for (std::size_t k = 1; k <= 150; ++k) {
          method->advance();
          SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << k);
          const double tolerance = 1e-12 * (std::fabs(method->value()) + std::fabs(method->bound()) + 1.0);
          EXPECT_NEAR(method->value(), toy.objective(method->x().x), tolerance);
          EXPECT_LE(method->value(), method->bound() + method->resolution());
          EXPECT_GE(method->value(), optimum - tolerance);
          if (!adaptive) {
            EXPECT_LE(method->value() - optimum, rate(form, toy, k, distance) + tolerance);
          }
          // What the rates come from, whatever L was: J(x_k) - J(x) <= Delta(x, x_0) / A_k.
          EXPECT_LE(method->value() - optimum, method->gap_factor() * distance + tolerance);
          EXPECT_GT(method->curvature(), choice.lambda1);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(AcceleratedGradient, BoundsTheDualityGap) {
  std::uint64_t seed = 40;
  for (const Form form : {Form::infinity, Form::one}) {
    for (const bool adaptive : {false, true}) {
      for (const penalty::Strength strength : {penalty::Strength{0.0, 0.3}, penalty::Strength{0.2, 0.1}}) {
        Toy toy(0.0, strength, ++seed);
        const auto method = method_of(form, toy, adaptive);
        for (int k = 0; k < 150; ++k) {
          method->advance();
          // D(alpha) = -||alpha||^2/2 - <b, alpha> - Psi*(-A'alpha), attained by w(alpha).
          const std::vector<double>& alpha = toy.smooth.mean;
          double dual = -0.5 * product(alpha, alpha) - product(toy.smooth.b, alpha);
          std::vector<double> w(Toy::columns);
          for (std::size_t j = 0; j < w.size(); ++j) {
            double u = 0.0;
            for (std::size_t i = 0; i < Toy::rows; ++i) u -= toy.smooth.A[i][j] * alpha[i];
            EXPECT_NEAR(-u, method->slope()[j], 1e-12 * (1 + std::fabs(u)));
            dual -= strength.conjugate(u);
            w[j] = strength.conjugate_gradient(u);
          }
          const double gap = method->value() - dual;
          EXPECT_GE(gap, -1e-12);
          EXPECT_LE(gap, method->gap_factor() * toy.simple.divergence(w, toy.start.x) +
                             1e-12 * (1 + std::fabs(method->value())));
        }
      }
    }
  }
}

TEST(AcceleratedGradient, LowersTheCurvatureAndNeverOverflows) {
  for (const Form form : {Form::infinity, Form::one}) {
    Toy toy(0.0, {0.1, 0.5}, 90);
    const auto method = method_of(form, toy, true);
    method->restart(toy.start, 1e6);
    for (int k = 0; k < 5000; ++k) method->advance();
    EXPECT_LT(method->curvature(), 1e5);
    EXPECT_TRUE(std::isfinite(method->gap_factor()));
    EXPECT_NEAR(method->value(), toy.objective(toy.minimizer()), 1e-13);
  }
}

// f(w) = mu log mean exp(U w / mu), whose dual points are the softmax weights of the rows.
class SoftMaximum final : public solver::SmoothPart {
 public:
  SoftMaximum(Matrix rows, double level) : U(std::move(rows)), mu(level), latest(U.size()), mean(U.size()) {}
  void locate(AgmPoint& point) override {
    point.image.resize(U.size());
    for (std::size_t i = 0; i < U.size(); ++i) point.image[i] = product(U[i], point.x);
  }
  double value(AgmPoint& point) override {
    const double top = *std::max_element(point.image.begin(), point.image.end());
    double sum = 0.0;
    for (const double z : point.image) sum += std::exp((z - top) / mu);
    return top + mu * std::log(sum / static_cast<double>(U.size()));
  }
  double gradient(AgmPoint& point, std::span<double> gradient) override {
    const double top = *std::max_element(point.image.begin(), point.image.end());
    double sum = 0.0;
    for (std::size_t i = 0; i < U.size(); ++i) sum += latest[i] = std::exp((point.image[i] - top) / mu);
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      gradient[j] = 0.0;
      for (std::size_t i = 0; i < U.size(); ++i) gradient[j] += U[i][j] * latest[i] / sum;
    }
    for (double& p : latest) p /= sum;
    return value(point);
  }
  void average(double theta) override {
    for (std::size_t i = 0; i < U.size(); ++i) mean[i] = (1.0 - theta) * mean[i] + theta * latest[i];
  }

  Matrix U;
  double mu;
  std::vector<double> latest, mean;
};

// Entropy-regularized boosting, lambda KL(w || uniform) + max_i <U_i, w> on the capped simplex, against golden optima.
TEST(AcceleratedGradient, SolvesBoostingInTheEntropyGeometry) {
  const nlohmann::json file = golden("lpboost.json");
  for (const auto& one : file["cases"]) {
    const auto U = one["U"].get<Matrix>();
    const std::size_t n = U.front().size();
    const double lambda = one["lam"], cap = one["nu"], optimum = one["J"];
    const std::vector<double> uniform(n, 1.0 / static_cast<double>(n));
    const double mu = 1e-3;
    SoftMaximum smooth(U, mu);
    solver::DivergencePart<projection::Entropy> simple({.cap = cap}, lambda, uniform);
    double largest = 0.0;
    for (const auto& row : U) {
      for (const double u : row) largest = std::max(largest, u * u);
    }
    for (const bool infinity_form : {true, false}) {
      for (const bool adaptive : {true, false}) {
        std::unique_ptr<AcceleratedGradient> method;
        const solver::CurvatureSearch search{.L = largest / mu, .adaptive = adaptive};
        if (infinity_form) {
          method = std::make_unique<solver::AgmInfinity>(smooth, simple, search);
        } else {
          method = std::make_unique<solver::AgmOne>(smooth, simple, search);
        }
        AgmPoint start{.x = uniform, .image = {}};
        smooth.locate(start);
        method->restart(start, search.L);
        for (int k = 0; k < 1500; ++k) {
          method->advance();
          ASSERT_LE(method->value(), method->bound() + method->resolution()) << k;
        }
        const std::vector<double>& w = method->x().x;
        const auto value = [&](const std::vector<double>& at) {
          AgmPoint point{.x = at, .image = {}};
          smooth.locate(point);
          return *std::max_element(point.image.begin(), point.image.end()) + simple.value(at);
        };
        const double smoothing = mu * std::log(static_cast<double>(U.size()));
        EXPECT_GE(value(w), optimum - 1e-9);
        EXPECT_LE(value(w), optimum + smoothing + 1e-6);
        // Weak duality: D(alpha) = min over w of <U'alpha, w> + lambda KL(w || uniform).
        std::vector<double> pull(n, 0.0), best(n);
        for (std::size_t i = 0; i < U.size(); ++i) {
          for (std::size_t j = 0; j < n; ++j) pull[j] -= U[i][j] * smooth.mean[i];
        }
        simple.minimize(pull, 0.0, best);
        const double dual = -product(pull, best) + simple.value(best);
        EXPECT_LE(dual, optimum + 1e-9);
        EXPECT_GE(dual, optimum - smoothing - 1e-6);
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
