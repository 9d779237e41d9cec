#include "fenchel/model/audit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/rounding.hpp"
#include "fenchel/data/pages.hpp"
#include "fenchel/model/header.hpp"
#include "fenchel/problem/multiclass_certificate.hpp"

namespace fenchel::model {

namespace {

// Weights of more columns than there were: zeros before the constant's.
std::vector<double> stretched(std::span<const double> w, std::size_t features, std::size_t columns) {
  std::vector<double> result(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(features));
  result.resize(columns, 0.0);
  result.insert(result.end(), w.begin() + static_cast<std::ptrdiff_t>(features), w.end());
  return result;
}

// One vector a class -> the numbers of all classes side by side.
template <class Items, class Get>
std::vector<double> side_by_side(const Items& items, Get&& get) {
  const std::size_t k = items.size();
  std::vector<double> all(get(items.front()).size() * k);
  for (std::size_t l = 0; l < k; ++l) {
    const std::span<const double> values = get(items[l]);
    for (std::size_t i = 0; i < values.size(); ++i) all[i * k + l] = values[i];
  }
  return all;
}

std::vector<double> stretched_factors(std::vector<double> factors, std::size_t columns) {
  if (!factors.empty()) factors.resize(columns, 1.0);
  return factors;
}

// Why a claim does not stand against what was recomputed; nothing if it does. Comparisons are written so that NaN fails.
std::optional<std::string> refutation(const problem::Certificate& claimed, const problem::Certificate& found,
                                      double primal_error) {
  if (!claimed.valid() || !(claimed.gap >= 0.0)) return "the model claims no bound";
  if (!found.valid()) return "a stored point is infeasible or the numbers overflow, so that no bound can be given";
  if (!(found.gap <= claimed.gap + found.rounding)) {
    return fmt::format("the gap is {:.6g}, not {:.6g} as claimed", found.gap, claimed.gap);
  }
  // Another order of summation may move the values by their rounding errors, on either side.
  const double slack = widen(4 * primal_error + 2 * found.rounding + 16 * unit_roundoff * std::fabs(found.primal));
  if (!(std::fabs(found.primal - claimed.primal) <= slack)) {
    return fmt::format("the primal value is {:.17g}, not {:.17g} as claimed", found.primal, claimed.primal);
  }
  // Both dual values are a lower bound on the primal one less their gap.
  const double expected = found.dual + (found.gap - claimed.gap);
  if (!(std::fabs(expected - claimed.dual) <= slack)) {
    return fmt::format("the dual value is {:.17g}, not {:.17g} as claimed", found.dual, claimed.dual);
  }
  return std::nullopt;
}

// Whether the claimed interval holds the proved one, up to roundings.
bool proved(Interval claimed, Interval found) {
  const double slack = std::isfinite(found.high - found.low) ? 1e-9 * (found.high - found.low) : 0.0;
  return claimed.low <= found.low + slack && claimed.high >= found.high - slack;
}

std::optional<std::string> differs(const Model& model, const data::Dataset& dataset) {
  if (dataset.rows() != model.rows) {
    return fmt::format("these are not the data of the model: {} rows instead of {}", dataset.rows(), model.rows);
  }
  const data::Fingerprint found = data::fingerprint(dataset.matrix(), dataset.targets, model.weights);
  if (found == model.fingerprint) return std::nullopt;
  return fmt::format("these are not the data of the model: their fingerprint is {} instead of {}", found.hex(),
                     model.fingerprint.hex());
}

std::optional<std::string> differs(const Model& model, const registry::Plan& plan) {
  if (!std::ranges::equal(plan.classes(), model.classes) || plan.outputs() != model.outputs.size()) {
    return "the classes of the data are not those of the model";
  }
  const penalty::Strength strength = plan.strength();
  if (plan.lambda() != model.lambda || strength.l1 != model.strength.l1 || strength.l2 != model.strength.l2) {
    return fmt::format("the settings give lambda = {:.17g}, not {:.17g} as stored", plan.lambda(), model.lambda);
  }
  return std::nullopt;
}

Audit refuted(std::string reason) {
  Audit audit;
  audit.reason = std::move(reason);
  return audit;
}

Audit recompute_jointly(const Model& model, const registry::Plan& plan, std::size_t columns) {
  const problem::MulticlassProblem problem = plan.multiclass();
  const problem::MulticlassCertifier certifier(problem);
  std::vector<std::vector<double>> weights;
  std::vector<double> b;
  for (const registry::Output& output : model.outputs) {
    weights.push_back(stretched(output.w, model.features, columns));
    b.push_back(output.b);
  }
  const problem::MulticlassPrimal primal =
      certifier.primal(side_by_side(weights, [](const auto& w) { return std::span<const double>(w); }),
                       problem.free_bias ? std::span(b) : std::span<double>());
  const problem::MulticlassDual dual = certifier.dual_as_given(
      side_by_side(model.outputs, [](const registry::Output& o) { return std::span<const double>(o.beta); }));
  Audit audit;
  audit.total = certifier.pair(primal, dual);
  for (const registry::Output& output : model.outputs) {
    audit.outputs.push_back(audit.total);
    const bool range_claimed = output.bias_range.low != -infinity || output.bias_range.high != infinity;
    const auto why = range_claimed
                         ? std::optional<std::string>("a range of the free bias is claimed, but none is proved")
                         : refutation(output.certificate, audit.total, primal.value - primal.value_low);
    if (why && audit.reason.empty()) audit.reason = *why;
  }
  audit.certified = audit.reason.empty() && audit.total.valid();
  return audit;
}

Audit recompute(const Model& model, const data::Dataset& dataset) {
  const std::size_t columns = data::cols(dataset.matrix());
  const registry::Plan plan(dataset, model.settings, model.weights, stretched_factors(model.factors, columns),
                            stretched_factors(model.scales, columns));
  if (const auto difference = differs(model, plan)) return refuted(*difference);

  if (model.joint()) return recompute_jointly(model, plan, columns);
  Audit audit;
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    const registry::Output& output = model.outputs[k];
    const problem::Certifier certifier(plan.problem(k));
    const problem::PrimalPoint primal = certifier.primal(stretched(output.w, model.features, columns), output.b);
    const problem::DualPoint dual = certifier.dual_as_given(output.beta);
    const problem::Certificate found = certifier.pair(primal, dual);
    audit.outputs.push_back(found);
    auto why = refutation(output.certificate, found, primal.value - primal.value_low);
    if (!why && !proved(output.bias_range, certifier.bias_range(primal, dual, output.certificate))) {
      why = "the stored range of the free bias is narrower than what the dual point proves";
    }
    if (why && audit.reason.empty()) {
      audit.reason = model.outputs.size() == 1 ? *why : fmt::format("class {}: {}", model.classes[k], *why);
    }
  }
  audit.total = total_of(audit.outputs);
  audit.certified = audit.reason.empty() && audit.total.valid();
  if (!audit.certified && audit.reason.empty()) audit.reason = "the sum of the gaps overflows";
  return audit;
}

}  // namespace

