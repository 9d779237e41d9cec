#include "fenchel/registry/plan.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/scales.hpp"

namespace fenchel::registry {
namespace {

double sum_of(std::span<const double> values) {
  CompensatedSum sum;
  for (const double v : values) sum.add(v);
  return sum.total();
}

void check_count(std::span<const double> values, std::size_t expected, std::string_view what, std::string_view of) {
  if (values.empty() || values.size() == expected) return;
  throw Error(Fault::input, fmt::format("{} {} for {} {}: give exactly one number a line for each", values.size(),
                                        what, expected, of));
}

// Ascending. As a rule they are few: sorting all labels would take longer, and a copy of them.
std::vector<double> distinct(std::span<const double> labels) {
  const std::set<double> found(labels.begin(), labels.end());
  return {found.begin(), found.end()};
}

}  // namespace

std::optional<penalty::Constraint> constraint_of(const Settings& settings) {
  return settings.direct ? std::nullopt : penalty::constraint_of(settings.penalty);
}

void check_constraint(const Settings& settings, std::span<const double> factors) {
  if (!constraint_of(settings)) return;
  const auto refuse = [](std::string_view what) {
    throw Error(Fault::usage, fmt::format("{} with a constraint on w: choose a penalty such as l1 or l2", what));
  };
  if (settings.lambda || settings.C) refuse("neither --lambda nor --C goes (give --radius)");
  if (settings.standardize) refuse("--standardize does not go");
  if (!factors.empty()) refuse("--penalty-factors do not go");
  if (settings.loss.joint()) refuse("no loss of all classes at once goes");
}

Plan::Plan(const data::Dataset& dataset, const Settings& settings, std::vector<double> weights,
           std::vector<double> factors, std::vector<double> scales)
    : dataset_(dataset),
      settings_(settings),
      weights_(std::move(weights)),
      factors_(std::move(factors)),
      scales_(std::move(scales)) {
  check_count(weights_, dataset_.rows(), "weights", "rows");
  check_count(factors_, data::cols(dataset_.matrix()), "penalty factors", "features");
  check_constraint(settings_, factors_);
  find_classes();
  combine_weights();
  resolve_strength();
  find_scales();
}

void Plan::find_classes() {
  if (dataset_.targets.size() != dataset_.rows()) {
    throw Error(Fault::input,
                "the data have no labels: name their column (--label) or a file that holds them (--labels)");
  }
  const std::span<const double> labels = dataset_.targets;
  if (loss::task(settings_.loss) == loss::Task::regression) {
    targets_.push_back(dataset_.targets);
    return;
  }
  for (const double label : labels) {
    if (std::trunc(label) != label) {
      throw Error(Fault::input,
                  fmt::format("label {} is not an integer, but --loss {} takes labels as classes: use a "
                              "regression loss such as squared, huber or absolute",
                              label, loss::name(settings_.loss)));
    }
  }
  classes_ = distinct(labels);
  if (classes_.size() < 2) {
    throw Error(Fault::input, fmt::format("all {} rows have the label {}, but --loss {} needs two classes",
                                          labels.size(), classes_.front(), loss::name(settings_.loss)));
  }
  if (joint()) {
    class_of_.resize(labels.size());
    std::transform(labels.begin(), labels.end(), class_of_.begin(), [&](double label) {
      return static_cast<std::uint32_t>(std::lower_bound(classes_.begin(), classes_.end(), label) -
                                        classes_.begin());
    });
    return;
  }
  if (classes_ == std::vector{-1.0, 1.0}) {
    targets_.push_back(dataset_.targets);
    return;
  }
  const std::size_t first = classes_.size() == 2 ? 1 : 0;  // of two classes, the larger is +1
  for (std::size_t k = first; k < classes_.size(); ++k) {
    std::vector<double> target(labels.size());
    std::transform(labels.begin(), labels.end(), target.begin(),
                   [&](double label) { return label == classes_[k] ? 1.0 : -1.0; });
    targets_.emplace_back(std::move(target));
  }
}

void Plan::combine_weights() {
  const ClassWeight& wanted = settings_.class_weight;
  combined_ = weights_;
  if (wanted.balanced || !wanted.by_label.empty()) {
    if (classes_.empty()) {
      throw Error(Fault::usage,
                  fmt::format("--class-weight needs a classification loss, not {}", loss::name(settings_.loss)));
    }
    for (const auto& [label, weight] : wanted.by_label) {
      if (!std::binary_search(classes_.begin(), classes_.end(), label)) {
        throw Error(Fault::usage,
                    fmt::format("--class-weight names class {}, which does not occur in the data", label));
      }
    }
    combined_.resize(dataset_.rows(), 1.0);
    std::map<double, CompensatedSum> sizes;
    for (std::size_t i = 0; i < combined_.size(); ++i) sizes[dataset_.targets[i]].add(combined_[i]);
    const double total = sum_of(combined_);
    const auto weight_of = [&](double label) {
      if (!wanted.balanced) {
        const auto at = wanted.by_label.find(label);
        return at == wanted.by_label.end() ? 1.0 : at->second;
      }
      const double size = sizes[label].total();
      return size > 0.0 ? total / (static_cast<double>(classes_.size()) * size) : 0.0;
    };
    for (std::size_t i = 0; i < combined_.size(); ++i) combined_[i] *= weight_of(dataset_.targets[i]);
  }
  if (std::all_of(combined_.begin(), combined_.end(), [](double c) { return c == 1.0; })) combined_.clear();
  asked_weight_sum_ = combined_.empty() ? static_cast<double>(dataset_.rows()) : sum_of(combined_);
  if (!(asked_weight_sum_ > 0.0) || !std::isfinite(asked_weight_sum_)) {
    throw Error(Fault::input,
                "the weights sum to zero or overflow: at least one row needs a positive, finite weight");
  }
  weight_sum_ = asked_weight_sum_;
  if (combined_.empty()) return;
  // Only ratios of weights enter the objective. Scaled by a power of two, which is exact, to a largest weight in [1, 2),
  // products with them stay far from underflow.
  const int exponent = std::ilogb(*std::max_element(combined_.begin(), combined_.end()));
  for (double& c : combined_) c = std::scalbn(c, -exponent);
  weight_sum_ = sum_of(combined_);
}

void Plan::resolve_strength() {
  if (settings_.direct) {
    strength_ = *settings_.direct;
    lambda_ = strength_.l1 + strength_.l2;
    return;
  }
  // lambda has no part in these.
  if (constraint_of(settings_) || std::holds_alternative<penalty::None>(settings_.penalty)) return;
  lambda_ = settings_.lambda ? *settings_.lambda : 1.0 / (settings_.C.value_or(1.0) * asked_weight_sum_);
  if (!settings_.lambda && !(lambda_ > 0.0 && std::isfinite(lambda_))) {
    throw Error(Fault::usage,
                fmt::format("--C {} gives lambda = 1/(C sum c) = {}: choose a C for which it is positive "
                            "and finite, or give --lambda",
                            settings_.C.value_or(1.0), lambda_));
  }
  strength_ = std::visit([&](const auto& penalty) { return penalty.strength(lambda_); }, settings_.penalty);
}

void Plan::find_scales() {
  if (!settings_.standardize) {
    scales_.clear();
    return;
  }
  std::vector<double> found = data::column_scales(dataset_.matrix(), combined_);
  for (std::size_t j = 0; j < found.size(); ++j) {
    if (std::isnormal(found[j] * found[j])) continue;  // solvers and certificates work with squares
    throw Error(Fault::input,
                fmt::format("feature {} (counted from 1) has the deviation {}, whose square is no normal "
                            "double: multiply the feature by {}, or train without --standardize",
                            j + 1, found[j], found[j] < 1.0 ? "1e100" : "1e-100"));
  }
  if (scales_.empty()) {
    scales_ = std::move(found);
    return;
  }
  // Given ones may be rounded in another way, but must be the deviations of these data.
  constexpr double rounding = 1e-12;
  check_count(scales_, found.size(), "scales", "features");
  for (std::size_t j = 0; j < found.size(); ++j) {
    if (!(std::fabs(scales_[j] - found[j]) <= rounding * found[j])) {
      throw Error(
          Fault::input,
          fmt::format(
              "the scale of feature {} (counted from 1) is {:.17g}, but the data have the deviation {:.17g}", j + 1,
              scales_[j], found[j]));
    }
  }
}

data::Design Plan::design() const {
  return {.matrix = dataset_.matrix(),
          .constant = settings_.bias == Bias::regularized ? settings_.bias_value : 0.0};
}

penalty::Regularizer Plan::penalty() const {
  if (const auto constraint = constraint_of(settings_)) return penalty::Regularizer(*constraint);
  const bool regularized = settings_.bias == Bias::regularized;
  std::vector<double> factors = factors_;
  std::vector<double> scales = scales_;
  if (regularized && !factors.empty()) factors.push_back(1.0);
  if (regularized && !scales.empty()) scales.push_back(1.0);
  return penalty::Separable(strength_, std::move(factors), std::move(scales));
}

problem::Problem Plan::problem(std::size_t output) const {
  return {.design = design(),
          .sample = {.targets = targets_.at(output), .weights = combined_, .weight_sum = weight_sum_},
          .loss = settings_.loss.scalar().value(),
          .penalty = penalty(),
          .free_bias = settings_.bias == Bias::free};
}

problem::MulticlassProblem Plan::multiclass() const {
  return {
      .design = design(),
      .sample = {.targets = class_of_, .classes = classes_.size(), .weights = combined_, .weight_sum = weight_sum_},
      .loss = settings_.loss.vector().value(),
      .penalty = penalty(),
      .free_bias = settings_.bias == Bias::free};
}

}  // namespace fenchel::registry
