#include "fenchel/model/header.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fenchel/base/error.hpp"
#include "fenchel/base/version.hpp"

namespace fenchel::model {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void invalid(const std::string& reason) {
  throw Error(Fault::input, fmt::format("is not a valid model: {}", reason));
}

// --- values that must come back exactly, infinities included ---

std::string hexadecimal(double value) { return fmt::format("{:a}", value); }

// Independent of the locale, which strtod is not.
double from_hexadecimal(std::string_view text, std::string_view what) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  double value = std::numeric_limits<double>::quiet_NaN();
  if (digits == "inf") {
    value = infinity;
  } else if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
    double parsed = 0.0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, code] = std::from_chars(digits.data(), end, parsed, std::chars_format::hex);
    if (code == std::errc{} && stop == end && !digits.starts_with('-')) value = parsed;
  }
  if (std::isnan(value)) invalid(fmt::format("{} is not a hexadecimal number", what));
  return negative ? -value : value;
}

// --- typed access, because the JSON library converts silently ---

const Json& member(const Json& object, const char* key) {
  if (!object.is_object()) invalid(fmt::format("the header has no object around '{}'", key));
  const auto found = object.find(key);
  if (found == object.end()) invalid(fmt::format("the header lacks '{}'", key));
  return *found;
}

double number(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number()) invalid(fmt::format("'{}' is not a number", key));
  return value.get<double>();
}

std::optional<double> optional_number(const Json& object, const char* key) {
  if (member(object, key).is_null()) return std::nullopt;
  return number(object, key);
}

std::uint64_t whole(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number_unsigned()) invalid(fmt::format("'{}' is not a whole number", key));
  return value.get<std::uint64_t>();
}

const std::string& text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_string()) invalid(fmt::format("'{}' is not a string", key));
  return value.get_ref<const std::string&>();
}

const Json& list(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_array()) invalid(fmt::format("'{}' is not a list", key));
  return value;
}

bool truth(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_boolean()) invalid(fmt::format("'{}' is not true or false", key));
  return value.get<bool>();
}

// Looks a value up by its name among all that there are.
template <class Value, std::size_t Count>
Value by_name(const std::string& wanted, const std::array<Value, Count>& all, const char* what) {
  for (const Value value : all) {
    if (name(value) == wanted) return value;
  }
  invalid(fmt::format("unknown {} '{}'", what, wanted));
}

// --- losses and penalties: whatever their fields say ---

template <class... Choice>
Json write_choice(const std::variant<Choice...>& any) {
  return std::visit(
      []<class T>(const T& chosen) {
        Json object = {{"name", T::name}};
        for (const auto& field : T::fields) object[std::string(field.name)] = chosen.*field.member;
        return object;
      },
      any);
}

template <class T>
T read_fields(const Json& object) {
  T chosen{};
  for (const auto& field : T::fields) {
    const double value = number(object, std::string(field.name).c_str());
    const bool inside =
        field.open ? field.low < value && value < field.high : field.low <= value && value <= field.high;
    if (!inside || !std::isfinite(value)) invalid(fmt::format("{} is out of range", field.name));
    chosen.*field.member = value;
  }
  return chosen;
}

template <class... Choice>
std::variant<Choice...> read_choice(const Json& object, std::type_identity<std::variant<Choice...>> /*list*/,
                                    const char* what) {
  const std::string& wanted = text(object, "name");
  std::optional<std::variant<Choice...>> found;
  const auto consider = [&]<class T>(std::type_identity<T>) {
    if (T::name == wanted) found = read_fields<T>(object);
  };
  (consider(std::type_identity<Choice>{}), ...);
  if (!found) invalid(fmt::format("unknown {} '{}'", what, wanted));
  return *found;
}

// --- the parts ---

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json write_settings(const registry::Settings& settings) {
  Json by_label = Json::array();
  for (const auto& [label, weight] : settings.class_weight.by_label)
    by_label.push_back(Json::array({label, weight}));
  Json direct = nullptr;
  if (settings.direct) direct = {{"l1", settings.direct->l1}, {"l2", settings.direct->l2}};
  return {{"loss", write_choice<>(static_cast<const loss::Chosen::Variant&>(settings.loss))},
          {"penalty", write_choice(settings.penalty)},
          {"lambda", optional(settings.lambda)},
          {"C", optional(settings.C)},
          {"direct", std::move(direct)},
          {"bias", name(settings.bias)},
          {"bias_value", settings.bias_value},
          {"class_weight", {{"balanced", settings.class_weight.balanced}, {"by_label", std::move(by_label)}}},
          {"standardize", settings.standardize},
          {"solver", settings.solver},
          {"seed", settings.seed}};
}

registry::Settings read_settings(const Json& object) {
  using registry::Bias;
  registry::Settings settings{
      .loss = read_choice(member(object, "loss"), std::type_identity<loss::Chosen::Variant>{}, "loss"),
      .penalty = read_choice(member(object, "penalty"), std::type_identity<penalty::Any>{}, "penalty"),
      .lambda = optional_number(object, "lambda"),
      .C = optional_number(object, "C"),
      .direct = {},
      .bias = by_name(text(object, "bias"), std::array{Bias::none, Bias::free, Bias::regularized}, "bias"),
      .bias_value = number(object, "bias_value"),
      .class_weight = {},
      .standardize = object.contains("standardize") && truth(object, "standardize"),  // files before it lack it
      .solver = text(object, "solver"),
      .seed = whole(object, "seed")};
  if (const Json& direct = member(object, "direct"); !direct.is_null()) {
    settings.direct = penalty::Strength{.l1 = number(direct, "l1"), .l2 = number(direct, "l2")};
  }
  const Json& class_weight = member(object, "class_weight");
  settings.class_weight.balanced = truth(class_weight, "balanced");
  for (const Json& pair : list(class_weight, "by_label")) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) {
      invalid("'by_label' is not a list of pairs of numbers");
    }
    settings.class_weight.by_label[pair[0].get<double>()] = pair[1].get<double>();
  }
  return settings;
}

