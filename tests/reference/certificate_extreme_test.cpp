// Certificates at the edges of the doubles: data, weights, strengths and points at scales from 1e-300 to 1e300,
// empty rows, constant columns, duplicates. A bound that is given holds; otherwise none is given.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/certificates.hpp"

namespace fenchel::test {
namespace {

using registry::Bias;

const std::vector<double> scales{1e-300, 1e-150, 1e-8, 1.0, 1e8, 1e150, 1e300};

struct Tally {
  int given = 0;
  int refused = 0;
};

void check(const Asked& asked, double size, std::uint64_t seed, Tally& tally) {
  Random random(seed);
  const std::size_t n = asked.problem.rows(), d = asked.problem.dimension();
  for (const double reach : {0.0, size, 1.0}) {
    std::vector<double> w(d), alpha(n);
    for (double& x : w) x = reach * random.normal();
    for (double& a : alpha) a = random.normal();
    const double b = asked.problem.free_bias ? random.normal() : 0.0;
    for (const problem::PrimalPoint& primal :
         {asked.certifier.primal(w, b), asked.certifier.primal_with_best_bias(w, b)}) {
      for (const problem::DualPoint& dual : {asked.certifier.dual_of(primal), asked.certifier.dual(alpha)}) {
        (expect_rigorous(asked, primal, dual, Tightness::any) ? tally.given : tally.refused) += 1;
      }
    }
  }
}

class CertificateExtremes : public testing::TestWithParam<loss::Any> {};

TEST_P(CertificateExtremes, ScalesOfDataAndStrength) {
  Tally tally;
  std::uint64_t seed = 100;
  for (const double scale : scales) {
    for (const double lambda : {0.0, 1e-300, 1e-3, 1e300}) {
      for (const int shape : {0, 1, 2}) {
        for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
          SCOPED_TRACE(title(GetParam()) + " scale " + std::to_string(std::log10(scale)) + " lambda " +
                       std::to_string(std::log10(lambda)) + " shape " + std::to_string(shape) + " bias " +
                       std::to_string(static_cast<int>(bias)) + " seed " + std::to_string(seed));
          Case setup = random_setup(GetParam(), 9, 2, seed % 2 == 0 ? Storage::csr64 : Storage::dense64, seed);
          ++seed;
          for (std::vector<double>& row : setup.rows) {
            for (double& x : row) x *= scale;
          }
          if (shape == 0) setup.settings.penalty = penalty::L2{};
          if (shape == 1) setup.settings.penalty = penalty::L1{};
          if (shape == 2) setup.settings.penalty = penalty::ElasticNet{0.5};
          setup.settings.lambda = lambda;
          setup.settings.bias = bias;
          if (seed % 3 == 0) setup.weights = {1.0 / 3, 1e-8, 1e8, 1e-150, 1.0, 0.0, 1e100, 7.0, 0.1};
          check(Asked(setup), 1.0 / scale, seed, tally);
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(tally.given, tally.refused / 4) << "too timid";
}

INSTANTIATE_TEST_SUITE_P(Losses, CertificateExtremes, testing::ValuesIn(every_loss()));

TEST(CertificateDegenerate, SmallAndStrangeData) {
  const std::vector<std::vector<std::vector<double>>> data{
      {{1.0, 2.0}, {-1.0, 0.5}},                                   // as few rows as classes need
      {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}},                        // empty rows
      {{0.0, 0.0}, {1.0, 1.0}, {0.0, 0.0}, {1.0, 1.0}},            // empty and duplicated rows, equal columns
      {{3.0, 1.0}, {3.0, -2.0}, {3.0, 0.5}, {3.0, 0.25}},          // a constant column
      {{1e300, 1e-300}, {1e300, -1e-300}, {-1e300, 1e-300}},       // columns of opposite extremes
      {{1e300, 1.0}, {1e-300, 1.0}, {1e-300, 1.0}, {1e300, 1.0}},  // extremes within a column
  };
  Tally tally;
  std::uint64_t seed = 7;
  for (const loss::Any& loss : every_loss()) {
    for (const auto& rows : data) {
      for (const double lambda : {0.0, 0.01, 1e6}) {
        for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
          for (const bool l1 : {false, true}) {
            SCOPED_TRACE(title(loss) + " data " + std::to_string(&rows - data.data()) + " lambda " +
                         std::to_string(lambda) + " bias " + std::to_string(static_cast<int>(bias)));
            Case setup;
            setup.rows = rows;
            for (std::size_t i = 0; i < rows.size(); ++i) setup.labels.push_back(i % 2 == 0 ? 1.0 : -1.0);
            setup.settings.loss = loss;
            if (l1) setup.settings.penalty = penalty::L1{};
            setup.settings.lambda = lambda;
            setup.settings.bias = bias;
            check(Asked(setup), 1.0, ++seed, tally);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST(CertificateDegenerate, OneRowOfARegression) {
  for (const loss::Any& loss : every_loss()) {
    if (has_classes(loss)) continue;
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      Case setup;
      setup.rows = {{2.0, 0.0}};
      setup.labels = {3.0};
      setup.settings.loss = loss;
      setup.settings.lambda = 0.1;
      setup.settings.bias = bias;
      Tally tally;
      check(Asked(setup), 1.0, 1, tally);
      EXPECT_EQ(tally.refused, 0) << title(loss);
    }
  }
}

// Two unpenalised columns that fit both rows exactly, so that P* = 0, but whose difference is lost when 1e300 is
// scaled to 1: no dual value above 0 may be claimed.
TEST(CertificateDegenerate, DependenceByUnderflowProvesNothing) {
  for (const double apart : {1e-3, 1e-6, 1.0}) {
    Case setup;
    setup.rows = {{1e300, 1e300}, {1e-20, 1e-20 * (1 + apart)}};
    setup.labels = {1.0, 1.0};
    setup.settings.loss = loss::Squared{};
    setup.settings.penalty = penalty::None{};
    setup.settings.lambda = 0.0;
    setup.settings.bias = Bias::none;
    const Asked asked(setup);
    for (const std::vector<double>& alpha : {std::vector<double>{0.0, 1.0}, {1e-20, 1.0}, {1.0, 1.0}}) {
      const problem::PrimalPoint origin = asked.certifier.primal(std::vector<double>{0.0, 0.0}, 0.0);
      const problem::Certificate certificate = asked.certifier.pair(origin, asked.certifier.dual(alpha));
      if (certificate.valid()) {
        EXPECT_LE(certificate.dual, 0.0) << apart;
      }
    }
  }
}

// At w = 0 with alpha = 1 the gap of the hinge is u^2/(2 lambda), whose numerator is below the doubles.
TEST(CertificateDegenerate, UnderflowingConjugateIsCharged) {
  for (const double x : {1e-160, 1e-165, 1e-180}) {
    Case setup;
    setup.rows = {{x}, {-x}};
    setup.labels = {1.0, -1.0};
    setup.settings.loss = loss::Hinge{};
    setup.settings.lambda = 1e-300;
    setup.settings.bias = Bias::none;
    const Asked asked(setup);
    const problem::PrimalPoint origin = asked.certifier.primal(std::vector<double>{0.0}, 0.0);
    expect_rigorous(asked, origin, asked.certifier.dual(std::vector<double>{1.0, -1.0}), Tightness::any);
  }
}

// Weights as small as their squares vanish: bounds on residuals must not vanish with them.
TEST(CertificateDegenerate, TinyWeightsKeepTheirSlack) {
  for (const loss::Any& loss : every_loss()) {
    for (const double scale : {1e-170, 1e-250, 1e170}) {
      for (const Bias bias : {Bias::none, Bias::free}) {
        SCOPED_TRACE(title(loss) + " weights near " + std::to_string(std::log10(scale)));
        Case setup = random_setup(loss, 14, 3, Storage::dense64, 21);
        setup.settings.penalty = penalty::L2{};
        setup.settings.lambda = 0.1;
        setup.settings.bias = bias;
        setup.factors = {0.0, 1.0, 0.0};
        Random random(5);
        for (std::size_t i = 0; i < 14; ++i) setup.weights.push_back(scale * (0.5 + random.uniform()));
        Tally tally;
        check(Asked(setup), 1.0, 4, tally);
        EXPECT_GT(tally.given, 0);
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
