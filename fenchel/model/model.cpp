#include "fenchel/model/model.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace fenchel::model {

std::size_t Model::nonzero_weights() const {
  std::size_t count = 0;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    count += static_cast<std::size_t>(std::ranges::count_if(w(k), [](double weight) { return weight != 0.0; }));
  }
  return count;
}

std::string_view penalty_name(const registry::Settings& settings) {
  if (settings.direct) {
    const penalty::Strength& direct = *settings.direct;
    if (direct.unpenalized()) return penalty::None::name;
    if (direct.l1 == 0.0) return penalty::L2::name;
    return direct.l2 == 0.0 ? penalty::L1::name : penalty::ElasticNet::name;
  }
  return std::visit([](const auto& penalty) { return std::string_view(penalty.name); }, settings.penalty);
}

std::string_view name(registry::Bias bias) {
  switch (bias) {
    case registry::Bias::none: return "none";
    case registry::Bias::free: return "free";
    case registry::Bias::regularized: return "regularized";
  }
  return "";
}

std::string_view name(data::Precision precision) { return precision == data::Precision::f64 ? "f64" : "f32"; }

Model make_model(const registry::Plan& plan, registry::Fit&& fit, const data::Dataset& dataset) {
  const data::Matrix matrix = dataset.matrix();
  return {.settings = plan.settings(),
          .solver = std::move(fit.solver),
          .lambda = plan.lambda(),
          .strength = plan.strength(),
          .classes = {plan.classes().begin(), plan.classes().end()},
          .outputs = std::move(fit.outputs),
          .features = data::cols(matrix),
          .rows = data::rows(matrix),
          .nonzeros = data::nonzeros(matrix),
          .index_base = dataset.index_base,
          .precision = dataset.precision,
          .weights = {plan.sample_weights().begin(), plan.sample_weights().end()},
          .factors = {plan.penalty_factors().begin(), plan.penalty_factors().end()},
          .scales = {plan.scales().begin(), plan.scales().end()},
          .fingerprint = data::fingerprint(matrix, dataset.targets, plan.sample_weights()),
          .written_by = {}};
}

}  // namespace fenchel::model