Audit audit(const Model& model, const data::Dataset& dataset) {
  if (const auto found = flaw(model)) return refuted("the model is broken: " + *found);
  if (const auto difference = differs(model, dataset)) return refuted(*difference);
  try {
    // With the right fingerprint, columns that one side lacks are empty.
    if (data::cols(dataset.matrix()) >= model.features) return recompute(model, dataset);
    return recompute(model, with_columns(dataset, model.features));
  } catch (const Error& error) {
    // Settings that do not fit the data they claim to have been fitted to.
    return refuted(error.what());
  }
}

data::Dataset with_columns(data::Dataset dataset, std::size_t columns) {
  if (columns <= data::cols(dataset.matrix())) return dataset;
  if (auto* const sparse = std::get_if<data::CsrStorage>(&dataset.storage)) {
    sparse->column_count = columns;
    return dataset;
  }
  auto& dense = std::get<data::DenseStorage>(dataset.storage);
  std::visit(
      [&]<class Value>(data::Array<Value>& values) {
        data::Buffer<Value> wider(dense.row_count * columns);
        for (std::size_t i = 0; i < dense.row_count; ++i) {
          if (dataset.guard) dataset.guard->ensure(i);
          std::copy_n(values.begin() + i * dense.column_count, dense.column_count, wider.data() + i * columns);
        }
        values = std::move(wider).freeze();
      },
      dense.values);
  dense.column_count = columns;
  dataset.guard = nullptr;
  return dataset;
}

