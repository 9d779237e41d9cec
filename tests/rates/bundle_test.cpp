// How fast bundle methods must and can be: the corrected lower-bound theorem (docs/lower-bound.md), the monotone lower bound
// of bmrm-ls, and that every lower bound is one.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/solver/bundle.hpp"
#include "fenchel/solver/line_bundle.hpp"

namespace fenchel::test {
namespace {

using Rows = std::vector<std::vector<double>>;

// R(w) = max_i <a_i, w>; of several maximising pieces the first, or the last.
class MaxRisk final : public solver::CutOracle {
 public:
  enum class Ties { first, last };
  MaxRisk(Rows pieces, Ties ties) : pieces_(std::move(pieces)), ties_(ties) {}

  Answer cut(std::span<const double> w, std::span<double> slope) override {
    std::size_t best = 0;
    double most = -INFINITY;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      double product = 0.0;
      for (std::size_t j = 0; j < w.size(); ++j) product += pieces_[i][j] * w[j];
      const double rounding = 1e-12;
      if (product > most + rounding || (ties_ == Ties::last && product > most - rounding)) {
        most = product;
        best = i;
      }
    }
    std::copy(pieces_[best].begin(), pieces_[best].end(), slope.begin());
    return {.value = most, .offset = 0.0};
  }

 private:
  Rows pieces_;
  Ties ties_;
};

constexpr std::size_t test_dimension = 16;

Rows identity() {
  Rows rows(test_dimension, std::vector<double>(test_dimension, 0.0));
  for (std::size_t i = 0; i < test_dimension; ++i) rows[i][i] = 1.0;
  return rows;
}

Rows hadamard() {
  Rows rows(test_dimension, std::vector<double>(test_dimension));
  for (std::size_t i = 0; i < test_dimension; ++i) {
    for (std::size_t j = 0; j < test_dimension; ++j)
      rows[i][j] = (std::popcount(i & j) % 2 == 0 ? 1.0 : -1.0) / 4.0;
  }
  return rows;
}

// The matrix as printed: pieces in pairs a, -a.
Rows pairs() {
  Rows rows(test_dimension, std::vector<double>(test_dimension, 0.0));
  for (std::size_t i = 0; i < test_dimension / 2; ++i) {
    rows[2 * i][i] = 1.0;
    rows[2 * i + 1][i] = -1.0;
  }
  return rows;
}

const std::vector<double> test_origin(test_dimension, 0.0);

TEST(LowerBound, BmrmNeedsOneOverTwoLambdaT) {
  for (const double lambda : {1.0, 0.01}) {
    const penalty::Separable penalty({.l1 = 0.0, .l2 = lambda});
    for (const Rows& pieces : {identity(), hadamard()}) {
      for (const auto ties : {MaxRisk::Ties::first, MaxRisk::Ties::last}) {
        MaxRisk risk(pieces, ties);
        solver::Bundle bundle(penalty, test_origin);
        double best = 0.0;  // J(w_0)
        for (std::size_t t = 1; t < test_dimension; ++t) {
          bundle.step(risk);
          const double rate = 1.0 / (2 * lambda * static_cast<double>(t));
          EXPECT_NEAR(bundle.lower(), -rate, 1e-12 / lambda) << t;
          // J(w_t) of the point that the next step will cut at.
          std::vector<double> slope(test_dimension);
          double square = 0.0;
          for (const double w : bundle.point()) square += w * w;
          const double value = MaxRisk(pieces, ties).cut(bundle.point(), slope).value + 0.5 * lambda * square;
          EXPECT_NEAR(value, rate, 1e-12 / lambda) << t;
          best = std::min(best, value);
          EXPECT_NEAR(best - bundle.lower(), rate, 1e-12 / lambda) << t;  // eps_t, with w_0 among the points
        }
        bundle.step(risk);
        const double optimum = -1.0 / (2 * lambda * static_cast<double>(test_dimension));
        EXPECT_NEAR(bundle.lower(), optimum, 1e-12 / lambda);
        bundle.step(risk);
        EXPECT_NEAR(bundle.best(), optimum, 1e-12 / lambda);
        EXPECT_NEAR(bundle.best() - bundle.lower(), 0.0, 1e-12 / lambda);
      }
    }
  }
}

TEST(LowerBound, LineSearchIsNoFaster) {
  for (const double lambda : {1.0, 0.01}) {
    const penalty::Separable penalty({.l1 = 0.0, .l2 = lambda});
    for (const Rows& pieces : {identity(), hadamard()}) {
      MaxRisk risk(pieces, MaxRisk::Ties::first);
      solver::LineBundle bundle(penalty, test_origin);
      for (std::size_t t = 1; t < test_dimension; ++t) {
        bundle.step(risk);
        EXPECT_GE(bundle.best() - bundle.lower(), (1 - 1e-12) / (2 * lambda * static_cast<double>(t))) << t;
      }
    }
  }
}

// max_i |w_i| is least at 0, which two cuts of one pair prove: the printed matrix bounds nothing.
TEST(LowerBound, PrintedMatrixStopsInTwoSteps) {
  for (const double lambda : {1.0, 0.01}) {
    MaxRisk risk(pairs(), MaxRisk::Ties::first);
    solver::Bundle bundle(penalty::Separable({.l1 = 0.0, .l2 = lambda}), test_origin);
    bundle.step(risk);
    EXPECT_LT(bundle.lower(), -0.4 / lambda);
    bundle.step(risk);
    EXPECT_NEAR(bundle.best() - bundle.lower(), 0.0, 1e-14);
  }
}

// R(w) = max_i <a_i, w> + b_i at random, with repeated pieces.
class RandomPieces final : public solver::CutOracle {
 public:
  explicit RandomPieces(std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < 40; ++i) {
      std::vector<double> piece(test_dimension);
      for (double& a : piece) a = random.normal();
      pieces_.push_back(i % 4 == 3 ? pieces_.back() : piece);
      offsets_.push_back(i % 4 == 3 ? offsets_.back() : random.normal());
    }
  }
  Answer cut(std::span<const double> w, std::span<double> slope) override {
    std::size_t best = 0;
    double most = -INFINITY;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      double value = offsets_[i];
      for (std::size_t j = 0; j < w.size(); ++j) value += pieces_[i][j] * w[j];
      if (value <= most) continue;
      most = value;
      best = i;
    }
    std::copy(pieces_[best].begin(), pieces_[best].end(), slope.begin());
    return {.value = most, .offset = offsets_[best]};
  }
  // The most that D can bend between two pieces.
  [[nodiscard]] double curvature(const penalty::Separable& penalty) const {
    double most = 0.0;
    for (const std::vector<double>& a : pieces_) {
      for (const std::vector<double>& other : pieces_) {
        double sum = 0.0;
        for (std::size_t j = 0; j < test_dimension; ++j)
          sum += (a[j] - other[j]) * (a[j] - other[j]) / penalty[j].l2;
        most = std::max(most, sum);
      }
    }
    return most;
  }

 private:
  Rows pieces_;
  std::vector<double> offsets_;
};

