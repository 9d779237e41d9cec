// The risk's oracle: exact biases, and the smoothed risk with its bracket, gradient and dual vector.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/risk/class_risk.hpp"
#include "fenchel/risk/pointwise.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/multiclass.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

double mean_loss(const loss::Any& loss, const risk::Sample& sample, std::span<const double> z, double b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double value = std::visit([&](const auto& l) { return l.value(sample.targets[i], z[i] + b); }, loss);
    sum += sample.weight(i) / sample.weight_sum * value;
  }
  return sum;
}

struct Scores {
  Scores(const loss::Any& loss, std::size_t n, bool weighted, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t i = 0; i < n; ++i) {
      z.push_back(std::round(4 * random.normal()) / 4);  // ties
      targets.push_back(has_classes(loss) ? (random.uniform() < 0.4 ? -1.0 : 1.0)
                                          : std::round(random.normal() * 8) / 8);
      weights.push_back(weighted ? (i % 4 == 0 ? 0.0 : 0.1 + random.uniform()) : 1.0);
    }
    for (const double c : weights) sum += c;
  }
  [[nodiscard]] risk::Sample sample() const { return {.targets = targets, .weights = weights, .weight_sum = sum}; }
  std::vector<double> z, targets, weights;
  double sum = 0.0;
};

// No point of a fine net, nor any kink, is better.
TEST(BestBias, NothingIsBetter) {
  for (const loss::Any& loss : every_loss()) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Scores scores(loss, 1 + seed, seed % 2 == 0, seed);
      const risk::Sample sample = scores.sample();
      if (sample.weight_sum == 0.0) continue;
      for (const double start : {0.0, -3.0, 40.0}) {
        const double b = risk::best_bias(loss, sample, scores.z, start);
        const double least = mean_loss(loss, sample, scores.z, b);
        for (double other = -8.0; other <= 8.0; other += 0.0625) {
          EXPECT_LE(least, mean_loss(loss, sample, scores.z, other) + 1e-13) << title(loss) << " seed " << seed;
        }
      }
    }
  }
}

TEST(BestBias, GoldenHinge) {
  const nlohmann::json file = golden("hinge_bias.json");
  for (const auto& one : file["cases"]) {
    const auto z = one["s"].get<std::vector<double>>();
    const auto y = one["y"].get<std::vector<double>>();
    const risk::Sample sample{.targets = y, .weights = {}, .weight_sum = static_cast<double>(y.size())};
    const loss::Any hinge = loss::Hinge{};
    const double b = risk::best_bias(hinge, sample, z, 0.0);
    EXPECT_NEAR(mean_loss(hinge, sample, z, b), one["value"].get<double>(), 1e-12) << one["name"];
    const double mu = one["mu"];
    const double smooth_b = risk::best_smoothed_bias(hinge, sample, z, {.mu = mu}, 0.0);
    double value = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double p = y[i] * loss::Hinge{}.dual_step(y[i], 0.0, z[i] + smooth_b, mu);
      EXPECT_NEAR(p, one["p"][i].get<double>(), 1e-12) << one["name"];
      value += (p * (1.0 - y[i] * z[i]) - 0.5 * mu * p * p) / static_cast<double>(z.size());
    }
    EXPECT_NEAR(value, one["smoothed_value"].get<double>(), 1e-12) << one["name"];
  }
}

TEST(BestBias, OneClassCostsNothing) {
  const loss::Any hinge = loss::Hinge{};
  for (const double y : {-1.0, 1.0}) {
    const std::vector<double> targets(5, y), z{0.3, -2.0, 1e5, 4.0, -1e5};
    const risk::Sample sample{.targets = targets, .weights = {}, .weight_sum = 5.0};
    EXPECT_EQ(mean_loss(hinge, sample, z, risk::best_bias(hinge, sample, z, 0.0)), 0.0);
    EXPECT_EQ(mean_loss(hinge, sample, z, risk::best_smoothed_bias(hinge, sample, z, {.mu = 0.1}, 0.0)), 0.0);
  }
}

