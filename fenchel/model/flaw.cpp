// What a model must be like to go into a file or to come out of one.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "fenchel/model/header.hpp"

namespace fenchel::model {

namespace {

bool finite(double x) { return std::isfinite(x); }
bool strength_like(double x) { return finite(x) && x >= 0.0; }
bool all_finite(std::span<const double> values) { return std::ranges::all_of(values, finite); }
bool all_weights(std::span<const double> values) { return std::ranges::all_of(values, strength_like); }

bool sound(const penalty::Strength& strength) { return strength_like(strength.l1) && strength_like(strength.l2); }

bool sound(const problem::Certificate& c) {
  return finite(c.primal) && finite(c.dual) && strength_like(c.gap) && strength_like(c.rounding) &&
         c.rounding <= c.gap;
}

std::optional<std::string> flaw(const registry::Settings& settings) {
  if (settings.lambda && !strength_like(*settings.lambda)) return "lambda is negative or not finite";
  if (settings.C && !(finite(*settings.C) && *settings.C > 0.0)) return "C is not positive and finite";
  if (settings.direct && !sound(*settings.direct)) return "a penalty strength is negative or not finite";
  if (!finite(settings.bias_value) || settings.bias_value == 0.0) return "the bias value is zero or not finite";
  for (const auto& [label, weight] : settings.class_weight.by_label) {
    if (!finite(label) || !strength_like(weight)) return "a class weight is negative or not finite";
  }
  return std::nullopt;
}

std::optional<std::string> flaw(const Model& model, const registry::Output& output) {
  const std::size_t constant = model.settings.bias == registry::Bias::regularized ? 1 : 0;
  if (output.w.size() != model.features + constant) return "the number of weights does not fit the features";
  if (output.beta.size() != model.rows) return "the number of dual variables does not fit the rows";
  if (!all_finite(output.w) || !finite(output.b)) return "a weight is not finite";
  if (!all_finite(output.beta)) return "a dual variable is not finite";
  if (!sound(output.certificate)) return "the certificate is not a finite bound";
  if (output.b != 0.0 && model.settings.bias != registry::Bias::free) return "a free bias where none was asked for";
  if (!(output.bias_range.low <= output.bias_range.high)) return "the range of the bias is empty";
  if (!strength_like(output.passes)) return "the number of passes is negative or not finite";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> flaw(const Model& model) {
  if (auto found = flaw(model.settings)) return found;
  if (!strength_like(model.lambda) || !sound(model.strength)) return "a penalty strength is negative or not finite";
  if (model.rows == 0) return "it was trained on no rows";
  if (!all_finite(model.classes)) return "a class is not finite";
  if (std::ranges::adjacent_find(model.classes, std::greater_equal{}) != model.classes.end()) {
    return "the classes do not ascend";
  }
  const bool regression = loss::task(model.settings.loss) == loss::Task::regression;
  if (regression ? !model.classes.empty() : model.classes.size() < 2) return "the classes do not fit the loss";
  const bool output_a_class = model.joint() || model.classes.size() > 2;
  if (model.outputs.size() != (output_a_class ? model.classes.size() : 1)) {
    return fmt::format("{} outputs do not fit {} classes", model.outputs.size(), model.classes.size());
  }
  if (!model.weights.empty() && model.weights.size() != model.rows) return "the sample weights do not fit the rows";
  if (!model.factors.empty() && model.factors.size() != model.features) {
    return "the penalty factors do not fit the features";
  }
  if (model.settings.standardize ? model.scales.size() != model.features : !model.scales.empty()) {
    return "the scales do not fit the features";
  }
  if (!std::ranges::all_of(model.scales, [](double s) { return finite(s) && s > 0.0; })) {
    return "a scale is not positive and finite";
  }
  if (!all_weights(model.weights) || !all_weights(model.factors)) {
    return "a sample weight or penalty factor is negative or not finite";
  }
  for (const registry::Output& output : model.outputs) {
    if (auto found = flaw(model, output)) return found;
  }
  return std::nullopt;
}

}  // namespace fenchel::model
