// The capped simplex in relative entropy, and prox-steps in both geometries: a point x* minimises
// f(x) = <G, x> + sum_k r_k Delta(x, c_k) over a convex set exactly if f(x) >= f(x*) + R Delta(x, x*) for all x of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/projection/geometry.hpp"
#include "tests/support/golden.hpp"

namespace fenchel::projection {
namespace {

using Vector = std::vector<double>;

Vector normals(std::size_t n, double scale, Random& random) {
  Vector x(n);
  for (double& entry : x) entry = scale * random.normal();
  return x;
}

Vector project(const Vector& logs, double cap) {
  Vector w(logs.size());
  project_kl_capped_simplex(logs, cap, w);
  return w;
}

TEST(KlCappedSimplex, GoldenVectors) {
  const nlohmann::json file = test::golden("kl_capped_simplex.json");
  for (const auto& c : file["cases"]) {
    const Vector expected = c["w"], w = project(c["log_q"], c["nu"]);
    for (std::size_t i = 0; i < w.size(); ++i)
      EXPECT_NEAR(w[i], expected[i], 1e-12) << c["name"] << ", entry " << i;
  }
}

// w_i = min(cap, C q_i) with one C, and the sum is 1.
void expect_capped(const Vector& logs, double cap, const std::string& name) {
  const Vector w = project(logs, cap);
  EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0L), 1.0L, 1e-14L) << name;
  double constant = -std::numeric_limits<double>::infinity();  // log C, from the largest entry below the cap
  double largest = 0.0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    ASSERT_GE(w[i], 0.0) << name;
    ASSERT_LE(w[i], cap) << name;
    if (w[i] < cap && w[i] > largest) largest = w[i], constant = std::log(w[i]) - logs[i];
  }
  if (largest == 0.0) return;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double free = std::exp(logs[i] + constant);
    const double slack = 1e-13 * (1.0 + std::fabs(logs[i]) + std::fabs(constant));
    EXPECT_NEAR(w[i], std::min(cap, free), slack * std::min(cap, free)) << name << ", entry " << i;
  }
}

TEST(KlCappedSimplex, OptimalOnRandomPoints) {
  Random random(1);
  for (const std::size_t n : {1, 2, 3, 7, 50, 6000}) {
    for (const double scale : {0.0, 1e-3, 1.0, 30.0, 900.0}) {
      for (const double looseness : {1.0, 1.01, 1.5, 4.0, 1e9}) {
        Vector logs = normals(n, scale, random);
        const double cap = looseness / static_cast<double>(n);
        const std::string name =
            "size " + std::to_string(n) + ", scale " + std::to_string(scale) + ", " + std::to_string(looseness);
        expect_capped(logs, cap, name);
        for (double& l : logs) l = std::round(l);
        expect_capped(logs, cap, name + ", ties");
      }
    }
  }
}

TEST(KlCappedSimplex, RoundingOfTheCapLeavesNoChoice) {
  for (const double looseness : {1.0 - 1e-13, 1.0 + 1e-13})
    EXPECT_EQ(project({3.0, 1.0, 2.0, 9.0}, looseness / 4), Vector(4, 0.25));
}

TEST(KlCappedSimplex, EntriesThatAreZeroStayZero) {
  const double none = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(project({none, 0.0, none, 0.0}, 0.5), (Vector{0.0, 0.5, 0.0, 0.5}));
  const Vector w = project({none, 0.0, 5.0, 0.0}, 0.5);
  EXPECT_EQ(w[0], 0.0);
  EXPECT_EQ(w[2], 0.5);
  EXPECT_NEAR(w[1], 0.25, 1e-15);
}

TEST(KlCappedSimplex, RefusesWhatMakesNoSense) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(project({0.0, 0.0}, 0.49), Error);
  EXPECT_THROW(project({0.0, -infinity}, 0.5), Error);
  EXPECT_THROW(project({}, 1.0), Error);
  EXPECT_THROW(project({0.0, infinity}, 1.0), Error);
  EXPECT_THROW(project({0.0, std::numeric_limits<double>::quiet_NaN()}, 1.0), Error);
  EXPECT_THROW(project({0.0, 0.0}, std::numeric_limits<double>::quiet_NaN()), Error);
}

// Two pulls, the second one with a weight of its own; other points of the set come from the geometry itself.
template <Geometry G>
void expect_three_points(const G& geometry, double scale) {
  Random random(4);
  constexpr std::size_t n = 40;
  for (int round = 0; round < 20; ++round) {
    const Vector gradient = normals(n, scale, random);
    Vector first(n), second(n), first_mirror(n), second_mirror(n), mirrored(n), best(n), other(n);
    geometry.recover(normals(n, 1.0, random), first);
    geometry.recover(normals(n, 1.0, random), second);
    geometry.mirror(first, first_mirror);
    geometry.mirror(second, second_mirror);
    const double r = 0.7, q = 0.1 * random.uniform();
    const Pull pulls[] = {{r, first_mirror}, {q, second_mirror}};
    prox_step(geometry, gradient, pulls, mirrored, best);
    const auto objective = [&](const Vector& x) {
      const double linear = std::inner_product(x.begin(), x.end(), gradient.begin(), 0.0);
      return linear + r * geometry.divergence(x, first) + q * geometry.divergence(x, second);
    };
    for (int trial = 0; trial < 20; ++trial) {
      geometry.recover(normals(n, trial % 2 == 0 ? 1.0 : 0.01, random), other);
      const double expected = objective(best) + (r + q) * geometry.divergence(other, best);
      EXPECT_GE(objective(other), expected - 1e-12 * (1.0 + std::fabs(expected)));
    }
  }
}

TEST(Geometry, ProxStepsAreMinimisers) {
  for (const double scale : {0.0, 0.1, 3.0}) {
    expect_three_points(Euclidean{}, scale);
    expect_three_points(Entropy{}, scale);
    expect_three_points(Entropy{.cap = 0.05}, scale);
  }
}

TEST(Geometry, Divergences) {
  const Vector x{0.5, 0.5, 0.0}, y{0.25, 0.25, 0.5};
  EXPECT_NEAR(Euclidean{}.divergence(x, y), 0.5 * (0.0625 + 0.0625 + 0.25), 1e-16);
  EXPECT_NEAR(Entropy{}.divergence(x, y), std::log(2.0), 1e-15);
  EXPECT_EQ(Entropy{}.divergence(x, x), 0.0);
  EXPECT_EQ(Entropy{}.divergence(y, x), std::numeric_limits<double>::infinity());
}

// An entry pressed far below what a double can hold comes back from its logarithm.
TEST(Geometry, EntropyForgetsNothing) {
  const Entropy entropy;
  Vector mirrored(2, 0.0), point(2);
  const Vector push{2000.0, 0.0}, back{-2000.0, 0.0};
  for (const Vector* gradient : {&push, &back}) {
    const Vector centre = mirrored;
    const Pull pulls[] = {{1.0, centre}};
    prox_step(entropy, *gradient, pulls, mirrored, point);
  }
  EXPECT_EQ(point, (Vector{0.5, 0.5}));
}

}  // namespace
}  // namespace fenchel::projection
