// Certificates against 113-bit arithmetic: the gap is never below the exact gap of the very doubles it was given,
// the dual never above the exact dual value, and in ordinary cases both are close.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fenchel/base/error.hpp"
#include "tests/support/certificates.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

struct Shape {
  std::string name;
  penalty::Any penalty;
  double lambda;
  std::vector<double> factors{};
  Tightness tightness = Tightness::ordinary;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {"l2", penalty::L2{}, 0.1},
      {"l2 tiny", penalty::L2{}, 1e-9, {}, Tightness::any},
      {"l1", penalty::L1{}, 0.05},
      {"l1 huge", penalty::L1{}, 1e6},
      {"elastic-net", penalty::ElasticNet{0.3}, 0.2},
      {"lasso by ratio", penalty::ElasticNet{1.0}, 0.05},
      {"none", penalty::None{}, 1.0},
      {"lambda 0", penalty::L2{}, 0.0},
      {"l1 with factors", penalty::L1{}, 0.05, {1.0 / 3, 0.0, 2.0}},
      {"l2 with factors", penalty::L2{}, 0.05, {0.0, 1.0 / 3, 1e-3}},
  };
  return all;
}

std::vector<double> awkward_weights(std::size_t n) {
  const std::vector<double> values{1.0 / 3, 1e-8, 1.0, 1e8, 0.1, 0.0, 2.5};
  std::vector<double> weights(n);
  for (std::size_t i = 0; i < n; ++i) weights[i] = values[i % values.size()];
  return weights;
}

// Points from hopeless to converged, each with random duals, its own duals, and none.
void check_points(const Asked& asked, std::uint64_t seed, Tightness tightness) {
  Random random(seed);
  const std::size_t n = asked.problem.rows(), d = asked.problem.dimension();
  const Bracket optimum = minimum(asked.instance, 100.0L, 1e-15L, 6000);
  for (const double spread : {0.0, 1e-6, 1.0, 1e3}) {
    std::vector<double> w(d);
    for (std::size_t j = 0; j < d; ++j) w[j] = static_cast<double>(optimum.x[j]) + spread * random.normal();
    if (spread == 1.0) w[0] = 0.0;
    const double b = asked.problem.free_bias ? static_cast<double>(optimum.x[d]) + spread * random.normal() : 0.0;
    const problem::PrimalPoint given = asked.certifier.primal(w, b);
    const problem::PrimalPoint best = asked.certifier.primal_with_best_bias(w, b);
    std::vector<double> alpha(n), small(n), zero(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      alpha[i] = 2 * random.normal();
      small[i] = 1e-12 * random.normal();
    }
    for (const problem::PrimalPoint* primal : {&given, &best}) {
      expect_rigorous(asked, *primal, asked.certifier.dual_of(best), tightness);
      expect_rigorous(asked, *primal, asked.certifier.dual(alpha), tightness);
      expect_rigorous(asked, *primal, asked.certifier.dual(small), tightness);
      expect_rigorous(asked, *primal, asked.certifier.dual(zero), tightness);
    }
  }
}

class CertificateRigor : public testing::TestWithParam<loss::Any> {};

