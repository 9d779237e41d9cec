// The problem inside bundle methods: its gap is the truth, and falls to rounding whatever the scale, with repeated cuts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/solver/simplex_qp.hpp"

namespace fenchel::test {
namespace {

struct Qp {
  std::vector<double> Q, b;
};

// Q = A A' with rows of A in few dimensions, so that it is singular; every third row repeats the one before.
Qp random_qp(std::size_t count, std::size_t dimension, double scale, bool repeated, Random& random) {
  std::vector<std::vector<double>> rows(count, std::vector<double>(dimension));
  Qp qp{.Q = std::vector<double>(count * count), .b = std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    for (double& a : rows[i]) a = scale * random.normal();
    qp.b[i] = scale * random.normal();
    if (repeated && i % 3 == 2) {
      rows[i] = rows[i - 1];
      qp.b[i] = qp.b[i - 1];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t j = 0; j < dimension; ++j) qp.Q[i * count + k] += rows[i][j] * rows[k][j];
    }
  }
  return qp;
}

struct Measured {
  long double value = 0;
  long double gap = 0;
};

Measured measure(const Qp& qp, const std::vector<double>& theta) {
  const std::size_t n = theta.size();
  Measured measured;
  long double most = -INFINITY, mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    long double product = 0;
    for (std::size_t k = 0; k < n; ++k) product += static_cast<long double>(qp.Q[i * n + k]) * theta[k];
    most = std::max(most, qp.b[i] - product);
    mean += theta[i] * (qp.b[i] - product);
    measured.value += theta[i] * (qp.b[i] - product / 2);
  }
  measured.gap = most - mean;
  return measured;
}

void expect_on_simplex(const std::vector<double>& theta) {
  long double sum = 0;
  for (const double t : theta) {
    EXPECT_GE(t, 0.0);
    sum += t;
  }
  EXPECT_NEAR(static_cast<double>(sum), 1.0, 1e-14);
}

TEST(SimplexQp, GapFallsToRounding) {
  Random random(3);
  for (const double scale : {1e-2, 1.0, 30.0, 1e3}) {
    for (const bool repeated : {false, true}) {
      for (const std::size_t count : {1u, 2u, 7u, 40u}) {
        for (const std::size_t dimension : {2u, 12u, 60u}) {
          SCOPED_TRACE(testing::Message() << scale << " " << repeated << " " << count << " " << dimension);
          const Qp qp = random_qp(count, dimension, scale, repeated, random);
          std::vector<double> theta(count, 0.0);
          theta.back() = 1.0;
          const double gap = solver::maximize_on_simplex(qp.Q, qp.b, theta, 0.0);
          expect_on_simplex(theta);
          const Measured measured = measure(qp, theta);
          double size = 0.0;  // of the terms whose rounding the gap consists of
          for (std::size_t i = 0; i < count; ++i) size = std::max({size, qp.Q[i * count + i], std::fabs(qp.b[i])});
          const double rounding = 1e-15 * size * static_cast<double>(count);
          EXPECT_NEAR(gap, static_cast<double>(measured.gap), rounding);
          EXPECT_LE(gap, 1e-12 * std::max(1.0, std::fabs(static_cast<double>(measured.value))) + rounding);
        }
      }
    }
  }
}

TEST(SimplexQp, StopsAtItsTolerance) {
  Random random(4);
  const Qp qp = random_qp(60, 40, 1.0, true, random);
  std::vector<double> theta(60, 1.0 / 60);
  const double start = static_cast<double>(measure(qp, theta).value);
  for (const double tolerance : {1e-1, 1e-4, 1e-8}) {
    const double gap = solver::maximize_on_simplex(qp.Q, qp.b, theta, tolerance);
    EXPECT_LE(gap, tolerance);
    EXPECT_GE(static_cast<double>(measure(qp, theta).value), start);
  }
}

// Equal slopes with different offsets: the problem is linear along their difference, and the better one takes all.
TEST(SimplexQp, ParallelCuts) {
  const Qp qp{.Q = {1, 1, 1, 1, 1, 1, 1, 1, 1}, .b = {0.5, 0.75, 0.25}};
  std::vector<double> theta{0.25, 0.25, 0.5};
  EXPECT_LE(solver::maximize_on_simplex(qp.Q, qp.b, theta, 0.0), 1e-16);
  EXPECT_EQ(theta, (std::vector<double>{0.0, 1.0, 0.0}));
}

// min ||theta||^2 over the simplex: the problem of the lower-bound theorem.
TEST(SimplexQp, Orthonormal) {
  const std::size_t count = 16;
  Qp qp{.Q = std::vector<double>(count * count), .b = std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) qp.Q[i * count + i] = 1.0;
  std::vector<double> theta(count, 0.0);
  theta[3] = 1.0;
  solver::maximize_on_simplex(qp.Q, qp.b, theta, 0.0);
  for (const double t : theta) EXPECT_NEAR(t, 1.0 / 16, 1e-15);
}

}  // namespace
}  // namespace fenchel::test