Point point_of(const Foreign& foreign, const registry::Plan& plan, std::size_t output) {
  if (foreign.w.size() != plan.outputs()) {
    throw Error(Fault::input, fmt::format("the model has {} outputs, but this loss and these data have {}",
                                          foreign.w.size(), plan.outputs()));
  }
  if (!std::ranges::equal(foreign.classes, plan.classes())) {
    throw Error(Fault::input, foreign.classes.empty()  ? "the model is a regression, but the loss takes classes"
                              : plan.classes().empty() ? "the model has classes, but the loss is a regression loss"
                                                       : "the classes of the data are not those of the model");
  }
  const std::size_t features = plan.features();
  if (foreign.features() > features) {
    throw Error(Fault::input,
                fmt::format("the model has {} features, but the data have {}", foreign.features(), features));
  }
  Point point{.w = foreign.w[output], .b = 0.0, .alpha = {}, .beta = {}};
  point.w.resize(features, 0.0);
  const double bias = foreign.bias[output];
  switch (plan.settings().bias) {
    case registry::Bias::none:
      if (bias != 0.0) throw Error(Fault::usage, "the model has a bias: say --bias free or --bias regularized");
      break;
    case registry::Bias::free: point.b = bias; break;
    case registry::Bias::regularized: {
      const bool same_constant =
          foreign.bias_value == plan.settings().bias_value && !foreign.constant_weights.empty();
      point.w.push_back(same_constant ? foreign.constant_weights[output] : bias / plan.settings().bias_value);
    }
  }
  return point;
}

problem::Certificate audit_point(const registry::Plan& plan, std::size_t output, const Point& point) {
  const problem::Problem problem = plan.problem(output);
  const problem::Certifier certifier(problem);
  if (const auto& constraint = problem.penalty.constraint();
      constraint && !penalty::contains(*constraint, point.w)) {
    throw Error(Fault::input,
                "the weights do not lie in the constraint, or only up to a rounding that their sums leave open");
  }
  const problem::PrimalPoint primal = certifier.primal(point.w, point.b);
  problem::Certificate best = certifier.pair(primal, certifier.dual_of(primal));
  const auto consider = [&](const problem::DualPoint& dual) {
    const problem::Certificate pair = certifier.pair(primal, dual);
    if (pair.gap < best.gap) best = pair;
  };
  // Where the bias is not the best one, the dual point of the best one is closer to being feasible.
  if (problem.free_bias) consider(certifier.dual_of(certifier.primal_with_best_bias(point.w, point.b)));
  consider(certifier.dual(std::vector<double>(problem.rows(), 0.0)));  // feasible always
  if (!point.alpha.empty()) consider(certifier.dual(point.alpha));
  if (!point.beta.empty()) consider(certifier.dual_as_given(point.beta));
  return best;
}

problem::Certificate audit_jointly(const registry::Plan& plan, std::span<const Point> points) {
  const problem::MulticlassProblem problem = plan.multiclass();
  const problem::MulticlassCertifier certifier(problem);
  const std::vector<double> w = side_by_side(points, [](const Point& p) { return std::span(p.w); });
  std::vector<double> b;
  for (const Point& point : points) b.push_back(point.b);
  const problem::MulticlassPrimal primal =
      certifier.primal(w, problem.free_bias ? std::span(b) : std::span<double>());
  problem::Certificate best = certifier.pair(primal, certifier.dual_of(primal));
  const auto consider = [&](const problem::MulticlassDual& dual) {
    const problem::Certificate pair = certifier.pair(primal, dual);
    if (pair.gap < best.gap) best = pair;
  };
  if (problem.free_bias) consider(certifier.dual_of(certifier.primal_with_best_bias(w, b)));
  consider(certifier.dual(std::vector<double>(problem.rows() * problem.classes(), 0.0)));  // feasible always
  const bool given = std::ranges::all_of(points, [&](const Point& p) { return p.beta.size() == problem.rows(); });
  if (given)
    consider(certifier.dual_as_given(side_by_side(points, [](const Point& p) { return std::span(p.beta); })));
  return best;
}

problem::Certificate total_of(const std::vector<problem::Certificate>& outputs) {
  std::vector<registry::Output> holders(outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) holders[k].certificate = outputs[k];
  return registry::total_of(holders);
}

}  // namespace fenchel::model
