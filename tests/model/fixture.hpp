// Small random problems and the models fitted to them.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/model/model.hpp"
#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/plan.hpp"
#include "tests/support/refusal.hpp"

namespace fenchel::model {

struct Sizes {
  std::size_t rows = 60;
  std::size_t columns = 8;
  int classes = 2;  // 0: a regression
  std::uint64_t seed = 1;
};

// About half of the entries are zero; labels follow a random linear rule with noise.
inline data::Dataset random_data(const Sizes& sizes) {
  Random random(sizes.seed);
  std::vector<double> rule(sizes.columns);
  for (double& r : rule) r = random.normal();
  data::Dataset dataset;
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> columns;
  std::vector<double> values, targets;
  for (std::size_t i = 0; i < sizes.rows; ++i) {
    double score = 0.3 * random.normal();
    for (std::size_t j = 0; j < sizes.columns; ++j) {
      if (random.uniform() < 0.5) continue;
      const double x = random.normal();
      columns.push_back(static_cast<std::uint32_t>(j));
      values.push_back(x);
      score += rule[j] * x;
    }
    offsets.push_back(values.size());
    double target = score;
    if (sizes.classes == 2) target = score > 0.0 ? 1.0 : -1.0;
    if (sizes.classes > 2) target = std::floor(sizes.classes / (1.0 + std::exp(-score)));
    targets.push_back(target);
  }
  dataset.storage = data::CsrStorage{.offsets = std::move(offsets),
                                     .columns = std::move(columns),
                                     .values = data::compact(std::move(values), data::Precision::f64),
                                     .column_count = sizes.columns};
  dataset.targets = std::move(targets);
  return dataset;
}

struct Extras {
  double tolerance = 1e-6;
  std::vector<double> weights = {};
  std::vector<double> factors = {};
};

inline Model fitted(const data::Dataset& dataset, const registry::Settings& settings, const Extras& extras = {}) {
  const registry::Plan plan(dataset, settings, extras.weights, extras.factors);
  run::Options options;
  options.tolerance = extras.tolerance;
  return make_model(plan, registry::fit(plan, options), dataset);
}

inline registry::Settings settings_for(const loss::Any& loss, double lambda = 0.05,
                                       registry::Bias bias = registry::Bias::free) {
  registry::Settings settings;
  settings.loss = loss;
  settings.lambda = lambda;
  settings.bias = bias;
  return settings;
}

using test::refusal;

}  // namespace fenchel::model
