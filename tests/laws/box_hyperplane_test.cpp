// The projection onto a box cut by a hyperplane: optimality conditions on random sets with every kind of trouble, the golden
// vectors, refusals, one answer for all thread counts.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/projection/box_hyperplane.hpp"
#include "tests/support/golden.hpp"

namespace fenchel::projection {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

struct Instance {
  std::vector<double> m, d2, l, u, s;
  double z = 0.0;

  [[nodiscard]] BoxHyperplane set() const { return {m, d2, l, u, s, z}; }
  [[nodiscard]] double weight(std::size_t i) const { return d2.empty() ? 1.0 : d2[i]; }
  [[nodiscard]] double low(std::size_t i) const { return l.empty() ? 0.0 : l[i]; }
  [[nodiscard]] double high(std::size_t i) const { return u.empty() ? 1.0 : u[i]; }
  [[nodiscard]] double normal(std::size_t i) const { return s.empty() ? 1.0 : s[i]; }
};

std::vector<double> project(const Instance& instance, double* multiplier = nullptr) {
  std::vector<double> a(instance.m.size());
  const double lambda = project_box_hyperplane(instance.set(), a);
  if (multiplier != nullptr) *multiplier = lambda;
  return a;
}

// The level is met, and every entry is the clipped value at the multiplier, up to the rounding of what goes into it.
void expect_optimal(const Instance& p, const std::string& name) {
  double lambda = 0.0;
  const std::vector<double> a = project(p, &lambda);
  ASSERT_TRUE(std::isfinite(lambda)) << name;
  long double sum = 0.0L, scale = std::fabs(p.z);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_GE(a[i], p.low(i)) << name << ", entry " << i;
    ASSERT_LE(a[i], p.high(i)) << name << ", entry " << i;
    const double step = p.normal(i) / p.weight(i) * lambda;
    const double expected = std::clamp(p.m[i] + step, p.low(i), p.high(i));
    ASSERT_NEAR(a[i], expected, 1e-13 * (std::fabs(p.m[i]) + std::fabs(step) + std::fabs(expected)))
        << name << ", entry " << i;
    sum += static_cast<long double>(p.normal(i)) * a[i];
    scale += std::fabs(p.normal(i) * a[i]);
  }
  EXPECT_LE(std::fabs(sum - p.z), 1e-14L * scale) << name;
}

// A level inside what the box allows: that of a random point of it.
void choose_level(Instance& p, Random& random) {
  p.z = 0.0;
  for (std::size_t i = 0; i < p.m.size(); ++i) {
    const double low = std::max(p.low(i), -3.0), high = std::min(p.high(i), std::max(low, 3.0));
    p.z += p.normal(i) * (low + (high - low) * random.uniform());
  }
}

Instance random_instance(std::size_t n, std::uint64_t seed, bool weighted, bool bounded, bool directed, bool ties) {
  Random random(seed);
  Instance p;
  const auto draw = [&](double spread) {
    const double x = spread * random.normal();
    return ties ? std::round(2 * x) / 2 : x;
  };
  for (std::size_t i = 0; i < n; ++i) {
    p.m.push_back(draw(1.0));
    if (weighted) p.d2.push_back(ties ? 1.0 + static_cast<double>(random.below(2)) : 0.01 + random.uniform());
    if (bounded) {
      const double first = draw(1.0), second = draw(1.0);
      p.l.push_back(random.uniform() < 0.1 ? -unbounded : std::min(first, second));
      p.u.push_back(random.uniform() < 0.1 ? unbounded : std::max(first, second));
    }
    if (directed)
      p.s.push_back(random.uniform() < 0.1 ? 0.0 : ties ? (random.below(2) != 0 ? 1.0 : -1.0) : draw(1.0));
  }
  choose_level(p, random);
  return p;
}

TEST(BoxHyperplane, GoldenVectors) {
  const nlohmann::json file = test::golden("box_hyperplane.json");
  const auto numbers = [](const nlohmann::json& list) {
    std::vector<double> result;
    for (const auto& x : list) {
      if (x.is_number())
        result.push_back(x.get<double>());
      else
        result.push_back(x.get<std::string>() == "inf" ? unbounded : -unbounded);
    }
    return result;
  };
  for (const auto& c : file["cases"]) {
    const Instance p{numbers(c["m"]), numbers(c["d2"]), numbers(c["l"]), numbers(c["u"]), numbers(c["s"]), c["z"]};
    const std::string name = c["name"];
    if (!c["feasible"].get<bool>()) {
      EXPECT_THROW(project(p), Error) << name;
      continue;
    }
    const std::vector<double> a = project(p);
    const std::vector<double> expected = numbers(c["alpha"]);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], expected[i], 1e-12) << name << ", entry " << i;
  }
}

TEST(BoxHyperplane, OptimalOnRandomSets) {
  std::uint64_t seed = 0;
  for (const std::size_t n : {1, 2, 3, 5, 8, 17, 100, 2000}) {
    for (int kind = 0; kind < 16; ++kind) {
      const auto has = [kind](int bit) { return (kind >> bit & 1) != 0; };
      for (int round = 0; round < (n < 100 ? 20 : 2); ++round) {
        ++seed;
        expect_optimal(
            random_instance(n, seed, has(0), has(1), has(2), has(3)),
            "size " + std::to_string(n) + ", kind " + std::to_string(kind) + ", seed " + std::to_string(seed));
      }
    }
  }
}

