#include "fenchel/model/export.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fenchel/base/atomic_file.hpp"
#include "fenchel/base/error.hpp"

namespace fenchel::model {

namespace {

// --- LIBLINEAR ---

// The solver that fits best by loss and penalty. LIBLINEAR only asks it for the kind of prediction and whether there are
// probabilities, so a loss it does not have may borrow a neighbour's.
std::string_view solver_type(const Model& model) {
  const bool lasso = model.strength.l1 > 0.0 && model.strength.l2 == 0.0;
  return std::visit(
      [&]<class L>(const L&) -> std::string_view {
        using namespace loss;
        if (VectorLoss<L>) return "MCSVM_CS";  // the only one with a score for every class, two included
        if (std::is_same_v<L, Logistic>) return lasso ? "L1R_LR" : "L2R_LR";
        if (std::is_same_v<L, Hinge>) return "L2R_L1LOSS_SVC_DUAL";
        if (L::task == Task::classification) return lasso ? "L1R_L2LOSS_SVC" : "L2R_L2LOSS_SVC";
        const bool linear =
            std::is_same_v<L, Absolute> || std::is_same_v<L, Quantile> || std::is_same_v<L, EpsilonInsensitive>;
        return linear ? "L2R_L1LOSS_SVR_DUAL" : "L2R_L2LOSS_SVR";
      },
      static_cast<const loss::Chosen::Variant&>(model.settings.loss));
}

std::int32_t label_of(double label) {
  constexpr double low = std::numeric_limits<std::int32_t>::min(), high = std::numeric_limits<std::int32_t>::max();
  if (std::trunc(label) != label || label < low || label > high) {
    throw Error(Fault::usage,
                fmt::format("class {} is not a 32-bit integer, as LIBLINEAR's labels are: use --format csv, "
                            "json or npy",
                            label));
  }
  return static_cast<std::int32_t>(label);
}

std::string liblinear(const Model& model) {
  const bool has_bias = model.settings.bias != registry::Bias::none;
  std::string text = fmt::format("solver_type {}\nnr_class {}\n", solver_type(model),
                                 std::max<std::size_t>(model.classes.size(), 2));
  const auto out = std::back_inserter(text);
  if (!model.classes.empty()) {
    std::vector<double> order = model.classes;
    if (order.size() == 2 && !model.joint())
      std::ranges::reverse(order);  // a positive score means the larger class, which comes first
    text += "label";
    for (const double label : order) fmt::format_to(out, " {}", label_of(label));
    text += '\n';
  }
  fmt::format_to(out, "nr_feature {}\nbias {}\nw\n", model.features, has_bias ? 1 : -1);
  // Of two classes with a score each, LIBLINEAR predicts the first one where its score is positive: only the difference
  // counts, and each takes half of it.
  const bool two_scores = model.joint() && model.outputs.size() == 2;
  const auto add_row = [&](auto&& value_of) {
    for (std::size_t k = 0; k < model.outputs.size(); ++k) {
      fmt::format_to(out, "{:.17g} ", two_scores ? 0.5 * value_of(k) - 0.5 * value_of(1 - k) : value_of(k));
    }
    text += '\n';
  };
  for (std::size_t j = 0; j < model.features; ++j) add_row([&](std::size_t k) { return model.w(k)[j]; });
  if (has_bias) add_row([&](std::size_t k) { return model.bias(k); });
  return text;
}

// --- CSV ---

std::string csv(const Model& model) {
  std::string text = "feature";
  const auto out = std::back_inserter(text);
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    model.outputs.size() == 1 ? fmt::format_to(out, ",weight") : fmt::format_to(out, ",{}", model.classes[k]);
  }
  text += '\n';
  for (std::size_t j = 0; j < model.features; ++j) {
    fmt::format_to(out, "{}", j + static_cast<std::size_t>(model.index_base));
    for (std::size_t k = 0; k < model.outputs.size(); ++k) fmt::format_to(out, ",{}", model.w(k)[j]);
    text += '\n';
  }
  text += "bias";
  for (std::size_t k = 0; k < model.outputs.size(); ++k) fmt::format_to(out, ",{}", model.bias(k));
  text += '\n';
  return text;
}

// --- JSON ---

// The library's shortest form of a double is a JSON number that reads back as the same double.
std::string json_list(std::span<const double> values) { return fmt::format("[{}]", fmt::join(values, ",")); }

std::string json_weights(std::span<const double> w) {
  std::vector<std::size_t> indices;
  std::vector<double> values;
  for (std::size_t j = 0; j < w.size(); ++j) {
    if (w[j] == 0.0) continue;
    indices.push_back(j);
    values.push_back(w[j]);
  }
  std::string dense = json_list(w);
  std::string sparse = fmt::format(R"({{"indices":[{}],"values":{}}})", fmt::join(indices, ","), json_list(values));
  return sparse.size() < dense.size() ? sparse : dense;
}

// A constraint says nothing without it.
std::string json_radius(const registry::Settings& settings) {
  return std::visit(
      []<class P>(const P& penalty) -> std::string {
        if constexpr (requires { penalty.radius; }) return fmt::format(R"(,"radius":{})", penalty.radius);
        return {};
      },
      settings.penalty);
}

std::string json(const Model& model) {
  std::vector<std::string> weights;
  std::vector<double> bias;
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    weights.push_back(json_weights(model.w(k)));
    bias.push_back(model.bias(k));
  }
  const bool single = model.outputs.size() == 1;
  return fmt::format(
      R"({{"weights":{},"bias":{},"classes":{},"loss":"{}","penalty":"{}"{},"lambda":{},"l1":{},"l2":{}}})"
      "\n",
      single ? weights.front() : fmt::format("[{}]", fmt::join(weights, ",")),
      single ? fmt::format("{}", bias.front()) : json_list(bias), json_list(model.classes),
      loss::name(model.settings.loss), penalty_name(model.settings), json_radius(model.settings), model.lambda,
      model.strength.l1, model.strength.l2);
}

