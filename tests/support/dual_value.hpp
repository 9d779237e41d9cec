// The dual objective of dual coordinate ascent in 113-bit arithmetic, and that it does not fall.
#pragma once

#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/exact.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {

struct Dual {
  Quad value = 0;
  Quad size = 0;
};

// The dual of the problem with the proximal term of a free bias, (1/(2 s)) (b - centre)^2, if s > 0.
inline Dual dual_of(const Instance& p, std::span<const double> alpha, double s, double centre) {
  const Quad total = weight_sum<Quad>(p);
  Dual dual;
  Quad t = 0;
  std::vector<Quad> u(p.l1.size(), Quad(0));
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    if (p.c[i] == 0.0) continue;
    const Quad share = Quad(p.c[i]) / total, conjugate = conjugate_at(p, p.y[i], alpha[i]);
    dual.value -= share * conjugate;
    dual.size += share * magnitude(conjugate);
    t += share * alpha[i];
    for (std::size_t j = 0; j < p.features(); ++j) u[j] += share * alpha[i] * p.rows[i][j];
    if (p.constant != 0.0) u[p.features()] += share * alpha[i] * p.constant;
  }
  for (std::size_t j = 0; j < u.size(); ++j) {
    const Quad excess = larger(Quad(0), magnitude(u[j]) - p.l1[j]), term = excess * excess / (2 * Quad(p.l2[j]));
    dual.value -= term;
    dual.size += term;
  }
  const Quad bias = Quad(centre) * t + Quad(s) / 2 * t * t;
  dual.value -= bias;
  dual.size += magnitude(bias);
  return dual;
}

inline void expect_no_fall(const Dual& before, const Dual& after) {
  ASSERT_GE(static_cast<double>(after.value - before.value),
            -1e-12 * static_cast<double>(before.size + after.size));
}

inline Case with_penalty(Case setup, double l1, registry::Bias bias) {
  setup.settings.direct = penalty::Strength{.l1 = l1, .l2 = 0.05};
  setup.settings.lambda = 0.0;
  setup.settings.bias = bias;
  return setup;
}

}  // namespace fenchel::test
