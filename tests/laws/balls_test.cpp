// Balls and the simplex: w is the projection of p exactly if <p - w, v - w> <= 0 for all v of the set, which is
// sigma(p - w) <= <p - w, w>; and sigma is right if its maximiser is in the set, attains it, and no point does better.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/projection/balls.hpp"
#include "tests/support/golden.hpp"

namespace fenchel::projection {
namespace {

using Vector = std::vector<double>;
using Map = std::function<void(std::span<const double>, double, std::span<double>)>;

struct Set {
  std::string name;
  Map project;
  std::function<double(std::span<const double>, double)> support;
  Map maximize;
  std::function<double(const Vector&)> size;  // <= r inside
};

double sum_of(const Vector& w, const std::function<double(double)>& term) {
  long double sum = 0.0L;
  for (const double x : w) sum += term(x);
  return static_cast<double>(sum);
}

Set elastic_net(double rho) {
  return {"elastic net " + std::to_string(rho),
          [rho](auto p, double r, auto w) { project_elastic_net_ball(p, rho, r, w); },
          [rho](auto u, double r) { return support_elastic_net_ball(u, rho, r); },
          [rho](auto u, double r, auto w) { maximize_elastic_net_ball(u, rho, r, w); },
          [rho](const Vector& w) {
            return sum_of(w, [rho](double x) { return rho * std::fabs(x) + 0.5 * (1.0 - rho) * x * x; });
          }};
}

std::vector<Set> all_sets() {
  const auto l1 = [](const Vector& w) { return sum_of(w, [](double x) { return std::fabs(x); }); };
  const auto l2 = [](const Vector& w) { return std::sqrt(sum_of(w, [](double x) { return x * x; })); };
  return {{"simplex", project_simplex, support_simplex, maximize_simplex, l1},
          {"l1", project_l1_ball, support_l1_ball, maximize_l1_ball, l1},
          {"l2", project_l2_ball, support_l2_ball, maximize_l2_ball, l2},
          elastic_net(0.0),
          elastic_net(0.01),
          elastic_net(0.5),
          elastic_net(1.0 - 1e-9),
          elastic_net(1.0)};
}

Vector random_point(std::size_t n, double scale, bool ties, std::uint64_t seed) {
  Random random(seed);
  Vector p(n);
  for (double& x : p) x = scale * (ties ? std::round(2 * random.normal()) : random.normal());
  return p;
}

double inner(const Vector& u, const Vector& w) {
  long double sum = 0.0L;
  for (std::size_t j = 0; j < u.size(); ++j) sum += static_cast<long double>(u[j]) * w[j];
  return static_cast<double>(sum);
}

double magnitude_of(const Vector& u, const Vector& w) {
  double sum = 0.0;
  for (std::size_t j = 0; j < u.size(); ++j) sum += std::fabs(u[j] * w[j]);
  return sum;
}

void expect_projection(const Set& set, const Vector& p, double r, const std::string& name) {
  Vector w(p.size()), rest(p.size());
  set.project(p, r, w);
  EXPECT_LE(set.size(w), r * (1.0 + 1e-13)) << name;
  for (std::size_t j = 0; j < p.size(); ++j) {
    rest[j] = p[j] - w[j];
    if (set.name == "simplex") {
      EXPECT_GE(w[j], 0.0) << name;
    }
  }
  const double rounding = magnitude_of(p, w) + magnitude_of(w, w);
  EXPECT_LE(set.support(rest, r), inner(rest, w) + 1e-13 * rounding) << name;
  if (set.name != "simplex" && set.size(p) <= r) {
    EXPECT_EQ(w, p) << name;
  }
  Vector same = p;
  set.project(same, r, same);
  EXPECT_EQ(same, w) << name << ", in place";
}

void expect_support(const Set& set, const Vector& u, double r, const std::string& name) {
  Vector w(u.size());
  set.maximize(u, r, w);
  const double value = set.support(u, r);
  const double tolerance = 1e-13 * (std::fabs(value) + magnitude_of(u, w));
  EXPECT_LE(set.size(w), r * (1.0 + 1e-13)) << name;
  EXPECT_NEAR(inner(u, w), value, tolerance) << name;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {  // points of the set, on its boundary mostly
    Vector v = random_point(u.size(), 3 * r, false, 100 + seed);
    for (std::size_t j = 0; j < v.size(); ++j) v[j] += static_cast<double>(seed) * w[j];
    set.project(v, r, v);
    EXPECT_LE(inner(u, v), value + tolerance + 1e-13 * magnitude_of(u, v)) << name;
  }
}

TEST(Balls, ProjectionsAndSupportFunctions) {
  for (const Set& set : all_sets()) {
    std::uint64_t seed = 0;
    for (const std::size_t n : {1, 2, 3, 10, 300, 5000}) {
      for (const double r : {1e-6, 0.3, 1.0, 40.0}) {
        for (const bool ties : {false, true}) {
          const Vector p = random_point(n, 1.0, ties, ++seed);
          const std::string name = set.name + ", size " + std::to_string(n) + ", r " + std::to_string(r);
          expect_projection(set, p, r, name);
          expect_support(set, p, r, name);
        }
      }
    }
  }
}

TEST(Balls, EveryScale) {
  for (const Set& set : all_sets()) {
    for (const double scale : {1e-100, 1e-12, 1e12, 1e100}) {
      for (const std::size_t n : {3, 50}) {
        const std::string name = set.name + ", scale " + std::to_string(scale);
        expect_projection(set, random_point(n, scale, false, 7), scale, name + ", radius alike");
        expect_projection(set, random_point(n, scale, false, 7), 1.0, name + ", radius 1");
        expect_support(set, random_point(n, scale, false, 8), 1.0, name);
      }
    }
  }
}

TEST(Balls, RadiusZeroAndPointZero) {
  for (const Set& set : all_sets()) {
    Vector w(3, 1.0);
    set.project(Vector{1.0, -2.0, 0.5}, 0.0, w);
    EXPECT_EQ(w, Vector(3, 0.0)) << set.name;
    EXPECT_EQ(set.support(Vector{1.0, -2.0, 0.5}, 0.0), 0.0) << set.name;
    EXPECT_EQ(set.support(Vector(3, 0.0), 2.0), 0.0) << set.name;
    set.project(Vector(3, 0.0), 1.5, w);
    EXPECT_EQ(w, Vector(3, set.name == "simplex" ? 0.5 : 0.0)) << set.name;
  }
}

// gamma ||w||_1 + (1/2) ||w||^2 <= r is ours with rho = gamma/(1 + gamma), divided by 1 + gamma.
TEST(Balls, GoldenElasticNet) {
  const nlohmann::json file = test::golden("elastic_net_ball.json");
  for (const auto& c : file["cases"]) {
    const Vector p = c["g"], expected = c["w"];
    const double gamma = c["gamma"], r = c["r"];
    Vector w(p.size());
    project_elastic_net_ball(p, gamma / (1.0 + gamma), r / (1.0 + gamma), w);
    for (std::size_t j = 0; j < p.size(); ++j)
      EXPECT_NEAR(w[j], expected[j], 1e-12) << c["name"] << ", coordinate " << j;
  }
}

TEST(Balls, SameBitsWithEveryThreadCount) {
  const Vector p = random_point(20011, 1.0, false, 3);
  for (const Set& set : all_sets()) {
    Vector expected(p.size()), w(p.size());
    set.project(p, 2.0, expected);
    const double sigma = set.support(p, 2.0);
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 1);
    set.project(p, 2.0, w);
    EXPECT_EQ(w, expected) << set.name;
    EXPECT_EQ(set.support(p, 2.0), sigma) << set.name;
  }
}

TEST(Balls, RefusesWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Vector w(2);
  for (const Set& set : all_sets()) {
    EXPECT_THROW(set.project(Vector{1.0, nan}, 1.0, w), Error) << set.name;
    EXPECT_THROW(set.project(Vector{1.0, 2.0}, -1.0, w), Error) << set.name;
    EXPECT_THROW(static_cast<void>(set.support(Vector{1.0, 2.0}, nan)), Error) << set.name;
  }
  EXPECT_THROW(project_elastic_net_ball(Vector{1.0, 2.0}, 1.5, 1.0, w), Error);
  EXPECT_THROW(project_simplex(Vector{}, 1.0, {}), Error);
}

}  // namespace
}  // namespace fenchel::projection