TEST(Smoothing, BracketsTheRiskAndHasItsGradient) {
  std::uint64_t seed = 0;
  for (const loss::Any& loss : every_loss()) {
    if (loss::smoothness(loss) > 0.0) continue;
    for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
      for (const double mu : {2.0, 0.3, 1e-3}) {
        Case setup = random_setup(loss, 20, 3, Storage::dense64, ++seed);
        setup.settings.bias = bias;
        setup.settings.lambda = 0.1;
        for (std::size_t i = 0; i < 20; ++i)
          setup.weights.push_back(i % 5 == 4 ? 0.0 : 0.5 + 0.1 * static_cast<double>(i));
        const data::Dataset dataset = dataset_of(setup);
        const registry::Plan plan(dataset, setup.settings, setup.weights, {});
        const problem::Problem p = plan.problem(0);
        risk::Pointwise smooth(p.design, p.sample, p.loss, p.free_bias);
        const risk::Pointwise plain(p.design, p.sample, p.loss, p.free_bias);
        Random random(seed);
        std::vector<double> factors;  // levels by row in every other case
        for (std::size_t i = 0; seed % 2 == 0 && i < p.rows(); ++i) factors.push_back(std::exp(random.normal()));
        const risk::Levels levels{.mu = mu, .factors = factors};
        smooth.smooth(levels);
        std::vector<double> w(p.dimension());
        for (double& x : w) x = random.normal();
        risk::Pointwise::State at, exactly;
        smooth.locate(w, 0.0, at);
        plain.locate(w, 0.0, exactly);
        double D = 0.0;
        for (std::size_t i = 0; i < p.rows(); ++i) {
          const Interval domain =
              std::visit([&](const auto& l) { return l.dual_domain(p.sample.targets[i]); }, loss);
          const double most = std::max(-domain.low, domain.high);
          D += 0.5 * p.sample.weight(i) / p.sample.weight_sum * levels.factor(i) * most * most;
        }
        const double value = smooth.value(at);
        EXPECT_LE(value, plain.value(exactly) + 1e-13);
        EXPECT_LE(plain.value(exactly), value + mu * D + 1e-13);
        EXPECT_LE(plain.value(exactly), smooth.unsmoothed_value(at) + 1e-13);

        std::vector<double> gradient(w.size());
        EXPECT_NEAR(smooth.gradient(at, gradient), value, 1e-14 * (1 + value));
        double sum = 0.0, attained = 0.0;
        for (std::size_t i = 0; i < p.rows(); ++i) {
          const double alpha = smooth.dual()[i];
          const double share = p.sample.weight(i) / p.sample.weight_sum;
          sum += share * alpha;
          // -phi*(-alpha) - alpha z - (mu s/2) alpha^2, which is phi_mu(z) for the pair, in sum the value itself.
          const double conjugate =
              std::visit([&](const auto& l) { return l.conjugate(p.sample.targets[i], alpha); }, loss);
          attained += share * (-conjugate - alpha * (at.z[i] + at.b) - 0.5 * levels[i] * alpha * alpha);
        }
        EXPECT_NEAR(attained, value, 1e-13 * (1 + value)) << title(loss) << " mu " << mu;
        if (p.free_bias) {
          EXPECT_NEAR(sum, 0.0, 1e-13);
        }
        const double h = 1e-6 * mu;
        for (std::size_t j = 0; j < w.size(); ++j) {
          const auto moved = [&](double by) {
            std::vector<double> next = w;
            next[j] += by;
            risk::Pointwise::State state;
            smooth.locate(next, at.b, state);
            return smooth.value(state);
          };
          const double slope = (moved(h) - moved(-h)) / (2 * h);
          EXPECT_NEAR(slope, gradient[j], 1e-15 / h + 1e-5) << title(loss) << " mu " << mu;
        }
      }
    }
  }
}

// Three rows, one of them without features, levels of their own, and a free bias: no alpha of a net in the plane sum c alpha = 0 is
// better than that of the risk.
TEST(Smoothing, LevelsByRowMaximizeOverThePlane) {
  for (const loss::Any& loss : every_loss()) {
    if (loss::smoothness(loss) > 0.0) continue;
    const std::vector<double> targets{1.0, -1.0, -1.0}, weights{1.0, 2.0, 0.5}, factors{0.05, 1.5, 3.0};
    const risk::Sample sample{.targets = targets, .weights = weights, .weight_sum = 3.5};
    Case setup{.rows = {{0.0}, {1.5}, {-2.0}}, .labels = targets};
    const data::Dataset dataset = dataset_of(setup);
    for (const double mu : {1.0, 0.1}) {
      for (const double w : {0.0, 0.3, -1.0}) {
        const risk::Levels levels{.mu = mu, .factors = factors};
        risk::Pointwise smooth({.matrix = dataset.matrix(), .constant = 0.0}, sample, loss, true);
        smooth.smooth(levels);
        risk::Pointwise::State at;
        smooth.locate(std::vector<double>{w}, 0.0, at);
        std::vector<double> gradient(1);
        const double value = smooth.gradient(at, gradient);
        const auto gain = [&](const std::array<double, 3>& alpha) {
          double sum = 0.0;
          for (std::size_t i = 0; i < 3; ++i) {
            const double conjugate =
                std::visit([&](const auto& l) { return l.conjugate(targets[i], alpha[i]); }, loss);
            sum += weights[i] / 3.5 * (-conjugate - alpha[i] * at.z[i] - 0.5 * levels[i] * alpha[i] * alpha[i]);
          }
          return sum;
        };
        double best = -infinity;
        constexpr int net = 80;
        for (int a = -net; a <= net; ++a) {
          for (int b = -net; b <= net; ++b) {
            const double first = static_cast<double>(a) / net, second = static_cast<double>(b) / net;
            best = std::max(best, gain({first, second, -(weights[0] * first + weights[1] * second) / weights[2]}));
          }
        }
        EXPECT_GE(value, best - 1e-13) << title(loss);
        EXPECT_LE(value, best + 0.05) << title(loss);
        EXPECT_NEAR(weights[0] * smooth.dual()[0] + weights[1] * smooth.dual()[1] + weights[2] * smooth.dual()[2],
                    0.0, 1e-13);
      }
    }
  }
}