Json write_output(const registry::Output& output) {
  const problem::Certificate& c = output.certificate;
  return {
      {"status", run::name(output.status)},
      {"passes", output.passes},
      {"certificate",
       {{"primal", c.primal},
        {"dual", c.dual},
        {"gap", c.gap},
        {"rounding", c.rounding},
        {"hexadecimal",
         {{"primal", hexadecimal(c.primal)},
          {"dual", hexadecimal(c.dual)},
          {"gap", hexadecimal(c.gap)},
          {"rounding", hexadecimal(c.rounding)}}}}},
      {"bias", hexadecimal(output.b)},
      {"bias_range", {{"low", hexadecimal(output.bias_range.low)}, {"high", hexadecimal(output.bias_range.high)}}}};
}

registry::Output read_output(const Json& object) {
  using run::Status;
  const auto exact = [](const Json& from, const char* key) { return from_hexadecimal(text(from, key), key); };
  const Json& numbers = member(member(object, "certificate"), "hexadecimal");
  const Json& range = member(object, "bias_range");
  registry::Output output;
  output.b = exact(object, "bias");
  output.certificate = {.primal = exact(numbers, "primal"),
                        .dual = exact(numbers, "dual"),
                        .gap = exact(numbers, "gap"),
                        .rounding = exact(numbers, "rounding")};
  output.bias_range = {.low = exact(range, "low"), .high = exact(range, "high")};
  output.status = by_name(
      text(object, "status"),
      std::array{Status::optimal, Status::time_limit, Status::max_passes, Status::interrupted, Status::stalled},
      "status");
  output.passes = number(object, "passes");
  return output;
}

ArrayEntry read_array(const Json& object) {
  const std::string& encoding = text(object, "encoding");
  if (encoding != "dense" && encoding != "sparse") invalid(fmt::format("unknown encoding '{}'", encoding));
  return {.name = text(object, "name"),
          .sparse = encoding == "sparse",
          .count = whole(object, "count"),
          .stored = whole(object, "stored"),
          .offset = whole(object, "offset")};
}

}  // namespace

std::string write_header(const Model& model, std::span<const ArrayEntry> arrays) {
  Json outputs = Json::array();
  for (const registry::Output& output : model.outputs) outputs.push_back(write_output(output));
  Json table = Json::array();
  for (const ArrayEntry& array : arrays) {
    table.push_back({{"name", array.name},
                     {"encoding", array.sparse ? "sparse" : "dense"},
                     {"count", array.count},
                     {"stored", array.stored},
                     {"offset", array.offset}});
  }
  const Json header = {{"fenchel", version},
                       {"settings", write_settings(model.settings)},
                       {"solver", model.solver},
                       {"lambda", model.lambda},
                       {"l1", model.strength.l1},
                       {"l2", model.strength.l2},
                       {"classes", model.classes},
                       {"data",
                        {{"rows", model.rows},
                         {"features", model.features},
                         {"nonzeros", model.nonzeros},
                         {"index_base", model.index_base},
                         {"precision", name(model.precision)},
                         {"fingerprint", model.fingerprint.hex()}}},
                       {"outputs", std::move(outputs)},
                       {"arrays", std::move(table)}};
  // Solver names and the like come from our own lists; should they ever hold bad UTF-8, a mark is better than a throw.
  return header.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Header read_header(std::string_view bytes) {
  const Json header = Json::parse(bytes, nullptr, false);
  if (header.is_discarded()) invalid("the header is not JSON");
  Header result;
  Model& model = result.model;
  model.written_by = text(header, "fenchel");
  model.settings = read_settings(member(header, "settings"));
  model.solver = text(header, "solver");
  model.lambda = number(header, "lambda");
  model.strength = {.l1 = number(header, "l1"), .l2 = number(header, "l2")};
  for (const Json& label : list(header, "classes")) {
    if (!label.is_number()) invalid("'classes' is not a list of numbers");
    model.classes.push_back(label.get<double>());
  }
  const Json& data = member(header, "data");
  model.rows = whole(data, "rows");
  model.features = whole(data, "features");
  model.nonzeros = whole(data, "nonzeros");
  const std::uint64_t base = whole(data, "index_base");
  if (base > 1) invalid("the index base is neither 0 nor 1");
  model.index_base = static_cast<int>(base);
  model.precision =
      by_name(text(data, "precision"), std::array{data::Precision::f64, data::Precision::f32}, "precision");
  const std::optional<data::Fingerprint> fingerprint = data::Fingerprint::parse(text(data, "fingerprint"));
  if (!fingerprint) invalid("the fingerprint is not 32 hexadecimal digits");
  model.fingerprint = *fingerprint;
  for (const Json& output : list(header, "outputs")) model.outputs.push_back(read_output(output));
  for (const Json& array : list(header, "arrays")) result.arrays.push_back(read_array(array));
  return result;
}

}  // namespace fenchel::model
