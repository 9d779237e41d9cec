// Random problems, asked of the library (data set, settings, weights, factors) and stated once more for the
// reference.
#pragma once

#include <cctype>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/registry/plan.hpp"
#include "tests/support/reference.hpp"

namespace fenchel::test {

enum class Storage { csr64, dense64, csr32, dense32 };

struct Case {
  std::vector<std::vector<double>> rows;
  std::vector<double> labels;
  Storage storage = Storage::csr64;
  registry::Settings settings{};
  std::vector<double> weights{};
  std::vector<double> factors{};
  std::vector<double> scales{};  // of a standardized one
};

inline data::Dataset dataset_of(const Case& setup) {
  const bool single = setup.storage == Storage::csr32 || setup.storage == Storage::dense32;
  const bool dense = setup.storage == Storage::dense64 || setup.storage == Storage::dense32;
  const std::size_t columns = setup.rows.empty() ? 0 : setup.rows.front().size();
  std::vector<double> values;
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> entries;
  for (const std::vector<double>& row : setup.rows) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (!dense && row[j] == 0.0) continue;
      values.push_back(row[j]);
      entries.push_back(static_cast<std::uint32_t>(j));
    }
    offsets.push_back(values.size());
  }
  data::Values held = values;
  if (single) held = std::vector<float>(values.begin(), values.end());
  data::Dataset dataset;
  dataset.targets = setup.labels;
  if (dense) {
    dataset.storage =
        data::DenseStorage{.values = std::move(held), .row_count = setup.rows.size(), .column_count = columns};
  } else {
    dataset.storage = data::CsrStorage{.offsets = std::move(offsets),
                                       .columns = std::move(entries),
                                       .values = std::move(held),
                                       .column_count = columns};
  }
  return dataset;
}

inline bool has_classes(const loss::Chosen& loss) { return loss::task(loss) == loss::Task::classification; }

inline double parameter_of(const loss::Chosen& any) {
  return std::visit(
      []<class L>(const L& loss) {
        if constexpr (L::fields.empty()) {
          return 0.0;
        } else {
          return loss.*(L::fields[0].member);
        }
      },
      static_cast<const loss::Chosen::Variant&>(any));
}

// s_j^2 = sum_{i<k} c_i c_k (x_ij - x_kj)^2 / (sum c)^2, which never cancels; 1 for constant columns.
inline std::vector<double> deviations_of(const std::vector<std::vector<double>>& rows,
                                         const std::vector<double>& weights) {
  long double total = 0;
  for (const double c : weights) total += c;
  std::vector<double> deviations(rows.front().size(), 1.0);
  for (std::size_t j = 0; j < deviations.size(); ++j) {
    long double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const long double difference = static_cast<long double>(rows[i][j]) - rows[k][j];
        sum += weights[i] * difference * (weights[k] * difference);
      }
    }
    if (sum > 0) deviations[j] = static_cast<double>(std::sqrt(sum) / total);
  }
  return deviations;
}

// The contract, read by hand: two classes, class weights by label, lambda or C or direct strengths, penalty
// factors.
inline Instance instance_of(const Case& setup) {
  const registry::Settings& s = setup.settings;
  Instance p{.rows = setup.rows,
             .y = setup.labels,
             .c = setup.weights.empty() ? std::vector<double>(setup.rows.size(), 1.0) : setup.weights,
             .loss = std::string(loss::name(s.loss)),
             .parameter = parameter_of(s.loss),
             .l1 = {},
             .l2 = {}};
  if (has_classes(s.loss)) {
    double larger_class = setup.labels.front();
    for (const double label : setup.labels) larger_class = std::fmax(larger_class, label);
    for (std::size_t i = 0; i < p.y.size(); ++i) {
      p.y[i] = setup.labels[i] == larger_class ? 1.0 : -1.0;
      if (const auto at = s.class_weight.by_label.find(setup.labels[i]); at != s.class_weight.by_label.end()) {
        p.c[i] *= at->second;
      }
    }
  }
  const double lambda = s.lambda ? *s.lambda : 1.0 / (*s.C * static_cast<double>(weight_sum<long double>(p)));
  double l1 = 0.0, l2 = 0.0;
  if (s.direct) {
    l1 = s.direct->l1;
    l2 = s.direct->l2;
  } else if (std::holds_alternative<penalty::L1>(s.penalty)) {
    l1 = lambda;
  } else if (std::holds_alternative<penalty::L2>(s.penalty)) {
    l2 = lambda;
  } else if (const auto* net = std::get_if<penalty::ElasticNet>(&s.penalty)) {
    l1 = lambda * net->l1_ratio;
    l2 = lambda * (1.0 - net->l1_ratio);
  }
  std::vector<double> factors = setup.factors;
  if (factors.empty()) factors.assign(setup.rows.front().size(), 1.0);
  if (s.bias == registry::Bias::regularized) {
    factors.push_back(1.0);
    p.constant = s.bias_value;
  }
  p.free_bias = s.bias == registry::Bias::free;
  for (std::size_t j = 0; j < factors.size(); ++j) {
    const double scale = j < setup.scales.size() ? setup.scales[j] : 1.0;
    p.l1.push_back(l1 * factors[j] * scale);
    p.l2.push_back(l2 * factors[j] * (scale * scale));
  }
  return p;
}

// Rows in general position. The first 2 (d + 2) come in pairs that contradict each other under a margin loss, so
// that a minimiser exists without any penalty; weights that may vanish start behind them.
inline std::size_t contradicting(std::size_t d) { return 2 * (d + 2); }

inline Case random_setup(const loss::Any& loss, std::size_t n, std::size_t d, Storage storage, std::uint64_t seed) {
  Random random(seed);
  const bool single = storage == Storage::csr32 || storage == Storage::dense32;
  Case setup{.rows = {}, .labels = {}, .storage = storage};
  setup.settings.loss = loss;
  std::vector<double> truth(d);
  for (double& t : truth) t = random.normal();
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> row(d);
    for (double& x : row) {
      x = random.normal();
      if (random.uniform() < 0.25) x = 0.0;
      if (single) x = std::round(64 * x) / 64;
    }
    const bool mirrored = i < contradicting(d) && i % 2 == 1;
    if (mirrored) row = setup.rows.back();
    double value = 0.3 + 0.5 * random.normal();
    for (std::size_t j = 0; j < d; ++j) value += truth[j] * row[j];
    double label = value;
    if (has_classes(loss)) label = mirrored ? 10.0 - setup.labels.back() : value > 0.0 ? 7.0 : 3.0;
    setup.rows.push_back(std::move(row));
    setup.labels.push_back(label);
  }
  return setup;
}

// Every loss of the library, with several parameters where it has one.
inline std::vector<loss::Any> every_loss() {
  std::vector<loss::Any> all;
  loss::for_each_type([&]<class L>(std::type_identity<L>) {
    all.emplace_back(L{});
    if constexpr (!L::fields.empty()) {
      for (const double value : {0.3, 0.8}) {
        L loss{};
        loss.*(L::fields[0].member) = value;
        all.emplace_back(loss);
      }
    }
  });
  return all;
}

inline std::string title(const loss::Any& loss) {
  return std::string(loss::name(loss)) + "(" + std::to_string(parameter_of(loss)) + ")";
}

// The same for tests that are instantiated with losses, whose names have letters and digits only.
inline constexpr auto name_of_loss = [](const auto& info) {
  std::string name = title(info.param);
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
};

}  // namespace fenchel::test