std::vector<penalty::Separable> penalties() {
  std::vector<double> factors(test_dimension), scales(test_dimension);
  for (std::size_t j = 0; j < test_dimension; ++j) {
    factors[j] = 0.5 + static_cast<double>(j % 5);
    scales[j] = 1.0 / (1.0 + static_cast<double>(j % 3));
  }
  return {penalty::Separable({.l1 = 0.0, .l2 = 0.1}), penalty::Separable({.l1 = 0.0, .l2 = 0.1}, factors, scales),
          penalty::Separable({.l1 = 0.2, .l2 = 0.1}), penalty::Separable({.l1 = 0.2, .l2 = 0.1}, factors, scales),
          penalty::Separable({.l1 = 5.0, .l2 = 0.1})};  // w = 0 is optimal
}

TEST(BundleBounds, ModelsAreSolvedToTheEnd) {
  for (const penalty::Separable& penalty : penalties()) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      RandomPieces risk(seed);
      solver::Bundle bundle(penalty, test_origin);
      double last = -INFINITY;
      for (int t = 0; t < 60; ++t) {
        bundle.step(risk);
        EXPECT_GE(bundle.lower(), last);
        EXPECT_LE(bundle.lower(), bundle.best() + 1e-13 * (1 + std::fabs(bundle.best())));
        last = bundle.lower();
        double sum = 0.0;
        for (const double t_i : bundle.weights()) sum += t_i;
        EXPECT_NEAR(sum, 1.0, 1e-13);
      }
      // There are 30 pieces: each is found once at most, and then the model is the objective.
      EXPECT_LE(bundle.best() - bundle.lower(), 1e-11 * (1 + std::fabs(bundle.best())));
    }
  }
}

// It is a Frank-Wolfe method for D: the best gap of the first t steps is at most 27 C / (4 (t + 2)) (Jaggi, "Revisiting
// Frank-Wolfe", Theorem 2).
TEST(BundleBounds, LineSearchIsMonotoneAndKeepsItsRate) {
  for (const penalty::Separable& penalty : penalties()) {
    RandomPieces risk(7), same(7);
    solver::Bundle exact(penalty, test_origin);
    for (int t = 0; t < 60; ++t) exact.step(same);
    solver::LineBundle bundle(penalty, test_origin);
    double last = -INFINITY;
    const double curvature = risk.curvature(penalty);
    for (int t = 0; t < 2000; ++t) {
      bundle.step(risk);
      const double rounding = 1e-14 * (1 + std::fabs(bundle.lower()));
      EXPECT_GE(bundle.lower(), last - rounding);
      EXPECT_LE(bundle.lower(), exact.best() + rounding);
      EXPECT_LE(bundle.best() - bundle.lower(), 6.75 * curvature / (t + 2));
      last = bundle.lower();
    }
  }
}

}  // namespace
}  // namespace fenchel::test