// So large that a sample says where to look, with ends of blocks that are not multiples of anything.
TEST(BoxHyperplane, OptimalOnLargeSets) {
  for (int kind = 0; kind < 16; ++kind) {
    const auto has = [kind](int bit) { return (kind >> bit & 1) != 0; };
    const auto seed = static_cast<std::uint64_t>(1000 + kind);
    expect_optimal(random_instance(30011, seed, has(0), has(1), has(2), has(3)), "kind " + std::to_string(kind));
  }
}

// A sample sees nothing of what decides: few entries are free, or one is far from all others.
TEST(BoxHyperplane, OptimalWhereSamplesMislead) {
  Random random(5);
  Instance p;
  for (std::size_t i = 0; i < 20000; ++i) p.m.push_back(random.normal());
  p.l.assign(p.m.size(), 0.0);
  p.u.assign(p.m.size(), unbounded);
  p.z = 1e-3;
  expect_optimal(p, "a small simplex");
  p.m[7] = 1e6;
  expect_optimal(p, "an outlier");
  p.m.assign(p.m.size(), 0.25);
  expect_optimal(p, "all equal");
  for (std::size_t i = 0; i < p.m.size(); i += 2) p.m[i] = 0.75;
  p.z = 0.5 * static_cast<double>(p.m.size() / 2);
  expect_optimal(p, "the root is a kink of half of all");
}

TEST(BoxHyperplane, OptimalOnEveryScale) {
  Random random(9);
  for (const double size : {1e-150, 1e-30, 1e-8, 1e8, 1e30, 1e150}) {
    for (const std::size_t n : {3, 5000}) {
      Instance p = random_instance(n, 40, true, true, true, false);
      for (std::size_t i = 0; i < n; ++i) p.m[i] *= size, p.l[i] *= size, p.u[i] *= size;
      p.z *= size;
      expect_optimal(p, "all sizes " + std::to_string(size));
    }
    Instance far = random_instance(4000, 41, false, false, true, true);
    for (double& m : far.m) m = size * random.normal();
    choose_level(far, random);
    expect_optimal(far, "centres of size " + std::to_string(size));
  }
}

// The level in digits that no multiplier of the centres' size has.
TEST(BoxHyperplane, MeetsTheLevelFarFromTheBox) {
  const Instance p{.m = {1e12, 1e12, 1e12}, .d2 = {}, .l = {}, .u = {}, .s = {}, .z = 1.3};
  const std::vector<double> a = project(p);
  for (const double x : a) EXPECT_NEAR(x, 1.3 / 3, 1e-15);
}

TEST(BoxHyperplane, EndsOfTheRange) {
  const std::vector<double> s{1.0, -2.0, 0.0, 0.5};
  for (const double z : {-2.0, -2.0 - 1e-13, 1.5, 1.5 + 1e-13}) {
    const Instance p{.m = {0.3, 9.0, 5.0, -4.0}, .d2 = {}, .l = {}, .u = {}, .s = s, .z = z};
    double lambda = 0.0;
    const std::vector<double> a = project(p, &lambda);
    const std::vector<double> expected =
        z < 0.0 ? std::vector<double>{0.0, 1.0, 1.0, 0.0} : std::vector<double>{1.0, 0.0, 1.0, 1.0};
    EXPECT_EQ(a, expected);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(std::clamp(p.m[i] + s[i] * lambda, 0.0, 1.0), a[i], 1e-14);
  }
}

TEST(BoxHyperplane, RefusesToOverwriteTheCentre) {
  Instance p = random_instance(3, 77, true, true, true, false);
  EXPECT_THROW(project_box_hyperplane(p.set(), p.m), Error);
}

TEST(BoxHyperplane, SameBitsWithEveryThreadCount) {
  const Instance p = random_instance(50021, 78, true, true, true, false);
  const std::vector<double> expected = project(p);
  for (const std::size_t threads : {1, 2, 5}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    EXPECT_EQ(project(p), expected);
  }
}

std::string refusal(const Instance& p) {
  try {
    project(p);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BoxHyperplane, RefusesWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(contains(refusal({.m = {0.5, 0.5}, .d2 = {}, .l = {}, .u = {}, .s = {}, .z = 2.1}), "from 0 to 2"));
  EXPECT_TRUE(contains(refusal({.m = {0.5}, .d2 = {}, .l = {}, .u = {}, .s = {-1.0}, .z = 0.5}), "from -1 to"));
  EXPECT_TRUE(contains(refusal({.m = {}, .d2 = {}, .l = {}, .u = {}, .s = {}, .z = 0.5}), "no point"));
  EXPECT_TRUE(contains(refusal({.m = {0.0, nan}, .d2 = {}, .l = {}, .u = {}, .s = {}, .z = 0.5}), "entry 1"));
  EXPECT_TRUE(contains(refusal({.m = {0.0}, .d2 = {0.0}, .l = {}, .u = {}, .s = {}, .z = 0.5}), "entry 0"));
  EXPECT_TRUE(contains(refusal({.m = {0.0}, .d2 = {}, .l = {1.0}, .u = {0.5}, .s = {}, .z = 0.5}), "entry 0"));
  EXPECT_TRUE(contains(refusal({.m = {0.0}, .d2 = {}, .l = {}, .u = {}, .s = {unbounded}, .z = 0.5}), "entry 0"));
  EXPECT_TRUE(contains(refusal({.m = {0.0}, .d2 = {}, .l = {}, .u = {}, .s = {}, .z = nan}), "level"));
  EXPECT_TRUE(contains(refusal({.m = {0.0}, .d2 = {}, .l = {}, .u = {}, .s = {1.0, 1.0}, .z = 0.5}), "the normal"));
}

}  // namespace
}  // namespace fenchel::projection
