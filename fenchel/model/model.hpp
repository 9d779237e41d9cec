// A fitted model with everything that is needed to predict with it and to check its certificate again.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fenchel/data/dataset.hpp"
#include "fenchel/data/fingerprint.hpp"
#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/settings.hpp"

namespace fenchel::model {

struct Model {
  registry::Settings settings;  // as asked for
  std::string solver;           // the one that ran
  double lambda = 0.0;          // resolved
  penalty::Strength strength;   // resolved: exactly what the certificate is about
  std::vector<double> classes;  // ascending; empty for a regression
  std::vector<registry::Output> outputs;
  std::size_t features = 0;  // columns of the training data, without a constant
  std::size_t rows = 0;
  std::size_t nonzeros = 0;
  int index_base = 1;
  data::Precision precision = data::Precision::f64;
  std::vector<double> weights;  // sample weights as given; empty: all 1
  std::vector<double> factors;  // penalty factors as given; empty: all 1
  std::vector<double> scales;   // what Omega multiplies the weights by, for a standardized fit; else empty
  data::Fingerprint fingerprint;
  std::string written_by;  // the version of fenchel that wrote the file; empty for a model that was not read

  // Whether the outputs are one problem, under a multiclass loss.
  [[nodiscard]] bool joint() const { return settings.loss.joint(); }
  [[nodiscard]] problem::Certificate total() const { return registry::total_of(outputs, joint()); }
  // Whether rows count differently, by their own weights or by their classes'.
  [[nodiscard]] bool weighted() const {
    return !weights.empty() || settings.class_weight.balanced || !settings.class_weight.by_label.empty();
  }
  // The bias that is added to scores: the free one, or the constant's value times its weight.
  [[nodiscard]] double bias(std::size_t output) const {
    const registry::Output& out = outputs[output];
    return settings.bias == registry::Bias::regularized ? settings.bias_value * out.w.back() : out.b;
  }
  // The weights of the features, without the one of a constant.
  [[nodiscard]] std::span<const double> w(std::size_t output) const {
    return std::span(outputs[output].w).first(features);
  }
  [[nodiscard]] std::size_t nonzero_weights() const;
};

// The name of the penalty. Strengths given directly (--l1 a --l2 b) are an elastic net with lambda = a + b, or l1, l2 or
// none where one or both are 0.
std::string_view penalty_name(const registry::Settings& settings);

std::string_view name(registry::Bias bias);
std::string_view name(data::Precision precision);

// The model of a fit; takes the weights and duals out of it.
Model make_model(const registry::Plan& plan, registry::Fit&& fit, const data::Dataset& dataset);

}  // namespace fenchel::model
