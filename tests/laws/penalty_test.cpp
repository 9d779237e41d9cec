// The laws of one coordinate of a separable penalty, over strengths, weights and duals from 1e-300 to 1e300.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/penalty/any.hpp"
#include "fenchel/penalty/separable.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/quad.hpp"

namespace fenchel::penalty {
namespace {

using test::larger;
using test::magnitude;
using test::Quad;

const std::vector<Strength> strengths{
    {.l1 = 0.0, .l2 = 1.0},  {.l1 = 0.5, .l2 = 0.0},     {.l1 = 0.3, .l2 = 0.7},       {.l1 = 1.0 / 3, .l2 = 1e-8},
    {.l1 = 1e-8, .l2 = 1e8}, {.l1 = 1e150, .l2 = 1e150}, {.l1 = 1e-150, .l2 = 1e-150}, {.l1 = 1e-300, .l2 = 0.0}};

Quad value_at(Strength g, Quad w) { return Quad(g.l1) * magnitude(w) + Quad(g.l2) / 2 * w * w; }

Quad exact_fenchel_young(Strength g, double w, double u) {
  const Quad excess = larger(Quad(0), magnitude(Quad(u)) - Quad(g.l1));
  const Quad conjugate = g.l2 > 0.0 ? excess * excess / (2 * Quad(g.l2)) : Quad(0);
  return value_at(g, w) + conjugate - Quad(w) * Quad(u);
}

double random_number(Random& random) {
  return random.normal() * std::pow(10.0, std::floor(random.uniform() * 9) - 4);
}

TEST(PenaltyLaws, ConjugateIsTheSupremum) {
  Random random(1);
  for (const Strength g : {strengths[0], strengths[2], Strength{.l1 = 2.0, .l2 = 0.1}}) {
    for (int k = 0; k < 20; ++k) {
      const double u = 3 * random.normal();
      double best = 0.0;
      for (int j = -100000; j <= 100000; ++j) best = std::fmax(best, 1e-3 * j * u - g.value(1e-3 * j));
      EXPECT_NEAR(g.conjugate(u), best, 1e-6 * (1 + best));
      EXPECT_GE(g.conjugate(u), best - 1e-12 * (1 + best));
      const double w = g.conjugate_gradient(u);
      EXPECT_NEAR(w * u - g.value(w), g.conjugate(u), 1e-12 * (1 + g.conjugate(u)));
    }
  }
  EXPECT_EQ(strengths[1].conjugate(0.5), 0.0);
  EXPECT_EQ(strengths[1].conjugate(std::nextafter(0.5, 1.0)), infinity);
  EXPECT_EQ(Strength{}.conjugate(0.0), 0.0);
  EXPECT_EQ(Strength{}.conjugate(1e-300), infinity);
}

TEST(PenaltyLaws, FenchelYoungIsAnUpperBound) {
  Random random(2);
  for (const Strength g : strengths) {
    for (int k = 0; k < 4000; ++k) {
      const double unit = g.l2 > 0.0 ? g.l1 / g.l2 + 1.0 : 1.0;
      const double w = k % 7 == 0 ? 0.0 : unit * random_number(random);
      double u = g.l1 * random_number(random) + g.l2 * random_number(random);
      if (k % 3 == 0) u = std::copysign(g.l1, w) + g.l2 * w;                       // on the graph
      if (k % 3 == 1) u = std::nextafter(std::copysign(g.l1, w) + g.l2 * w, 0.0);  // next to it
      if (g.l2 == 0.0) u = Interval{-g.l1, g.l1}.clamp(u);
      const double bound = g.fenchel_young(w, u);
      const Quad exact = exact_fenchel_young(g, w, u);
      const Quad noise = test::quad_noise * (value_at(g, w) + magnitude(Quad(w) * Quad(u)) +
                                             (g.l2 > 0.0 ? Quad(u) * Quad(u) / Quad(g.l2) : Quad(0)));
      EXPECT_GE(bound, 0.0);
      EXPECT_GE(Quad(bound) + noise, exact) << g.l1 << " " << g.l2 << " at " << w << " " << u;
      if (std::isinf(bound)) continue;  // beyond the doubles: no bound, which is no lie
      // On the graph only the rounding of u is left, squared; elsewhere a few roundoffs.
      const Quad size = value_at(g, w) + magnitude(Quad(w) * Quad(u));
      EXPECT_LE(Quad(bound), exact * Quad(1 + 1e-13) + size * Quad(1e-28) +
                                 Quad(g.l2 == 0.0 ? 1e-15 : 1e-28) * size + Quad(1e-300))
          << g.l1 << " " << g.l2 << " at " << w << " " << u;
    }
  }
}

// Squares that underflow before they are divided by a tiny strength must not vanish.
TEST(PenaltyLaws, FenchelYoungSurvivesUnderflow) {
  for (const double l2 : {1e-300, 1e-200}) {
    for (const double size : {1e-160, 1e-165, 1e-170, 1e-200}) {
      const Strength g{.l1 = 0.0, .l2 = l2};
      for (const double w : {0.0, 0.5 * size / l2}) {
        EXPECT_GE(Quad(g.fenchel_young(w, size)), exact_fenchel_young(g, w, size) * Quad(1 - 1e-30))
            << l2 << " at " << w << " " << size;
      }
    }
  }
}

TEST(PenaltyLaws, ProxIsOptimalAndMoreauHolds) {
  Random random(3);
  for (const Strength g : {strengths[0], strengths[1], strengths[2], strengths[3], Strength{}}) {
    for (int k = 0; k < 500; ++k) {
      const double v = random_number(random), t = std::fabs(random_number(random)) + 1e-3;
      const double w = g.prox(v, t);
      const auto cost = [&](double x) { return t * g.value(x) + 0.5 * (x - v) * (x - v); };
      for (const double step : {1e-7, 1e-3, 1.0, 100.0}) {
        EXPECT_LE(cost(w), cost(w + step) + 1e-12 * (1 + cost(w + step)));
        EXPECT_LE(cost(w), cost(w - step) + 1e-12 * (1 + cost(w - step)));
      }
      // v = prox_{t g}(v) + t prox_{g*/t}(v/t), the second of which solves u in dg(w): here u = (v - w)/t.
      const double u = (v - w) / t;
      const double excess =
          w == 0.0 ? std::fmax(0.0, std::fabs(u) - g.l1) : std::fabs(u - std::copysign(g.l1, w) - g.l2 * w);
      EXPECT_LE(excess, 1e-12 * (1 + std::fabs(v)) / std::fmin(1.0, t));
      const double other = v + random.normal();
      EXPECT_LE(std::fabs(g.prox(other, t) - w), std::fabs(other - v) * (1 + 1e-12) + 1e-12 * std::fabs(v));
    }
  }
}

TEST(PenaltyLaws, FactorsMultiplyStrengths) {
  const Separable penalty({.l1 = 0.3, .l2 = 0.5}, {2.0, 0.0, 1.0 / 3});
  EXPECT_EQ(penalty[0].l1, 0.6);
  EXPECT_EQ(penalty[2].l2, 0.5 * (1.0 / 3));
  EXPECT_TRUE(penalty[1].unpenalized());
  EXPECT_TRUE(penalty.has_unpenalized());
  EXPECT_EQ(penalty.strong_convexity(), 0.0);
  EXPECT_FALSE(Separable({.l1 = 0.3, .l2 = 0.0}).has_unpenalized());
  EXPECT_TRUE(Separable({.l1 = 0.0, .l2 = 0.0}).has_unpenalized());
  EXPECT_NEAR(penalty.value(std::vector<double>{1.0, 5.0, -2.0}), 0.6 + 0.5 + 0.2 + 1.0 / 3, 1e-15);
}

TEST(PenaltyLaws, NamedPenaltiesAreTheContracts) {
  EXPECT_EQ(L2{}.strength(0.7).l2, 0.7);
  EXPECT_EQ(L2{}.strength(0.7).l1, 0.0);
  EXPECT_EQ(L1{}.strength(0.7).l1, 0.7);
  EXPECT_EQ(L1{}.strength(0.7).l2, 0.0);
  EXPECT_EQ(ElasticNet{0.25}.strength(0.8).l1, 0.2);
  EXPECT_NEAR(ElasticNet{0.25}.strength(0.8).l2, 0.6, 1e-15);
  EXPECT_TRUE(None{}.strength(0.7).unpenalized());
}

// g(w) = w^2/2 + s' |w| - z w:  g*(v) is the unshifted conjugate at v + z.
TEST(RegularizerGolden, EveryCase) {
  const nlohmann::json file = test::golden("sdca-regularizer.json");
  ASSERT_EQ(file["cases"].size(), 3u);
  for (const nlohmann::json& c : file["cases"]) {
    const Strength g{.l1 = c["sigma_prime"], .l2 = 1.0};
    double conjugate = 0.0, value = 0.0;
    for (std::size_t j = 0; j < c["v"].size(); ++j) {
      const double z = c["z"][j], u = c["v"][j].get<double>() + z, w = g.conjugate_gradient(u);
      EXPECT_NEAR(w, c["grad_conj"][j].get<double>(), 1e-10);
      EXPECT_LE(g.fenchel_young(w, u), 1e-20);
      conjugate += g.conjugate(u);
      value += g.value(w) - z * w;
    }
    EXPECT_NEAR(conjugate, c["conj"].get<double>(), 1e-10);
    EXPECT_NEAR(value, c["g_at_grad"].get<double>(), 1e-10);
  }
}

}  // namespace
}  // namespace fenchel::penalty
