#include "cli/warm_start.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/report.hpp"
#include "fenchel/base/error.hpp"

namespace fenchel::cli {
namespace {

void check_fit(const model::Model& model, const registry::Plan& plan, std::size_t features) {
  if (!std::ranges::equal(model.classes, plan.classes())) {
    const auto shown = [](std::span<const double> classes) {
      return classes.empty() ? std::string("none (a regression)") : label_list(classes);
    };
    throw Error(Fault::usage, fmt::format("--warm-start: the model has the classes {}, the data have {}",
                                          shown(model.classes), shown(plan.classes())));
  }
  if (model.features != features) {
    throw Error(Fault::usage,
                fmt::format("--warm-start: the model has {} features, the data have {}", model.features, features));
  }
}

// The weights and the bias of an output of the plan. Between losses of one score and of one a class, two classes have one
// output or two.
void take_weights(const model::Model& model, std::size_t outputs, std::size_t k, std::vector<double>& w,
                  double& b) {
  const auto combine = [&](double of_first, double of_second) {
    w.assign(model.w(0).begin(), model.w(0).end());
    const std::size_t second = model.outputs.size() - 1;
    for (std::size_t j = 0; j < w.size(); ++j) w[j] = of_first * w[j] + of_second * model.w(second)[j];
    b = of_first * model.bias(0) + of_second * model.bias(second);
  };
  if (outputs == model.outputs.size()) {
    w.assign(model.w(k).begin(), model.w(k).end());
    b = model.bias(k);
  } else if (outputs == 1) {
    combine(-1.0, 1.0);  // the larger class against the smaller one
  } else {
    combine(0.0, k == 0 ? -0.5 : 0.5);
  }
}

}  // namespace

WarmStart::WarmStart(const model::Model& model, const registry::Plan& plan, std::size_t features) {
  check_fit(model, plan, features);
  for (std::size_t k = 0; k < plan.outputs(); ++k) {
    Point point;
    double bias = 0.0;
    take_weights(model, plan.outputs(), k, point.w, bias);
    if (plan.settings().bias == registry::Bias::free) point.b = bias;
    if (plan.settings().bias == registry::Bias::regularized) point.w.push_back(bias / plan.settings().bias_value);
    if (model.rows == plan.rows() && model.joint() == plan.joint()) {
      point.alpha = registry::unweighted(model.outputs[k].beta, plan.combined_weights());
    }
    points_.push_back(std::move(point));
  }
  if (model.joint() != plan.joint()) {
    note_ = fmt::format(
        "--warm-start: the duals of a model of {} do not fit {}: only the weights are taken, and a solver that "
        "works on "
        "the dual (sdca) starts from zero",
        loss::name(model.settings.loss), loss::name(plan.settings().loss));
  } else if (model.rows != plan.rows()) {
    note_ = fmt::format(
        "--warm-start: the model's dual point belongs to {} rows, the data have {}: only the weights are "
        "taken, and a solver that works on the dual (sdca) starts from zero",
        model.rows, plan.rows());
  }
}

std::vector<solver::Start> WarmStart::starts() const {
  std::vector<solver::Start> list;
  for (const Point& point : points_) list.push_back({.w = point.w, .b = point.b, .alpha = point.alpha});
  return list;
}

}  // namespace fenchel::cli