// --- NumPy ---

void append_little_endian(std::string& bytes, double value) {
  std::array<char, sizeof value> raw;
  std::memcpy(raw.data(), &value, sizeof value);
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(raw);
  bytes.append(raw.data(), raw.size());
}

std::string npy(const Model& model) {
  using namespace std::string_view_literals;
  const std::string shape = model.outputs.size() == 1
                                ? fmt::format("({},)", model.features)
                                : fmt::format("({}, {})", model.outputs.size(), model.features);
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}", shape);
  // Magic, version 1.0 and a 16-bit length come before; the whole is padded to a multiple of 64 and ends a line.
  constexpr std::size_t before = 10, alignment = 64;
  header.resize((before + header.size() + alignment) / alignment * alignment - before - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00"sv);
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  bytes += header;
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    for (const double weight : model.w(k)) append_little_endian(bytes, weight);
  }
  return bytes;
}

struct Format {
  std::string_view name;
  std::string (*write)(const Model&);
};
constexpr std::array<Format, 4> formats{{{"liblinear", liblinear}, {"csv", csv}, {"json", json}, {"npy", npy}}};

}  // namespace

std::span<const std::string_view> export_formats() {
  static const auto names = [] {
    std::array<std::string_view, formats.size()> list;
    std::ranges::transform(formats, list.begin(), &Format::name);
    return list;
  }();
  return names;
}

std::string export_bytes(const Model& model, std::string_view format) {
  const auto found = std::ranges::find(formats, format, &Format::name);
  if (found == formats.end()) {
    throw Error(Fault::usage, fmt::format("unknown export format '{}': use one of {}", format,
                                          fmt::join(export_formats(), ", ")));
  }
  return found->write(model);
}

void export_file(const Model& model, std::string_view format, const std::string& path) {
  write_file(path, export_bytes(model, format));
}

}  // namespace fenchel::model