TEST(Smoothing, OfTheMulticlassHinge) {
  std::uint64_t seed = 40;
  for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
    for (const double mu : {2.0, 0.3, 1e-2}) {
      Case setup = multiclass_case(loss::MulticlassHinge{}, 25, 3, 4, Storage::csr64, ++seed);
      setup.settings.bias = bias;
      for (std::size_t i = 0; i < 25; ++i)
        setup.weights.push_back(i % 5 == 4 ? 0.0 : 0.5 + 0.1 * static_cast<double>(i));
      const data::Dataset dataset = dataset_of(setup);
      const registry::Plan plan(dataset, setup.settings, setup.weights, {});
      const problem::MulticlassProblem p = plan.multiclass();
      risk::ClassRisk smooth(p.design, p.sample, p.loss, p.free_bias);
      const risk::ClassRisk plain(p.design, p.sample, p.loss, p.free_bias);
      smooth.smooth(mu);
      EXPECT_EQ(smooth.smoothing(), mu);
      EXPECT_EQ(smooth.smoothness(), mu / 4);
      Random random(seed);
      std::vector<double> w(p.dimension() * p.classes());
      for (double& x : w) x = random.normal();
      risk::ClassRisk::State at, exactly;
      smooth.locate(w, {}, at);
      plain.locate(w, at.b, exactly);
      const double value = smooth.value(at);
      EXPECT_LE(value, plain.value(exactly) + 1e-13);
      EXPECT_LE(plain.value(exactly), value + 0.5 * mu + 1e-13);
      EXPECT_LE(plain.value(exactly), smooth.unsmoothed_value(at) + 1e-13);

      std::vector<double> gradient(w.size());
      EXPECT_EQ(smooth.gradient(at, gradient), value);
      std::vector<double> sums(p.classes());  // of the derivatives with respect to the biases
      for (std::size_t i = 0; i < p.rows(); ++i) {
        for (std::size_t l = 0; l < p.classes(); ++l) {
          const double share = p.sample.weight(i) / p.sample.weight_sum * smooth.dual()[i * p.classes() + l];
          sums[l] += share;
          sums[p.sample.targets[i]] -= share;
        }
      }
      for (const double sum : sums) EXPECT_NEAR(p.free_bias ? sum : 0.0, 0.0, 1e-13);
      const double h = 1e-6 * mu;
      for (std::size_t e = 0; e < w.size(); ++e) {
        const auto moved = [&](double by) {
          std::vector<double> next = w;
          next[e] += by;
          risk::ClassRisk::State state;
          smooth.locate(next, at.b, state);
          return smooth.value(state);
        };
        EXPECT_NEAR((moved(h) - moved(-h)) / (2 * h), gradient[e], 1e-15 / h + 1e-5) << " mu " << mu;
      }
    }
  }
}

TEST(Smoothing, RefusesToSmoothByNothing) {
  Case setup = random_setup(loss::Hinge{}, 12, 2, Storage::dense64, 1);
  setup.settings.lambda = 0.1;
  const data::Dataset dataset = dataset_of(setup);
  const registry::Plan plan(dataset, setup.settings, {}, {});
  const problem::Problem p = plan.problem(0);
  risk::Pointwise risk(p.design, p.sample, p.loss, p.free_bias);
  refusal(Fault::usage, [&] { risk.smooth({.mu = 0.0}); });
  Case multiclass = multiclass_case(loss::Softmax{}, 12, 2, 3, Storage::dense64, 1);
  const data::Dataset rows = dataset_of(multiclass);
  const registry::Plan joint(rows, multiclass.settings, {}, {});
  const problem::MulticlassProblem q = joint.multiclass();
  risk::ClassRisk softmax(q.design, q.sample, q.loss, q.free_bias);
  refusal(Fault::usage, [&] { softmax.smooth(0.1); });
  risk::ClassRisk hinge(q.design, q.sample, loss::MulticlassHinge{}, q.free_bias);
  refusal(Fault::usage, [&] { hinge.smooth(0.0); });
}

}  // namespace
}  // namespace fenchel::test