TEST_P(CertificateRigor, GapEnclosesTheExactOne) {
  std::uint64_t seed = 11;
  for (const Shape& shape : shapes()) {
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      for (const bool weighted : {false, true}) {
        SCOPED_TRACE(title(GetParam()) + " " + shape.name + " bias " + std::to_string(static_cast<int>(bias)) +
                     (weighted ? " weighted" : ""));
        Case setup = random_setup(GetParam(), 14, 3, static_cast<Storage>(seed % 4), seed);
        setup.settings.penalty = shape.penalty;
        setup.settings.lambda = shape.lambda;
        setup.settings.bias = bias;
        setup.settings.bias_value = 0.7;
        setup.factors = shape.factors;
        if (weighted) setup.weights = awkward_weights(14);
        check_points(Asked(setup), ++seed, weighted ? Tightness::any : shape.tightness);
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, CertificateRigor, testing::ValuesIn(every_loss()));

TEST(Certificate, TheFreeBiasExampleDoesNotFoolIt) {
  Case setup = random_setup(loss::Squared{}, 2, 1, Storage::csr64, 1);
  setup.rows = {{1.0}, {-1.0}};
  setup.labels = {11.0, 9.0};
  setup.settings.penalty = penalty::L1{};
  setup.settings.lambda = 1.0;
  const Asked asked(setup);
  // P(w, b) = ((w + b - 11)^2 + (b - w - 9)^2)/4 + |w| is least at w = 0, b = 10, where it is 1/2.
  const long double optimum = objective_at(asked.instance, std::vector<double>{0.0}, 10.0);
  ASSERT_EQ(optimum, 0.5L);
  const problem::PrimalPoint origin = asked.certifier.primal(std::vector<double>{0.0}, 0.0);
  const std::vector<double> residuals{11.0, 9.0};
  for (const problem::DualPoint& dual : {asked.certifier.dual(residuals), asked.certifier.dual_of(origin)}) {
    const problem::Certificate certificate = asked.certifier.pair(origin, dual);
    ASSERT_TRUE(certificate.valid());
    EXPECT_EQ(certificate.primal, 50.5);
    EXPECT_LE(certificate.dual, 0.5);
    EXPECT_GE(certificate.gap, 50.0);
    EXPECT_LE(dual.value, 0.5 + 1e-15);  // as computed, for comparisons only
  }
  // The naive vector as it stands: it is infeasible, and refused.
  const problem::DualPoint naive = asked.certifier.dual_as_given(residuals);
  EXPECT_FALSE(asked.certifier.pair(origin, naive).valid());
  const problem::PrimalPoint best = asked.certifier.primal_with_best_bias(std::vector<double>{0.0}, 0.0);
  EXPECT_LE(asked.certifier.pair(best, asked.certifier.dual_of(best)).gap, 1e-14);
}

TEST(Certificate, NothingThatIsNotANumberCertifies) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const loss::Any& loss : every_loss()) {
    for (const Shape& shape : shapes()) {
      for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
        SCOPED_TRACE(title(loss) + " " + shape.name);
        Case setup = random_setup(loss, 14, 3, Storage::csr64, 3);
        for (std::vector<double>& row : setup.rows) row[2] = 0.0;  // a column without entries
        setup.settings.penalty = shape.penalty;
        setup.settings.lambda = shape.lambda;
        setup.settings.bias = bias;
        setup.factors = shape.factors;
        const Asked asked(setup);
        const std::size_t d = asked.problem.dimension();
        const problem::PrimalPoint good = asked.certifier.primal(std::vector<double>(d, 0.5), 0.0);
        for (const double bad : {nan, infinity, -infinity}) {
          for (std::size_t j = 0; j < d; ++j) {
            std::vector<double> w(d, 0.5);
            w[j] = bad;
            const problem::PrimalPoint primal = asked.certifier.primal(w, 0.0);
            EXPECT_FALSE(asked.certifier.pair(primal, asked.certifier.dual_of(good)).valid()) << j;
          }
          if (bias == Bias::free) {
            const problem::PrimalPoint primal = asked.certifier.primal(std::vector<double>(d, 0.5), bad);
            EXPECT_FALSE(asked.certifier.pair(primal, asked.certifier.dual_of(good)).valid());
          }
          std::vector<double> beta(14, 0.0);
          beta[4] = bad;
          EXPECT_FALSE(asked.certifier.pair(good, asked.certifier.dual_as_given(beta)).valid());
          expect_rigorous(asked, good, asked.certifier.dual(beta),
                          Tightness::any);  // repaired: a true bound or none
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Certificate, OtherRoundingModesAreRefused) {
  Case setup = random_setup(loss::Hinge{}, 14, 3, Storage::csr64, 3);
  setup.settings.lambda = 0.1;
  const Asked asked(setup);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    EXPECT_THROW(problem::Certifier{asked.problem}, Error);
  }
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
  EXPECT_NO_THROW(problem::Certifier{asked.problem});
}

}  // namespace
}  // namespace fenchel::test
