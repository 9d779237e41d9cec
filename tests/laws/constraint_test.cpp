// The laws of constraints: what is said to be inside is inside, whatever is moved in is proved to be there and close to where
// it was, and brackets bound sigma(u) - <w, u> from above, closely, for every u that rounding leaves open.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/problem/constraint_brackets.hpp"
#include "tests/support/quad.hpp"

namespace fenchel::penalty {
namespace {

using test::larger;
using test::magnitude;
using test::Quad;
using test::square_root;

std::vector<Constraint> sets() {
  std::vector<Constraint> list;
  for (const double r : {1.0, 0.1, 3.7e-9, 1e8}) {
    list.emplace_back(L1Ball{.radius = r});
    list.emplace_back(L2Ball{.radius = r});
    list.emplace_back(Simplex{.radius = r});
    for (const double rho : {0.0, 0.3, 1.0}) list.emplace_back(ElasticNetBall{.radius = r, .l1_ratio = rho});
  }
  return list;
}

Quad size_of(double l1, double l2, const std::vector<double>& w) {
  Quad size = 0;
  for (const double x : w) size += Quad(l1) * magnitude(Quad(x)) + Quad(l2) / 2 * Quad(x) * Quad(x);
  return size;
}

// Membership in exact arithmetic, or nearly.
struct Inside {
  const std::vector<double>& w;
  bool operator()(const L1Ball& k) const { return size_of(1, 0, w) <= Quad(k.radius); }
  bool operator()(const L2Ball& k) const { return size_of(0, 2, w) <= Quad(k.radius) * Quad(k.radius); }
  bool operator()(const ElasticNetBall& k) const {
    return size_of(k.l1_ratio, 1.0 - k.l1_ratio, w) <= Quad(k.radius);
  }
  bool operator()(const Simplex& k) const {
    Quad sum = 0;
    for (const double x : w) {
      if (x < 0.0) return false;
      sum += Quad(x);
    }
    return sum == Quad(k.radius);
  }
};

// The support function, where it has a closed form; for the elastic net the smallest value of its dual on a fine grid, which
// lies above it by very little.
struct Support {
  const std::vector<Quad>& u;  // outlives the visit
  [[nodiscard]] Quad largest() const {
    Quad most = 0;
    for (const Quad x : u) most = larger(most, magnitude(x));
    return most;
  }
  Quad operator()(const L1Ball& k) const { return Quad(k.radius) * largest(); }
  Quad operator()(const L2Ball& k) const {
    Quad squares = 0;
    for (const Quad x : u) squares += x * x;
    return Quad(k.radius) * square_root(squares);
  }
  Quad operator()(const Simplex& k) const {
    Quad most = u.front();
    for (const Quad x : u) most = larger(most, x);
    return Quad(k.radius) * most;
  }
  Quad operator()(const ElasticNetBall& k) const {
    if (k.l1_ratio == 1.0 || largest() == 0) return Quad(k.radius) * largest();
    // theta r + sum [|u| - theta rho]_+^2 / (2 theta (1 - rho)) is convex in theta: ternary search in its logarithm.
    const Quad rho = k.l1_ratio, rest = 1.0 - k.l1_ratio;
    const auto dual = [&](double logarithm) {
      const Quad theta = std::exp(logarithm);
      Quad value = theta * Quad(k.radius);
      for (const Quad x : u) {
        const Quad excess = larger(Quad(0), magnitude(x) - theta * rho);
        value += excess * excess / (2 * theta * rest);
      }
      return value;
    };
    double low = -90, high = 90;
    for (int step = 0; step < 110; ++step) {
      const double a = low + (high - low) / 3, b = high - (high - low) / 3;
      (dual(a) <= dual(b) ? high : low) = dual(a) <= dual(b) ? b : a;
    }
    return dual((low + high) / 2);
  }
};

std::vector<double> random_vector(Random& random, std::size_t d, double scale) {
  std::vector<double> v(d);
  for (double& x : v) x = random.uniform() < 0.2 ? 0.0 : scale * random.normal();
  return v;
}

TEST(Constraints, WhatIsMovedInIsInside) {
  Random random(1);
  for (const Constraint& set : sets()) {
    for (int k = 0; k < 300; ++k) {
      std::vector<double> w = random_vector(random, 1 + k % 9, std::pow(10.0, k % 12 - 9));
      enter(set, w);
      EXPECT_TRUE(contains(set, w));
      EXPECT_TRUE(std::visit(Inside{w}, set));
      std::vector<double> again = w;
      enter(set, again);
      EXPECT_EQ(again, w);  // what is inside stays as it is
      // Projections are moved by roundings only.
      std::vector<double> projected = random_vector(random, w.size(), 1e9);
      project(set, projected);
      std::vector<double> moved = projected;
      enter(set, moved);
      double largest = 0.0;
      for (const double x : projected) largest = std::fmax(largest, std::fabs(x));
      for (std::size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(moved[j], projected[j], 1e-14 * largest);
    }
  }
}

TEST(Constraints, NothingOutsideIsSaidToBeInside) {
  Random random(2);
  for (const Constraint& set : sets()) {
    for (int k = 0; k < 300; ++k) {
      std::vector<double> w = random_vector(random, 1 + k % 9, 1e9);
      enter(set, w);
      for (double& x : w) x *= 1.0 + std::ldexp(1.0, -52 + k % 20);
      EXPECT_TRUE(!contains(set, w) || std::visit(Inside{w}, set));
      w.front() = std::nan("");
      EXPECT_FALSE(contains(set, w));
    }
  }
  EXPECT_FALSE(contains(Simplex{}, std::vector<double>{1.5, -0.5}));
  EXPECT_FALSE(contains(Simplex{}, std::vector<double>{0.1, 0.9 + 0x1p-53}));
  EXPECT_FALSE(contains(Simplex{}, std::vector<double>{}));
}

TEST(Constraints, BracketsBoundFromAboveAndClosely) {
  Random random(3);
  for (const Constraint& set : sets()) {
    for (int k = 0; k < 45; ++k) {
      const std::size_t d = 1 + static_cast<std::size_t>(k % 7);
      const double scale = std::pow(10.0, k % 14 - 7), relative = k % 3 == 0 ? 0.0 : std::pow(10.0, -2 - k % 15);
      const std::vector<double> u = random_vector(random, d, scale);
      std::vector<double> w = random_vector(random, d, std::pow(10.0, k % 11 - 9)), error(d);
      if (k % 5 == 0) w = u;  // optimal, once projected from far away
      if (k % 5 == 0) {
        for (double& x : w) x *= 1e20;
      }
      enter(set, w);
      for (double& e : error) e = relative * scale * random.uniform();
      const problem::TwoLevels bracket = problem::constraint_brackets(set, w, u, error);
      const double bound = bracket.bound();
      EXPECT_GE(bound, 0.0);
      Quad worst = 0, sizes = 0;
      for (int trial = 0; trial < 8; ++trial) {
        std::vector<Quad> exact(d);
        for (std::size_t j = 0; j < d; ++j) {
          const double side = trial == 0 ? 0.0 : 2 * static_cast<double>(random.uniform() < 0.5) - 1;
          exact[j] = Quad(u[j]) + Quad(side) * Quad(error[j]);
        }
        const Quad support = std::visit(Support{exact}, set);
        Quad value = support, product = 0;
        for (std::size_t j = 0; j < d; ++j) {
          value -= Quad(w[j]) * exact[j];
          product += magnitude(Quad(w[j]) * exact[j]);
        }
        worst = larger(worst, value);
        sizes = larger(sizes, magnitude(support) + product);
      }
      // The ternary search knows the logarithm of theta to 1e-14, and so the support function to 1e-28.
      EXPECT_GE(Quad(bound), worst - Quad(1e-26) * sizes) << bound << " set " << set.index();
      // At most a few times what the errors can move, and a few roundings.
      const Quad reach = std::visit(Support{std::vector<Quad>(d, Quad(scale))}, set);
      const double slack = 8 * static_cast<double>(d) * relative * static_cast<double>(reach);
      EXPECT_LE(static_cast<double>(Quad(bound) - worst), slack + 1e-13 * static_cast<double>(sizes))
          << "set " << set.index();
    }
  }
}

}  // namespace
}  // namespace fenchel::penalty
