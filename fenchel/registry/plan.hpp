// From data and settings to problems: labels become classes and targets, weights are combined, lambda is resolved.
// A plan owns what its problems view, besides the data set; it does not move while problems are in use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fenchel/data/dataset.hpp"
#include "fenchel/problem/multiclass.hpp"
#include "fenchel/problem/problem.hpp"
#include "fenchel/registry/settings.hpp"

namespace fenchel::registry {

// What takes the place of a penalty, if anything does.
std::optional<penalty::Constraint> constraint_of(const Settings& settings);
// Throws a usage Error where settings do not go with the constraint they ask for.
void check_constraint(const Settings& settings, std::span<const double> factors);

class Plan {
 public:
  // `weights` (one a row) and `factors` (one a feature) may be empty: all 1. `scales` are for standardization, and for
  // those who have them already: else they are computed. Throws Error where data and settings do not fit.
  Plan(const data::Dataset& dataset, const Settings& settings, std::vector<double> weights = {},
       std::vector<double> factors = {}, std::vector<double> scales = {});
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // Vectors of weights: one for two classes or a regression, one a class for more. Under a multiclass loss one a class, always,
  // and they are one problem.
  [[nodiscard]] std::size_t outputs() const { return joint() ? classes_.size() : targets_.size(); }
  [[nodiscard]] bool joint() const { return settings_.loss.joint(); }
  // The problem of an output, that of its class against the rest; not under a multiclass loss.
  [[nodiscard]] problem::Problem problem(std::size_t output) const;
  // The problem of all outputs; under a multiclass loss only.
  [[nodiscard]] problem::MulticlassProblem multiclass() const;

  [[nodiscard]] std::size_t rows() const { return dataset_.rows(); }
  [[nodiscard]] std::size_t features() const { return data::cols(dataset_.matrix()); }
  [[nodiscard]] const data::Dataset& dataset() const { return dataset_; }
  // c_i up to a common power of two, as the problems have them; empty: all 1.
  [[nodiscard]] std::span<const double> combined_weights() const { return combined_; }

  [[nodiscard]] std::span<const double> classes() const { return classes_; }  // ascending; empty for a regression
  [[nodiscard]] double lambda() const { return lambda_; }
  [[nodiscard]] penalty::Regularizer penalty() const;  // of every output
  [[nodiscard]] penalty::Strength strength() const { return strength_; }
  [[nodiscard]] std::span<const double> sample_weights() const { return weights_; }   // as given
  [[nodiscard]] std::span<const double> penalty_factors() const { return factors_; }  // as given
  [[nodiscard]] std::span<const double> scales() const { return scales_; }            // empty unless standardized
  [[nodiscard]] const Settings& settings() const { return settings_; }

 private:
  void find_classes();
  void combine_weights();
  void resolve_strength();
  void find_scales();
  [[nodiscard]] data::Design design() const;

  const data::Dataset& dataset_;
  Settings settings_;
  std::vector<double> weights_;
  std::vector<double> factors_;
  std::vector<double> scales_;
  std::vector<double> classes_;
  // One an output, those of the data where they serve; empty under a multiclass loss.
  std::vector<data::Array<double>> targets_;
  std::vector<std::uint32_t> class_of_;  // places in classes_; only under a multiclass loss
  std::vector<double> combined_;         // sample weight x class weight, up to a power of two; empty: all 1
  double weight_sum_ = 0.0;              // of these
  double asked_weight_sum_ = 0.0;        // of the weights as asked for, which --C refers to
  double lambda_ = 0.0;
  penalty::Strength strength_;
};

}  // namespace fenchel::registry
