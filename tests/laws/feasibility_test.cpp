// Dual feasibility in exact arithmetic: boxes as exact products, sums as exact integers, and a stored vector that
// is taken back only if it is, bit for bit, one that is feasible.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/certificates.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

// The exact sum of doubles, as a big integer in units of 2^-1074: 34 digits of 64 bits, in two's complement.
class ExactSum {
 public:
  void add(double x) {
    if (x == 0.0) return;
    int exponent = 0;
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
    const int shift = exponent - 53 + 1074;  // mantissa 2^(exponent - 53) in units of 2^-1074
    const std::uint64_t whole = shift < 0 ? mantissa >> -shift : mantissa;
    const auto digit = static_cast<std::size_t>(shift > 0 ? shift / 64 : 0);
    const int bits = shift > 0 ? shift % 64 : 0;
    const std::uint64_t low = whole << bits, high = bits == 0 ? 0 : whole >> (64 - bits);
    x > 0.0 ? plus(digit, low, high) : minus(digit, low, high);
  }
  [[nodiscard]] bool zero() const {
    for (const std::uint64_t d : digits_) {
      if (d != 0) return false;
    }
    return true;
  }

 private:
  void plus(std::size_t at, std::uint64_t low, std::uint64_t high) {
    bool carry = __builtin_add_overflow(digits_[at], low, &digits_[at]);
    for (std::size_t k = at + 1; k < digits_.size(); ++k) {
      const std::uint64_t term = k == at + 1 ? high : 0;
      const bool first = __builtin_add_overflow(digits_[k], term, &digits_[k]);
      const bool second = __builtin_add_overflow(digits_[k], static_cast<std::uint64_t>(carry), &digits_[k]);
      carry = first || second;
    }
  }
  void minus(std::size_t at, std::uint64_t low, std::uint64_t high) {
    bool borrow = __builtin_sub_overflow(digits_[at], low, &digits_[at]);
    for (std::size_t k = at + 1; k < digits_.size(); ++k) {
      const std::uint64_t term = k == at + 1 ? high : 0;
      const bool first = __builtin_sub_overflow(digits_[k], term, &digits_[k]);
      const bool second = __builtin_sub_overflow(digits_[k], static_cast<std::uint64_t>(borrow), &digits_[k]);
      borrow = first || second;
    }
  }
  std::vector<std::uint64_t> digits_ = std::vector<std::uint64_t>(36, 0);
};

bool sums_to_zero(std::span<const double> beta) {
  ExactSum sum;
  for (const double b : beta) sum.add(b);
  return sum.zero();
}

void expect_in_boxes(const Asked& asked, std::span<const double> beta) {
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const Domain domain = domain_of(asked.instance, asked.instance.y[i]);
    const Quad c = asked.instance.c[i];  // c times a bound is exact in 113 bits
    EXPECT_GE(Quad(beta[i]), c * domain.low) << i;
    EXPECT_LE(Quad(beta[i]), c * domain.high) << i;
    const Interval box = problem::dual_box(asked.problem, i);
    EXPECT_GE(Quad(box.low), c == 0 ? Quad(0) : std::isinf(box.low) ? Quad(box.low) : c * domain.low);
    EXPECT_LE(Quad(box.high), c == 0 ? Quad(0) : std::isinf(box.high) ? Quad(box.high) : c * domain.high);
  }
}

std::vector<double> some_weights(int kind, std::size_t n) {
  const std::vector<std::vector<double>> choices{
      {1.0}, {1.0 / 3, 1e-8, 1e8, 0.7}, {0.0, 1.0, 1.0 / 3}, {1e-300, 1.0}};
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& values = choices[static_cast<std::size_t>(kind)];
    weights[i] = values[i % values.size()];
  }
  return weights;
}

Case case_of(const loss::Any& loss, int kind, std::size_t n, std::uint64_t seed) {
  Case setup = random_setup(loss, n, 3, Storage::csr64, seed);
  setup.weights = some_weights(kind, n);
  setup.settings.lambda = 0.1;
  return setup;
}

TEST(ExactSumOfTests, KnowsZeroFromAlmost) {
  EXPECT_TRUE(sums_to_zero(std::vector<double>{1e300, 1.0, -1e300, 5e-324, -1.0, -5e-324}));
  EXPECT_FALSE(sums_to_zero(std::vector<double>{1e300, 1.0, -1e300, 5e-324, -1.0}));
  EXPECT_FALSE(sums_to_zero(std::vector<double>{0.1, 0.2, -0.3}));
}

TEST(Feasibility, FreeBiasSumsToExactlyZero) {
  Random random(9);
  for (const loss::Any& loss : every_loss()) {
    for (const int kind : {0, 1, 2, 3}) {
      for (const double size : {1.0, 1e-3, 1e3, 1e-200, 1e200}) {
        SCOPED_TRACE(title(loss) + " weights " + std::to_string(kind) + " size " +
                     std::to_string(std::log10(size)));
        const Asked asked(case_of(loss, kind, 25, 5));
        std::vector<double> alpha(25);
        for (double& a : alpha) a = size * random.normal();
        const problem::DualPoint point = asked.certifier.dual(alpha);
        EXPECT_TRUE(sums_to_zero(point.beta));
        expect_in_boxes(asked, point.beta);
        EXPECT_TRUE(problem::exactly_feasible(asked.problem, point.beta));
      }
    }
  }
}

