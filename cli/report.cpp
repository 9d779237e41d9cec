#include "cli/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/choices.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/penalty/constraint.hpp"

namespace fenchel::cli {
namespace {

std::string with_values(std::string text, const Parameters& parameters) {
  for (const auto& [name, value] : parameters) text += fmt::format(", {} = {}", name, value);
  return text;
}

std::string penalty_formula(const registry::Settings& settings, double lambda) {
  if (settings.direct) return fmt::format("{} ||w||_1 + {}/2 ||w||^2", settings.direct->l1, settings.direct->l2);
  if (std::holds_alternative<penalty::None>(settings.penalty)) return "no penalty";
  if (penalty::constraint_of(settings.penalty)) {
    const auto set = std::visit([](const auto& chosen) { return std::string(chosen.formula); }, settings.penalty);
    return with_values("constraint " + set, parameters_of(settings.penalty));
  }
  const auto shape = std::visit([](const auto& chosen) { return std::string(chosen.formula); }, settings.penalty);
  const bool sum = shape.find(" + ") != std::string::npos;
  return with_values(fmt::format(fmt::runtime(sum ? "{:.6g} * ({})" : "{:.6g} * {}"), lambda, shape),
                     parameters_of(settings.penalty));
}

}  // namespace

void print(std::string_view text) {
  const bool taken = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!taken) throw Error(Fault::failure, "standard output cannot be written (disk full, or its reader is gone)");
}

void print_json(const Json& object) { print(object.dump() + "\n"); }

void note(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }
void warn(std::string_view sentence) { note(fmt::format("fenchel: warning: {}\n", sentence)); }

bool on_terminal() { return ::isatty(STDERR_FILENO) == 1; }

std::string upward(double bound) {
  if (!std::isfinite(bound)) return "infinity";
  const auto shown = [](double value) { return fmt::format("{:.3g}", value); };
  std::string text = shown(bound);
  if (std::strtod(text.c_str(), nullptr) >= bound) return text;
  const double digit = std::pow(10.0, std::floor(std::log10(bound)) - 2.0);  // one unit of the third digit
  return shown(bound + digit);
}

Json finite(double value) {
  constexpr double most = std::numeric_limits<double>::max();
  return std::clamp(value, -most, most);
}

Json label(double value) {
  constexpr double exact_integers = 0x1p53;
  if (std::trunc(value) == value && std::fabs(value) <= exact_integers) return static_cast<std::int64_t>(value);
  return value;
}

Json labels(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(label(value));
  return list;
}

std::string label_list(std::span<const double> values) {
  constexpr std::size_t most = 10;
  const auto shown = values.first(std::min(most, values.size()));
  return fmt::format("{}{}", fmt::join(shown, " "), shown.size() < values.size() ? " ..." : "");
}

std::string formula(const registry::Settings& settings, double lambda, bool weighted) {
  const auto shape = std::visit([](const auto& chosen) { return std::string(chosen.formula); },
                                static_cast<const loss::Chosen::Variant&>(settings.loss));
  std::string bias = fmt::format("{} bias", model::name(settings.bias));
  if (settings.bias == registry::Bias::none) bias = "no bias";
  if (settings.bias == registry::Bias::regularized) bias += fmt::format(" of value {}", settings.bias_value);
  if (settings.standardize) bias += ", w_j times the deviation of feature j in the penalty";
  return fmt::format("{} {} [{}] + {}, {}", weighted ? "weighted mean" : "mean", loss::name(settings.loss),
                     with_values(shape, parameters_of(settings.loss)), penalty_formula(settings, lambda), bias);
}

void put_problem(Json& object, const registry::Settings& settings, double lambda,
                 const penalty::Strength& strength) {
  object["loss"] = loss::name(settings.loss);
  for (const auto& [name, value] : parameters_of(settings.loss)) object[name] = value;
  object["penalty"] = model::penalty_name(settings);
  if (!settings.direct) {
    for (const auto& [name, value] : parameters_of(settings.penalty)) object[name] = value;
  }
  object["lambda"] = finite(lambda);
  object["l1"] = finite(strength.l1);
  object["l2"] = finite(strength.l2);
  object["bias"] = model::name(settings.bias);
  if (settings.bias == registry::Bias::regularized) object["bias_value"] = settings.bias_value;
  if (settings.standardize) object["standardize"] = true;
}

void put_certificate(Json& object, const problem::Certificate& certificate) {
  object["primal"] = finite(certificate.primal);
  object["dual"] = finite(certificate.dual);
  object["gap"] = finite(certificate.gap);
  object["relative_gap"] = finite(certificate.relative_gap());
  object["rounding"] = finite(certificate.rounding);
}

std::string certificate_lines(const problem::Certificate& certificate) {
  return fmt::format("primal    {:.17g}\ndual      {:.17g}: the optimum is no lower\ngap       {} ({} relative)\n",
                     certificate.primal, certificate.dual, upward(certificate.gap),
                     upward(certificate.relative_gap()));
}

}  // namespace fenchel::cli
