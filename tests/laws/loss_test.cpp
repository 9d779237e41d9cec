// The laws every scalar loss obeys, over its parameters, targets, scores and duals, extremes included. The
// reference arithmetic has 113 bits: the certificate's Fenchel-Young terms may never lie below what it says.
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <iomanip>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "fenchel/loss/any.hpp"

namespace fenchel::loss {
namespace {

// --- Reference arithmetic, of which only + - * / come from the compiler ---

#if LDBL_MANT_DIG >= 113
using Quad = long double;
#elif defined(__SIZEOF_FLOAT128__)
__extension__ using Quad = __float128;
#else
#error "these tests need a 113-bit type, which the library does not"
#endif

constexpr Quad quad_noise = 0x1p-108;

Quad abs(Quad x) { return x < 0 ? -x : x; }
Quad max(Quad x, Quad y) { return x < y ? y : x; }

const Quad ln2 = [] {  // 2 atanh(1/3)
  Quad sum = 0;
  Quad power = Quad(2) / 3;
  for (int k = 1; k < 80; k += 2, power /= 9) sum += power / k;
  return sum;
}();

Quad exp(Quad x) {
  if (x < -11000) return 0;
  const int k = static_cast<int>(x / ln2 + (x < 0 ? -0.5 : 0.5));
  const Quad r = x - k * ln2;
  Quad sum = 1;
  for (int j = 32; j >= 1; --j) sum = 1 + r * sum / j;
  for (int j = 0; j < k; ++j) sum *= 2;
  for (int j = 0; j > k; --j) sum /= 2;
  return sum;
}

Quad log(Quad x) {  // one step of order three from the library's logarithm
  const Quad guess = std::log(static_cast<double>(x));
  const Quad e = exp(guess);
  return guess + 2 * (x - e) / (x + e);
}

Quad log1p(Quad x) {  // 2 atanh(x / (2 + x)) near zero
  if (abs(x) > Quad(0.1)) return log(1 + x);
  const Quad w = x / (2 + x);
  Quad sum = 0;
  for (int k = 41; k >= 1; k -= 2) sum = sum * w * w + Quad(2) / k;
  return w * sum;
}

Quad xlogx(Quad x) { return x > 0 ? x * log(x) : 0; }

// --- The definitions, word for word ---

Quad square(Quad x) { return x * x; }

Quad value(const Hinge&, Quad y, Quad z) { return max(0, 1 - y * z); }
Quad value(const SquaredHinge&, Quad y, Quad z) { return square(max(0, 1 - y * z)); }
Quad value(const SmoothHinge& l, Quad y, Quad z) {
  const Quad m = y * z;
  const Quad gamma = l.gamma;
  return m >= 1 ? Quad(0) : m <= 1 - gamma ? 1 - m - gamma / 2 : square(1 - m) / (2 * gamma);
}
Quad value(const Logistic&, Quad y, Quad z) { return max(0, -y * z) + log1p(exp(-abs(z))); }
Quad value(const Squared&, Quad y, Quad z) { return square(z - y) / 2; }
Quad value(const Absolute&, Quad y, Quad z) { return abs(z - y); }
Quad value(const Huber& l, Quad y, Quad z) {
  const Quad delta = l.delta;
  return abs(z - y) <= delta ? square(z - y) / 2 : delta * abs(z - y) - square(delta) / 2;
}
Quad value(const EpsilonInsensitive& l, Quad y, Quad z) { return max(0, abs(z - y) - l.epsilon); }
Quad value(const SquaredEpsilonInsensitive& l, Quad y, Quad z) { return square(max(0, abs(z - y) - l.epsilon)); }
Quad value(const Quantile& l, Quad y, Quad z) { return y >= z ? l.tau * (y - z) : (Quad(l.tau) - 1) * (y - z); }

Quad conjugate(const Hinge&, Quad y, Quad alpha) { return -y * alpha; }
Quad conjugate(const SquaredHinge&, Quad y, Quad alpha) { return square(alpha) / 4 - y * alpha; }
Quad conjugate(const SmoothHinge& l, Quad y, Quad alpha) { return l.gamma * square(alpha) / 2 - y * alpha; }
Quad conjugate(const Logistic&, Quad y, Quad alpha) {
  const Quad b = 1 - abs(alpha);
  return xlogx(y * alpha) + (b > 0 ? b * log1p(-abs(alpha)) : 0);
}
Quad conjugate(const Squared&, Quad y, Quad alpha) { return square(alpha) / 2 - y * alpha; }
Quad conjugate(const Absolute&, Quad y, Quad alpha) { return -y * alpha; }
Quad conjugate(const Huber&, Quad y, Quad alpha) { return square(alpha) / 2 - y * alpha; }
Quad conjugate(const EpsilonInsensitive& l, Quad y, Quad alpha) { return l.epsilon * abs(alpha) - y * alpha; }
Quad conjugate(const SquaredEpsilonInsensitive& l, Quad y, Quad alpha) {
  return square(alpha) / 4 + l.epsilon * abs(alpha) - y * alpha;
}
Quad conjugate(const Quantile&, Quad y, Quad alpha) { return -y * alpha; }

// --- Where the laws are tried ---

// Every parameter takes every value that its field allows.
template <class L>
std::vector<L> instances() {
  std::vector<L> list{L{}};
  for (const auto& field : L::fields) {
    for (const double x : {0.0, 1e-3, 0.3, 0.9, 4.0}) {
      if (field.open ? x > field.low && x < field.high : x >= field.low && x <= field.high) {
        list.emplace_back();
        list.back().*field.member = x;
      }
    }
  }
  return list;
}

template <class L>
std::vector<double> targets() {
  if (L::task == Task::classification) return {-1.0, 1.0};
  return {-3.7, 0.0, 0.1, 1e6};
}

std::vector<double> moderate_scores() {
  std::vector<double> scores{0,     1,     -1, 0.5, 0.9, 0.1,   1e-3,
                             -1e-9, 1e-20, 2,  1.1, 0.7, 0.999, std::nextafter(1.0, 2)};
  std::mt19937_64 random(1);
  for (int i = 0; i < 40; ++i) scores.push_back(std::normal_distribution<double>(0.0, i < 20 ? 1.0 : 6.0)(random));
  return scores;
}

std::vector<double> wide_scores() {
  std::vector<double> scores = moderate_scores();
  for (const double z : {40.0, 600.0, 689.0, 691.0, 709.0, 745.0, 800.0, 1e6, 1e10}) {
    scores.insert(scores.end(), {z, -z});
  }
  return scores;
}

// Both ends, their neighbours, tiny ones, random ones, and points on and very near the graph at z.
template <class L>
std::vector<double> duals(const L& loss, double y, double z, std::mt19937_64& random) {
  const Interval domain = loss.dual_domain(y);
  const double low = std::max(domain.low, -1e3);
  const double high = std::min(domain.high, 1e3);
  std::vector<double> list{low, high, std::nextafter(low, 1e9), std::nextafter(high, -1e9), 0.0, smallest_double};
  list.insert(list.end(), {-smallest_double, 1e-300, 1e-17, -1e-17, 0.5, -0.5, 1e-5});
  const double graph = -loss.derivative(y, z);
  list.insert(list.end(), {graph, std::nextafter(graph, low), std::nextafter(graph, high), y - z});
  for (const double shift : {1e-14, 1e-12, 1e-9, 1e-6, 1e-3, 0.1}) {
    list.insert(list.end(), {graph + shift, graph - shift, graph * (1 + shift), graph * (1 - shift)});
  }
  for (int i = 0; i < 8; ++i) list.push_back(std::uniform_real_distribution<double>(low, high)(random));
  for (double& alpha : list) alpha = project_dual(loss, y, alpha);
  return list;
}

template <class L>
double largest_parameter(const L& loss) {
  double largest = 1.0;
  for (const auto& field : L::fields) largest = std::max(largest, loss.*field.member);
  return largest;
}

// The size of the terms of a Fenchel-Young sum: what its reference value's rounding errors are relative to.
template <class L>
Quad scale(const L& loss, double y, double z, double alpha) {
  return value(loss, y, z) +
         abs(Quad(alpha)) * (abs(Quad(y)) + abs(Quad(z)) + largest_parameter(loss) * (1 + abs(Quad(alpha))));
}

template <class List>
struct AsTestTypes;
template <class... L>
struct AsTestTypes<std::variant<L...>> {
  using type = testing::Types<L...>;
};

template <class L>
class LossLaws : public testing::Test {
 protected:
  std::mt19937_64 random{20};

