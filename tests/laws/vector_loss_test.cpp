// Laws of the multiclass losses, and their golden vectors.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "fenchel/base/exponential.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/multiclass.hpp"

namespace fenchel::test {
namespace {

using nlohmann::json;
using Numbers = std::vector<double>;

Numbers thresholded(Numbers mu, double theta) {
  projection::apply_threshold(mu, theta, mu);
  return mu;
}

void expect_near(const Numbers& found, const Numbers& wanted, double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t j = 0; j < found.size(); ++j) EXPECT_NEAR(found[j], wanted[j], tolerance) << j;
}

TEST(VectorLossGolden, Projection) {
  const json cases = golden("sdca-projection.json")["cases"];
  for (const json& c : cases) {
    const auto mu = c["mu"].get<Numbers>();
    expect_near(thresholded(mu, projection::projection_threshold(mu)), c["b"].get<Numbers>(), 1e-10);
  }
}

TEST(VectorLossGolden, OptimizeDual) {
  const json cases = golden("sdca-optimize-dual.json")["cases"];
  for (const json& c : cases) {
    const auto mu = c["mu"].get<Numbers>();
    expect_near(thresholded(mu, projection::dual_threshold(mu, c["C"])), c["a"].get<Numbers>(), 1e-10);
  }
}

// Both have a way of their own for few entries; more that are far below change nothing.
TEST(VectorLoss, FewClassesAreAsAmongMore) {
  Random random(23);
  const loss::SmoothMulticlassHinge smooth{.gamma = 0.5};
  for (int t = 0; t < 2000; ++t) {
    const std::size_t k = 1 + random.below(4);
    const double size = std::exp(2 * random.normal());
    Numbers few(k);
    for (double& m : few) m = random.below(8) == 0 ? 0.0 : size * random.normal();
    Numbers more = few;
    more.resize(9, -1.0);
    const double C = std::exp(2 * random.normal());
    EXPECT_NEAR(projection::dual_threshold(few, C), projection::dual_threshold(more, C), 1e-13 * (1 + size));
    if (k < 2) continue;
    const std::size_t y = random.below(k);
    Numbers beta(k), next(k), next_among_more(9), scratch(27);
    double sum = 1.0;
    for (std::size_t l = 0; l < k; ++l) {
      if (l == y || random.below(3) == 0) continue;
      beta[l] = sum * random.uniform();
      sum -= beta[l];
    }
    few[y] = more[y] = 0.0;
    for (std::size_t l = k; l < 9; ++l) more[l] = -1e3 * (1 + size + C);
    Numbers beta_among_more = beta;
    beta_among_more.resize(9, 0.0);
    smooth.dual_step(y, few, C, beta, next, scratch);
    smooth.dual_step(y, more, C, beta_among_more, next_among_more, scratch);
    next[y] = next_among_more[y] = 0.0;
    next.resize(9, 0.0);
    expect_near(next, next_among_more, 1e-13 * (1 + size));
  }
}

// The step stops where the rest is small against the way it went; repeated from where it stands it ends at the solution.
TEST(VectorLossGolden, SoftmaxDual) {
  const json cases = golden("sdca-softmax-dual.json")["cases"];
  for (const json& c : cases) {
    auto scores = c["scores"].get<Numbers>();
    const auto old = c["p_old"].get<Numbers>(), wanted = c["p_new"].get<Numbers>();
    const double r = c["r"], first = scores[0];
    for (double& s : scores) s -= first;  // class 0 as the own one
    Numbers next(old.size()), scratch(3 * old.size());
    loss::Softmax{}.dual_step(0, scores, r, old, next, scratch);
    double way = 0.0;
    for (std::size_t j = 0; j < old.size(); ++j) way += std::fabs(wanted[j] - old[j]);
    expect_near(next, wanted, 0.03 * way + 1e-10);
  }
}

// Gradients with respect to the scores are Lipschitz with 1/gamma, and co-coercive.
TEST(VectorLoss, Smoothness) {
  Random random(17);
  for (const loss::AnyVector& any : every_vector_loss()) {
    for (std::size_t k = 2; k <= 6; ++k) {
      const double gamma = loss::smoothness(any, k);
      EXPECT_EQ(gamma > 0.0, !std::holds_alternative<loss::MulticlassHinge>(any));
      double closest = 0.0;
      for (int t = 0; t < 400 && gamma > 0.0; ++t) {
        const std::size_t y = random.below(k);
        const double size = std::exp(random.normal());
        const auto gradient = [&](const Numbers& z) {
          Numbers a(k), beta(k);
          for (std::size_t l = 0; l < k; ++l) a[l] = z[l] - z[y];
          std::visit([&](const auto& l) { l.dual(y, a, beta); }, any);
          beta[y] = 0.0;
          double sum = 0.0;
          for (const double b : beta) sum += b;
          beta[y] = -sum;
          return beta;
        };
        Numbers z(k), moved(k);
        for (std::size_t l = 0; l < k; ++l) {
          z[l] = random.normal() - (l == y ? 0.0 : 1.0);
          moved[l] = z[l] + 0.1 * size * random.normal();
        }
        const Numbers first = gradient(z), second = gradient(moved);
        double product = 0.0, square = 0.0;
        for (std::size_t l = 0; l < k; ++l) {
          product += (first[l] - second[l]) * (z[l] - moved[l]);
          square += (first[l] - second[l]) * (first[l] - second[l]);
        }
        EXPECT_GE(product, gamma * square - 1e-12);
        if (product > 1e-9) closest = std::max(closest, gamma * square / product);
      }
      EXPECT_TRUE(gamma == 0.0 || closest > 0.1) << "the law is far from tight: " << closest;
    }
  }
}

TEST(VectorLoss, QuickExponential) {
  for (double x = -650.0; x < 650.0; x += 0.37) EXPECT_NEAR(quick_exp(x) / std::exp(x), 1.0, 1e-13) << x;
  EXPECT_EQ(quick_exp(-1e9), 0.0);
  EXPECT_EQ(quick_exp(0.0), 1.0);
}

struct Draw {
  std::size_t k, y;
  Numbers a, beta;
};

Draw draw(Random& random) {
  Draw d{.k = 2 + random.below(5), .y = 0, .a = {}, .beta = {}};
  d.y = random.below(d.k);
  const double scale = std::pow(10.0, 2 * random.uniform() - 1);
  double sum = 0.0;
  for (std::size_t l = 0; l < d.k; ++l) {
    d.a.push_back(l == d.y ? 0.0 : scale * random.normal() - 0.5);
    d.beta.push_back(l == d.y || random.uniform() < 0.3 ? 0.0 : random.uniform());
    sum += d.beta.back();
  }
  const double target = random.uniform() < 0.3 ? 1.0 - 0x1p-50 : random.uniform();
  for (double& b : d.beta) b = sum > 0.0 ? b / sum * target : 0.0;
  return d;
}

double rest_of(const Draw& d, const Numbers& beta) {
  double rest = 1.0;
  for (std::size_t l = 0; l < d.k; ++l) rest -= l == d.y ? 0.0 : beta[l];
  return std::max(0.0, rest);
}

template <class Visit>
void for_each_loss(Visit&& visit) {
  for (const loss::AnyVector& any : every_vector_loss()) {
    std::visit([&](const auto& loss) { visit(any, loss); }, any);
  }
}

Quad exact_bracket(const loss::AnyVector& any, const Draw& d, const Numbers& beta) {
  const std::vector<Quad> a(d.a.begin(), d.a.end()), b(beta.begin(), beta.end());
  Quad sum = exact_value(any, d.y, a) + exact_conjugate(any, d.y, b);
  for (std::size_t l = 0; l < d.k; ++l) sum -= l == d.y ? Quad(0) : a[l] * b[l];
  return sum;
}

TEST(VectorLoss, ValueAndBracketAgainstWideArithmetic) {
  for_each_loss([](const loss::AnyVector& any, const auto& loss) {
    Random random(1);
    for (int t = 0; t < 400; ++t) {
      const Draw d = draw(random);
      const std::vector<Quad> a(d.a.begin(), d.a.end());
      const Quad value = exact_value(any, d.y, a);
      EXPECT_NEAR(loss.value(d.y, d.a), static_cast<double>(value), 1e-13 * (1 + static_cast<double>(value)));
      const Quad exact = exact_bracket(any, d, d.beta);
      const double bound =
          loss.fenchel_young({.y = d.y, .a = d.a, .beta = d.beta, .rest = rest_of(d, d.beta), .rest_error = 1e-15});
      EXPECT_GE(exact, Quad(-1e-28));
      EXPECT_GE(Quad(bound), exact - Quad(1e-28)) << loss.name;
      EXPECT_LE(bound, static_cast<double>(exact) + 1e-11 * (1 + static_cast<double>(value))) << loss.name;
    }
  });
}

// Errors in the margins and in the duals only ever widen the bracket enough.
TEST(VectorLoss, BracketCoversItsErrors) {
  for_each_loss([](const loss::AnyVector& any, const auto& loss) {
    Random random(2);
    for (int t = 0; t < 200; ++t) {
      const Draw d = draw(random);
      const double error = std::pow(10.0, -12 * random.uniform() - 1), relative = 1e-3 * error;
      const double bound = loss.fenchel_young({.y = d.y,
                                               .a = d.a,
                                               .a_error = error,
                                               .beta = d.beta,
                                               .beta_error = relative,
                                               .rest = rest_of(d, d.beta),
                                               .rest_error = 1.1 * relative + 1e-15});
      for (int s = 0; s < 10; ++s) {
        Draw moved = d;
        for (std::size_t l = 0; l < d.k; ++l) {
          if (l == d.y) continue;
          moved.a[l] += error * (2 * random.uniform() - 1) * 0.999;
          moved.beta[l] *= 1.0 - relative * random.uniform() * 0.999;
        }
        EXPECT_GE(Quad(bound), exact_bracket(any, moved, moved.beta)) << loss.name;
      }
    }
  });
}

TEST(VectorLoss, GradientIsADualPointWithAVanishingBracket) {
  for_each_loss([](const loss::AnyVector& /*any*/, const auto& loss) {
    Random random(3);
    for (int t = 0; t < 300; ++t) {
      const Draw d = draw(random);
      Numbers beta(d.k);
      loss.dual(d.y, d.a, beta);
      double sum = 0.0;
      for (const double b : beta) {
        EXPECT_GE(b, 0.0);
        sum += b;
      }
      EXPECT_NEAR(sum, 1.0, 1e-12);  // with the rest in the entry of the own class
      const double size = 1.0 + loss.value(d.y, d.a);
      EXPECT_LE(loss.fenchel_young({.y = d.y, .a = d.a, .beta = beta, .rest = beta[d.y]}), 1e-11 * size)
          << loss.name;
    }
  });
}

// The derivative of margins -> slopes, which sum to 0 over the scores, along v; nothing where a kink lies on the way.
template <class Dual>
std::optional<Numbers> derivative(const Draw& d, const Numbers& v, const Dual& dual, const Numbers& h) {
  constexpr double step = 1e-6;
  std::vector<Numbers> slopes;
  for (const double t : {-step, 0.0, step}) {
    Numbers a(d.k), beta(d.k), weights(d.k);
    for (std::size_t l = 0; l < d.k; ++l) a[l] = d.a[l] + t * (v[l] - v[d.y]);
    dual(a, beta, weights);
    beta[d.y] = 0.0;
    for (std::size_t l = 0; l < d.k; ++l) {
      if (l != d.y) beta[d.y] -= beta[l];
      if ((weights[l] == 0.0) != (h[l] == 0.0)) return std::nullopt;
    }
    slopes.push_back(beta);
  }
  for (std::size_t l = 0; l < d.k; ++l) slopes[2][l] = (slopes[2][l] - slopes[0][l]) / (2 * step);
  return slopes[2];
}

template <class Dual>
void expect_second_derivative(Random& random, const Dual& dual) {
  int seen = 0;
  for (int t = 0; t < 300; ++t) {
    const Draw d = draw(random);
    Numbers beta(d.k), h(d.k), v(d.k), product(d.k), diagonal(d.k), matrix(d.k * d.k, 0.0);
    for (double& x : v) x = random.normal();
    dual(d, d.a, beta, h);
    const auto found = derivative(
        d, v, [&](const Numbers& a, Numbers& b, Numbers& w) { dual(d, a, b, w); }, h);
    if (!found) continue;
    ++seen;
    loss::spread::apply(d.y, h, v, product);
    loss::spread::diagonal(d.y, h, diagonal);
    loss::spread::add(d.y, h, 1.0, matrix);
    double square = 0.0;
    for (std::size_t l = 0; l < d.k; ++l) {
      EXPECT_NEAR(product[l], (*found)[l], 1e-4);
      EXPECT_NEAR(matrix[l * d.k + l], diagonal[l], 1e-12 * (1 + diagonal[l]));
      double sum = 0.0;
      for (std::size_t m = 0; m < d.k; ++m) sum += matrix[l * d.k + m] * v[m];
      EXPECT_NEAR(sum, product[l], 1e-11 * (1 + std::fabs(sum)));
      square += v[l] * product[l];
    }
    EXPECT_NEAR(loss::spread::square(d.y, h, v), square, 1e-11 * (1 + square));
  }
  EXPECT_GT(seen, 150);
}

TEST(VectorLoss, CurvatureIsTheSecondDerivative) {
  for_each_loss([](const loss::AnyVector& any, const auto& loss) {
    if (std::holds_alternative<loss::MulticlassHinge>(any)) return;
    Random random(6);
    expect_second_derivative(random, [&](const Draw& d, const Numbers& a, Numbers& beta, Numbers& h) {
      loss.dual(d.y, a, beta);
      loss.curvature(d.y, beta, h);
    });
  });
}

// Option I: the step beats random feasible points, and never makes the dual worse.
TEST(VectorLoss, DualStepIsTheBest) {
  for_each_loss([](const loss::AnyVector& any, const auto& loss) {
    const bool exact = std::holds_alternative<loss::MulticlassHinge>(any) ||
                       std::holds_alternative<loss::SmoothMulticlassHinge>(any);
    Random random(4);
    for (int t = 0; t < 300; ++t) {
      const Draw d = draw(random);
      const double q = t % 10 == 0 ? 0.0 : std::pow(10.0, 6 * random.uniform() - 3);
      const auto gain = [&](const Numbers& next) {
        double sum = loss.conjugate(d.y, d.beta) - loss.conjugate(d.y, next), way = 0.0, total = 0.0;
        for (std::size_t l = 0; l < d.k; ++l) {
          if (l == d.y) continue;
          const double move = next[l] - d.beta[l];
          sum += move * d.a[l];
          way += move * move;
          total += move;
        }
        return sum - 0.5 * q * (way + total * total);
      };
      Numbers next(d.k), scratch(3 * d.k);
      loss.dual_step(d.y, d.a, q, d.beta, next, scratch);
      const double best = gain(next);
      const double slack = 1e-12 * (1.0 + q + std::fabs(loss.value(d.y, d.a)));
      EXPECT_GE(best, -slack) << loss.name << " " << q;
      for (int s = 0; s < 30; ++s) {
        const Draw other = draw(random);
        if (other.k != d.k || other.y != d.y) continue;
        EXPECT_GE(best, gain(other.beta) * (exact ? 1.0 : 0.99) - slack) << loss.name << " " << q;
      }
    }
  });
}

// Rows that are long against the strength of the penalty: margins of thousands and curvatures of millions, and of more than a
// double resolves, at duals of any size.
TEST(VectorLoss, DualStepOfALongRowLosesNothing) {
  for_each_loss([](const loss::AnyVector& /*any*/, const auto& loss) {
    Random random(21);
    for (int t = 0; t < 2000; ++t) {
      const std::size_t k = t % 2 == 0 ? 20 : 200, y = random.below(k);
      const double scale = std::pow(10.0, 3 * random.uniform()), spread = std::pow(10.0, 3 * random.uniform() - 1);
      const double q = std::pow(10.0, t % 10 == 0 ? 40 * random.uniform() : 2 + 4 * random.uniform());
      Numbers a(k), beta(k), next(k), scratch(3 * k);
      double sum = 1e-3;
      for (std::size_t l = 0; l < k; ++l) {
        a[l] = l == y ? 0.0 : scale * random.normal();
        beta[l] = l == y || random.uniform() < 0.2 ? 0.0 : std::exp(spread * (random.normal() - 4));
        sum += beta[l];
      }
      for (double& b : beta) b *= t % 3 == 0 ? 0.0 : 1.0 / sum;
      loss.dual_step(y, a, q, beta, next, scratch);
      double gain = loss.conjugate(y, beta) - loss.conjugate(y, next), terms = 0.0, way = 0.0, total = 0.0;
      for (std::size_t l = 0; l < k; ++l) {
        const double move = l == y ? 0.0 : next[l] - beta[l];
        gain += move * a[l];
        terms += std::fabs(move) * (std::fabs(a[l]) + 1.0);
        way += move * move;
        total += move;
      }
      const double quadratic = 0.5 * q * (way + total * total);
      gain -= quadratic;
      const double noise = terms + quadratic + std::fabs(loss.conjugate(y, beta));
      const double resolution = loss.sparse_dual ? 1e-31 * q * static_cast<double>(k * k) : 0.0;  // of beta
      ASSERT_GE(gain, -1e-10 * noise - resolution) << loss.name << ": k = " << k << ", q = " << q;
    }
  });
}

// A step of a margin that is no number is none either, wherever vector instructions end.
TEST(VectorLoss, StepsKeepWhatIsNoNumber) {
  for (std::size_t k = 5; k <= 12; ++k) {
    for (std::size_t j = 1; j < k; ++j) {
      Numbers a(k, 0.5), beta(k, 0.0), next(k), scratch(3 * k);
      a[j] = std::nan("");
      loss::MulticlassHinge{}.dual_step(0, a, 1.0, beta, next, scratch);
      for (std::size_t l = 0; l < k; ++l) EXPECT_EQ(std::isnan(next[l]), l == j) << k << " classes, " << j;
    }
  }
}

// The conjugate is the supremum: no margins do better, and those of the gradient reach it.
TEST(VectorLoss, ConjugateIsTheSupremum) {
  for_each_loss([](const loss::AnyVector& /*any*/, const auto& loss) {
    Random random(5);
    for (int t = 0; t < 200; ++t) {
      const Draw d = draw(random);
      double product = 0.0;
      for (std::size_t l = 0; l < d.k; ++l) product += l == d.y ? 0.0 : d.a[l] * d.beta[l];
      EXPECT_GE(loss.conjugate(d.y, d.beta), product - loss.value(d.y, d.a) - 1e-12 * (1 + std::fabs(product)));
    }
  });
}

}  // namespace
}  // namespace fenchel::test
