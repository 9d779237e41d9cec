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

// alpha_i = beta_i / c_i; rows of weight 0 have no part in the problem.
std::vector<double> unweighted(std::vector<double> beta, const risk::Sample& sample) {
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const double c = sample.weight(i);
    beta[i] = c > 0.0 ? beta[i] / c : 0.0;
  }
  return beta;
}

}  // namespace

WarmStart::WarmStart(const model::Model& model, const registry::Plan& plan, std::size_t features) {
  check_fit(model, plan, features);
  for (std::size_t k = 0; k < plan.outputs(); ++k) {
    const problem::Problem problem = plan.problem(k);
    Point point;
    point.w.assign(model.w(k).begin(), model.w(k).end());
    if (problem.free_bias) point.b = model.bias(k);
    if (plan.settings().bias == registry::Bias::regularized) {
      point.w.push_back(model.bias(k) / plan.settings().bias_value);
    }
    const std::vector<double>& beta = model.outputs[k].beta;
    if (beta.size() == problem.rows()) point.alpha = unweighted(beta, problem.sample);
    points_.push_back(std::move(point));
  }
  if (model.rows != plan.problem(0).rows()) {
    note_ = fmt::format(
        "--warm-start: the model's dual point belongs to {} rows, the data have {}: only the weights are "
        "taken, and a solver that works on the dual (sdca) starts from zero",
        model.rows, plan.problem(0).rows());
  }
}

std::vector<solver::Start> WarmStart::starts() const {
  std::vector<solver::Start> list;
  for (const Point& point : points_) list.push_back({.w = point.w, .b = point.b, .alpha = point.alpha});
  return list;
}

}  // namespace fenchel::cli