// What almost sums to zero is hardly moved: the repair costs digits at the end, not the bound.
TEST(Feasibility, RepairIsGentle) {
  Random random(10);
  for (const loss::Any& loss : every_loss()) {
    for (int trial = 0; trial < 60; ++trial) {
      const Asked asked(case_of(loss, 0, 24, static_cast<std::uint64_t>(trial)));
      std::vector<double> alpha(24);
      for (std::size_t i = 0; i < alpha.size(); ++i) {
        const Interval box = problem::dual_box(asked.problem, i);
        alpha[i] = box.clamp(0.3 * std::fabs(random.normal()) * (asked.instance.y[i] > 0 ? 1 : -1));
        // Entries just below a power of two, where one more unit changes the grid.
        if (trial % 3 == 0 && i % 4 == 0) alpha[i] = box.clamp(std::copysign(std::nextafter(0.25, 0.0), alpha[i]));
      }
      std::vector<double> balanced = problem::weighted_dual(asked.problem, alpha);
      if (!problem::move_sum(asked.problem, balanced, 0.0)) continue;
      const problem::DualPoint point = asked.certifier.dual(balanced);
      for (std::size_t i = 0; i < balanced.size(); ++i) {
        EXPECT_NEAR(point.beta[i], balanced[i], 1e-12) << title(loss) << " trial " << trial << " entry " << i;
      }
      if (HasFailure()) return;
    }
  }
}

TEST(Feasibility, MoveSumReachesItsTarget) {
  Random random(12);
  for (const loss::Any& loss : every_loss()) {
    const Asked asked(case_of(loss, 0, 24, 3));
    std::vector<double> alpha(24);
    for (std::size_t i = 0; i < alpha.size(); ++i) alpha[i] = 0.5 * asked.instance.y[i] * random.uniform();
    for (const double target : {0.0, 0.1, -0.1}) {
      std::vector<double> beta = problem::weighted_dual(asked.problem, alpha);
      if (!problem::move_sum(asked.problem, beta, target)) continue;
      EXPECT_NEAR(std::accumulate(beta.begin(), beta.end(), 0.0), target, 1e-13) << title(loss);
      expect_in_boxes(asked, beta);
    }
  }
}

TEST(Feasibility, StoredDualsComeBackBitForBit) {
  Random random(11);
  for (const loss::Any& loss : every_loss()) {
    for (const int kind : {0, 1, 2}) {
      for (const bool factors : {false, true}) {
        for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
          SCOPED_TRACE(title(loss) + " weights " + std::to_string(kind) + (factors ? " factors" : ""));
          Case setup = case_of(loss, kind, 20, 8);
          setup.settings.bias = bias;
          if (factors) setup.factors = {0.0, 1.0, 0.5};
          setup.settings.penalty = penalty::L1{};
          const Asked asked(setup);
          std::vector<double> w(asked.problem.dimension());
          for (double& x : w) x = 0.2 * random.normal();
          const problem::PrimalPoint primal = asked.certifier.primal_with_best_bias(w, 0.0);
          const problem::DualPoint made = asked.certifier.dual_of(primal);
          const problem::DualPoint stored = asked.certifier.dual_as_given(made.beta);
          EXPECT_EQ(asked.certifier.pair(primal, made).gap, asked.certifier.pair(primal, stored).gap);
          EXPECT_EQ(made.value, stored.value);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Every single bit of every entry: with a free bias no other vector of the same size may be taken for feasible.
TEST(Feasibility, OneFlippedBitIsRefused) {
  for (const loss::Any& loss : every_loss()) {
    const Asked asked(case_of(loss, 1, 14, 6));
    const problem::PrimalPoint primal =
        asked.certifier.primal_with_best_bias(std::vector<double>{0.1, -0.2, 0.3}, 0.0);
    const problem::DualPoint made = asked.certifier.dual_of(primal);
    for (std::size_t i = 0; i < made.beta.size(); ++i) {
      for (int bit = 0; bit < 64; ++bit) {
        std::vector<double> beta = made.beta;
        beta[i] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(beta[i]) ^ (std::uint64_t{1} << bit));
        if (beta[i] == made.beta[i]) continue;  // the sign of zero
        EXPECT_FALSE(asked.certifier.pair(primal, asked.certifier.dual_as_given(beta)).valid())
            << title(loss) << " entry " << i << " bit " << bit;
      }
    }
  }
}

TEST(Feasibility, OutsideTheBoxIsRefusedWithoutABias) {
  for (const loss::Any& loss : every_loss()) {
    Case setup = case_of(loss, 1, 14, 6);
    setup.settings.bias = Bias::none;
    const Asked asked(setup);
    for (std::size_t i = 0; i < 14; ++i) {
      const Interval box = problem::dual_box(asked.problem, i);
      std::vector<double> beta(14, 0.0);
      for (const double end : {box.low, box.high}) {
        if (std::isinf(end)) continue;
        beta[i] = end;
        EXPECT_TRUE(problem::exactly_feasible(asked.problem, beta));
        // Two steps further lie outside even the exact box.
        beta[i] = std::nextafter(std::nextafter(end, end == box.low ? -infinity : infinity),
                                 end == box.low ? -infinity : infinity);
        EXPECT_FALSE(problem::exactly_feasible(asked.problem, beta)) << title(loss);
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