  // Calls law(loss, y, z) for all parameters, targets and given scores.
  template <class Law>
  void for_all(const std::vector<double>& scores, Law law) {
    for (const L& loss : instances<L>()) {
      for (const double y : targets<L>()) {
        for (const double z : scores) {
          law(loss, y, z);
          if (L::task == Task::regression) law(loss, y, y + z);
          if (this->HasFailure()) return;
        }
      }
    }
  }
  template <class... Numbers>
  static std::string print(const L& loss, Numbers... numbers) {
    std::ostringstream message;
    message << L::name << std::setprecision(17);
    for (const auto& field : L::fields) message << " " << field.name << "=" << loss.*field.member;
    ((message << " " << numbers), ...);
    return message.str();
  }
};
TYPED_TEST_SUITE(LossLaws, AsTestTypes<Any>::type);

TYPED_TEST(LossLaws, ValueIsAccurate) {
  this->for_all(wide_scores(), [&](const TypeParam& loss, double y, double z) {
    const Quad exact = value(loss, y, z);
    if (exact < Quad(1e-290)) return;
    EXPECT_LE(abs(loss.value(y, z) - exact), 16 * unit_roundoff * exact) << this->print(loss, y, z);
  });
}

TYPED_TEST(LossLaws, DerivativeIsASubgradientAndInTheDualDomain) {
  const std::vector<double> others = wide_scores();
  this->for_all(wide_scores(), [&](const TypeParam& loss, double y, double z) {
    const double slope = loss.derivative(y, z);
    EXPECT_TRUE(loss.dual_domain(y).contains(-slope)) << this->print(loss, y, z);
    for (const double w : others) {
      const Quad here = value(loss, y, z);
      const Quad there = value(loss, y, w);
      const Quad rise = slope * (Quad(w) - z);
      const Quad slack = 16 * unit_roundoff * (here + there + abs(rise)) + smallest_double * abs(Quad(w) - z);
      EXPECT_GE(there + slack, here + rise) << this->print(loss, y, z, w);
    }
  });
}

TYPED_TEST(LossLaws, DerivativeIsLipschitzWhereSmooth) {
  const std::vector<double> others = moderate_scores();
  this->for_all(moderate_scores(), [&](const TypeParam& loss, double y, double z) {
    if (loss.smoothness() <= 0.0) return;
    for (const double w : others) {
      const double change = std::fabs(loss.derivative(y, z) - loss.derivative(y, w));
      const double rounding = 1e-15 * (1.0 + std::fabs(y) + std::fabs(z) + std::fabs(w));
      EXPECT_LE(change, (std::fabs(z - w) + rounding) / loss.smoothness()) << this->print(loss, y, z, w);
    }
  });
}

TYPED_TEST(LossLaws, SecondDerivativeIsTheSlopeOfTheFirst) {
  if constexpr (CurvedLoss<TypeParam>) {
    this->for_all(moderate_scores(), [&](const TypeParam& loss, double y, double z) {
      const double h = 1e-5;
      const double left = loss.second_derivative(y, z - h);
      const double right = loss.second_derivative(y, z + h);
      if (std::fabs(left - right) > 1e-4 * std::fabs(left + right)) return;  // a kink lies between
      const double slope = (loss.derivative(y, z + h) - loss.derivative(y, z - h)) / (2 * h);
      const double rounding = 1e-10 * (1 + std::fabs(y)) / std::min(1.0, loss.smoothness());
      EXPECT_NEAR(loss.second_derivative(y, z), slope, 1e-8 + rounding) << this->print(loss, y, z);
    });
  } else {
    EXPECT_EQ(TypeParam{}.smoothness(), 0.0);
  }
}

TYPED_TEST(LossLaws, DualDomainHoldsZeroAndProjectionIsIdempotent) {
  this->for_all(wide_scores(), [&](const TypeParam& loss, double y, double z) {
    EXPECT_TRUE(loss.dual_domain(y).contains(0.0));
    const double projected = project_dual(loss, y, z);
    EXPECT_TRUE(loss.dual_domain(y).contains(projected));
    EXPECT_EQ(project_dual(loss, y, projected), projected);
    EXPECT_LT(loss.conjugate(y, projected), infinity);
    EXPECT_EQ(loss.conjugate(y, z) < infinity, projected == z) << this->print(loss, y, z);
  });
}

TYPED_TEST(LossLaws, ConjugateIsTheSupremum) {
  for (const TypeParam& loss : instances<TypeParam>()) {
    for (const double y : targets<TypeParam>()) {
      for (double alpha : duals(loss, y, 0.3, this->random)) {
        alpha = std::clamp(alpha, -50.0, 50.0);
        double low = y - 1e3;
        double high = y + 1e3;
        const auto objective = [&](double z) { return -Quad(alpha) * z - value(loss, y, z); };
        for (int i = 0; i < 160; ++i) {
          const double third = (high - low) / 3;
          const bool rising = objective(low + third) < objective(high - third);
          (rising ? low : high) += rising ? third : -third;
        }
        const double supremum = static_cast<double>(objective(0.5 * (low + high)));
        EXPECT_NEAR(loss.conjugate(y, alpha), supremum, 1e-9 * (1 + std::fabs(y * alpha)))
            << this->print(loss, y, alpha);
      }
    }
  }
}

TYPED_TEST(LossLaws, FenchelYoungBoundsTheExactSumFromAboveAndClosely) {
  this->for_all(wide_scores(), [&](const TypeParam& loss, double y, double z) {
    for (const double alpha : duals(loss, y, z, this->random)) {
      const Quad size = scale(loss, y, z, alpha);
      const Quad exact = value(loss, y, z) + conjugate(loss, y, alpha) + Quad(alpha) * z;
      const double bound = loss.fenchel_young(y, z, alpha);
      EXPECT_GE(bound, 0.0) << this->print(loss, y, z, alpha);
      EXPECT_GE(bound, exact - quad_noise * size)
          << this->print(loss, y, z, alpha, bound, static_cast<double>(exact));
      Quad allowed = 1e-12 * exact + 1e-29 * size + 1e-60 * square(1 + abs(Quad(y)) + abs(Quad(z)));
      // The probability behind a score is known to 13 roundoffs only, the divergence to as much of its slope.
      if (std::is_same_v<TypeParam, Logistic>)
        allowed += 1e-28 + 64 * unit_roundoff * std::sqrt(std::fabs(static_cast<double>(exact)));
      EXPECT_LE(bound, exact + allowed) << this->print(loss, y, z, alpha, bound, static_cast<double>(exact));
    }
  });
}

TYPED_TEST(LossLaws, FenchelYoungVanishesOnTheGraph) {
  this->for_all(moderate_scores(), [&](const TypeParam& loss, double y, double z) {
    if (std::fabs(z) > 5 && TypeParam::task == Task::classification) return;
    const double alpha = -loss.derivative(y, z);
    double allowed = 1e-28 * static_cast<double>(1 + scale(loss, y, z, alpha));
    if (std::is_same_v<TypeParam, Quantile>) allowed += 2 * unit_roundoff * std::fabs(z - y);  // 1 - tau is rounded
    EXPECT_LE(loss.fenchel_young(y, z, alpha), allowed) << this->print(loss, y, z, alpha);
  });
}

TYPED_TEST(LossLaws, DualStepIsFeasibleAndBeatsRandomPoints) {
  const std::vector<double> scores{0.0, 1.0, -0.4, 0.6, 1.3, -2.5, 7.0, -30.0, 800.0, -800.0};
  this->for_all(scores, [&](const TypeParam& loss, double y, double z) {
    const Interval domain = loss.dual_domain(y);
    for (const double q : {0.0, 1e-12, 0.35, 12.5, 1e6}) {
      for (const double start : {domain.low, domain.high, 0.0, 0.3, -0.6}) {
        const double alpha = project_dual(loss, y, std::clamp(start, -20.0, 20.0));
        const double step = loss.dual_step(y, alpha, z, q);
        ASSERT_TRUE(std::isfinite(step) && domain.contains(step)) << this->print(loss, y, alpha, z, q, step);
        const auto objective = [&](double t) {
          return -conjugate(loss, y, t) - Quad(z) * (Quad(t) - alpha) - q / 2 * square(Quad(t) - alpha);
        };
        const Quad best = objective(step);
        const Quad slack = 1e-12 * (1 + abs(best) + scale(loss, y, z, step));
        const double reach = 5 * (1 + std::fabs(step - alpha));
        std::uniform_real_distribution<double> anywhere(std::max(domain.low, step - reach),
                                                        std::min(domain.high, step + reach));
        for (int i = 0; i < 40; ++i) {
          const double t = anywhere(this->random);
          ASSERT_GE(best + slack, objective(t)) << this->print(loss, y, alpha, z, q, step, t);
        }
      }
    }
  });
}

TYPED_TEST(LossLaws, NothingIsNaN) {
  const double largest = std::numeric_limits<double>::max();
  std::vector<double> scores{smallest_double, 1e-310};
  for (const double z : {0.0, 1.0, 690.0, 1e10, 1e154, 1e300, 1e308, largest}) scores.insert(scores.end(), {z, -z});
  std::vector<double> starts = scores;
  starts.insert(starts.end(), {0.5, -0.5});
  this->for_all(scores, [&](const TypeParam& loss, double y, double z) {
    if (!std::isfinite(z)) return;
    EXPECT_GE(loss.value(y, z), 0.0) << this->print(loss, y, z);
    EXPECT_FALSE(std::isnan(loss.derivative(y, z))) << this->print(loss, y, z);
    for (const double start : starts) {
      const double alpha = project_dual(loss, y, start);
      EXPECT_FALSE(std::isnan(loss.conjugate(y, alpha))) << this->print(loss, y, alpha);
      EXPECT_GE(loss.fenchel_young(y, z, alpha), 0.0) << this->print(loss, y, z, alpha);
      if (TypeParam::task == Task::classification && std::fabs(alpha) <= 1.0 && std::fabs(z) <= 1e150) {
        EXPECT_LT(loss.fenchel_young(y, z, alpha), infinity) << this->print(loss, y, z, alpha);
      }
      for (const double q : {0.0, smallest_double, 1.0, 1e300}) {
        const double step = loss.dual_step(y, alpha, z, q);
        EXPECT_TRUE(loss.dual_domain(y).contains(step)) << this->print(loss, y, alpha, z, q, step);
      }
    }
  });
}

TEST(LogisticLaws, TermsAreFiniteEverywhere) {
  for (const double m : {1e300, 1e308, -1e300, -1e308})
    for (const double a : {0.0, smallest_double, 1e-300, 0.5, std::nextafter(1.0, 0.0), 1.0})
      EXPECT_LT(Logistic().fenchel_young(1.0, m, a), infinity);
}

TEST(LogisticLaws, BoundsNearAPointHoldAtBothEndsAndAreClose) {
  const Logistic loss;
  const auto check = [&](double y, double z, double e) {
    for (const double a : {0.0, 1e-20, 0.3, sigmoid(-y * z), std::nextafter(1.0, 0.0), 1.0}) {
      const Nearby term = loss.fenchel_young_near(y, z, e, y * a), here = loss.value_near(y, z, e);
      double at_ends = 0.0;
      for (const double end : {std::nextafter(z - e, z), std::nextafter(z + e, z)}) {
        const Quad exact = value(loss, y, end) + conjugate(loss, y, y * a) + Quad(y * a) * end;
        EXPECT_GE(term.most, exact - quad_noise * scale(loss, y, end, y * a)) << y * z << ' ' << e << ' ' << a;
        EXPECT_GE(here.most * (1 + 16 * unit_roundoff) + 1e-300, value(loss, y, end)) << y * z << ' ' << e;
        at_ends = std::max(at_ends, loss.fenchel_young(y, end, y * a));
      }
      EXPECT_LE(term.most, 2 * at_ends + 0.25 * e * e + 1e-289) << y * z << ' ' << e << ' ' << a;
    }
  };
  for (const double z : wide_scores())
    for (const double e : {0.0, 1e-13, 1e-5, 0.02, 3.0}) check(1.0, z, e), check(-1.0, z, e);
}

}  // namespace
}  // namespace fenchel::loss
