// fenchel info: what is in a data or model file.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/data_input.hpp"
#include "cli/model_input.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/model/file.hpp"

namespace fenchel::cli {
namespace {

struct Info {
  std::string path;
  OutputOptions output;
  DataOptions data;
};

constexpr std::size_t most_labels = 20;

// Objects as lines `key  value`; nested ones are indented.
std::string lines_of(const Json& object, std::size_t indent = 0) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    const std::string name = std::string(indent, ' ') + key;
    if (value.is_object()) {
      text += name + "\n" + lines_of(value, indent + 2);
    } else if (value.is_array() && !value.empty() && value.front().is_object()) {
      text += name + "\n";
      for (const Json& item : value) text += lines_of(item, indent + 2) + "\n";
      text.pop_back();
    } else {
      text += fmt::format("{:<22} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return text;
}

Json label_counts(std::span<const double> targets) {
  std::map<double, std::size_t> counts;
  for (const double target : targets) ++counts[target];
  std::vector<std::pair<double, std::size_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  Json top = Json::object();
  for (const auto& [value, count] : order) {
    if (top.size() == most_labels) break;
    top[fmt::format("{}", value)] = count;
  }
  return {{"distinct", counts.size()},
          {"smallest", label(counts.begin()->first)},
          {"largest", label(counts.rbegin()->first)},
          {"most_frequent", std::move(top)}};
}

struct Columns {
  std::size_t empty = 0;
  std::size_t nonzeros = 0;
  double smallest = infinity;
  double largest = -infinity;
};

Columns look_at_columns(const data::Matrix& matrix) {
  Columns columns;
  std::vector<bool> seen(data::cols(matrix));
  std::visit(
      [&](const auto& rows) {
        for (std::size_t i = 0; i < rows.rows(); ++i) {
          rows.row(i).for_each([&](std::size_t j, double value) {
            if (value == 0.0) return;
            seen[j] = true;
            ++columns.nonzeros;
            columns.smallest = std::min(columns.smallest, value);
            columns.largest = std::max(columns.largest, value);
          });
        }
      },
      matrix);
  columns.empty = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), false));
  return columns;
}

struct Storage {
  std::size_t bytes = 0;
  std::string name;
};

Storage storage_of(const data::Dataset& dataset) {
  return std::visit(
      []<class Kind>(const Kind& kind) {
        constexpr bool sparse = std::is_same_v<Kind, data::CsrStorage>;
        Storage found = std::visit(
            []<class Value>(const data::Array<Value>& values) {
              return Storage{values.size() * sizeof(Value), sizeof(Value) == 4 ? "float32" : "float64"};
            },
            kind.values);
        if constexpr (sparse) found.bytes += kind.columns.size() * 4 + kind.offsets.size() * 8;
        found.name += sparse ? ", sparse rows" : ", dense rows";
        return found;
      },
      dataset.storage);
}

Json describe(const data::Dataset& dataset, const std::string& path) {
  const data::Matrix matrix = dataset.matrix();
  const std::size_t n = data::rows(matrix);
  const std::size_t d = data::cols(matrix);
  const Columns columns = look_at_columns(matrix);
  const std::vector<double> norms = data::LinearMap({.matrix = matrix}).row_square_norms({});
  const auto [least, most] = std::minmax_element(norms.begin(), norms.end());
  const Storage storage = storage_of(dataset);
  const double cells = static_cast<double>(n) * static_cast<double>(d);
  Json object{{"kind", "data"},
              {"path", path},
              {"rows", n},
              {"features", d},
              {"nonzeros", columns.nonzeros},
              {"density", cells > 0.0 ? static_cast<double>(columns.nonzeros) / cells : 0.0},
              {"empty_columns", columns.empty},
              {"index_base", dataset.index_base}};
  if (columns.nonzeros > 0) object["values"] = {{"smallest", columns.smallest}, {"largest", columns.largest}};
  object["row_norms"] = {{"smallest", finite(std::sqrt(*least))}, {"largest", finite(std::sqrt(*most))}};
  if (!dataset.targets.empty()) object["labels"] = label_counts(dataset.targets);
  object["storage"] = storage.name;
  object["memory_bytes"] = storage.bytes + 8 * n;
  return object;
}

Json describe(const model::Model& model, const std::string& path) {
  Json object{{"kind", "model"}, {"path", path}, {"written_by", "fenchel " + model.written_by}};
  problem::Certificate total = registry::total_of(model.outputs);
  put_certificate(object, total);
  put_problem(object, model.settings, model.lambda, model.strength);
  object["formula"] = formula(model.settings, model.lambda, model.weighted());
  object["solver"] = model.solver;
  object["seed"] = model.settings.seed;
  object["rows"] = model.rows;
  object["features"] = model.features;
  object["nonzeros"] = model.nonzeros;
  object["nonzero_weights"] = model.nonzero_weights();
  object["precision"] = model::name(model.precision);
  object["index_base"] = model.index_base;
  object["sample_weights"] = !model.weights.empty();
  object["penalty_factors"] = !model.factors.empty();
  object["standardize"] = model.settings.standardize;
  object["data_fingerprint"] = model.fingerprint.hex();
  if (!model.classes.empty()) object["classes"] = labels(model.classes);
  Json outputs = Json::array();
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    Json entry = Json::object();
    if (model.outputs.size() > 1) entry["class"] = label(model.classes[k]);
    entry["status"] = run::name(model.outputs[k].status);
    put_certificate(entry, model.outputs[k].certificate);
    entry["passes"] = model.outputs[k].passes;
    entry["bias"] = finite(model.bias(k));
    outputs.push_back(std::move(entry));
  }
  object["outputs"] = std::move(outputs);
  return object;
}

Json describe(const model::Foreign& foreign, const std::string& path) {
  Json object{{"kind", "model"}, {"path", path}, {"written_by", "LIBLINEAR"}, {"solver_type", foreign.solver_type}};
  if (foreign.loss) object["loss"] = loss::name(*foreign.loss);
  if (foreign.penalty) object["penalty"] = penalty_name(*foreign.penalty);
  object["features"] = foreign.features();
  object["outputs"] = foreign.w.size();
  object["bias_value"] = foreign.bias_value;
  if (!foreign.classes.empty()) object["classes"] = labels(foreign.classes);
  return object;
}

// The beginning is enough to tell models from data. Standard input cannot be read twice, and is taken for data.
bool begins_like_model(const std::string& path) {
  if (path == "-") return false;
  std::ifstream file(path, std::ios::binary);
  std::string start(4096, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return model::is_model(start) || model::is_liblinear(start);
}

int run_info(const Info& info) {
  info.output.check();
  Json object;
  if (begins_like_model(info.path)) {
    data::Source source(info.path);
    const AnyModel any = read_model(source, model_format(source, {}));
    object = std::visit([&](const auto& model) { return describe(model, info.path); }, any);
  } else {
    object = describe(read_data(info.path, info.data.resolve(), info.output), info.path);
  }
  if (info.output.json) {
    print_json(object);
  } else {
    print(lines_of(object));
  }
  return exit_done;
}

}  // namespace

Action add_info(CLI::App& app) {
  auto info = std::make_shared<Info>();
  CLI::App& command = *app.add_subcommand("info", "what is in a data or model file");
  add_positional(command, "FILE", info->path, "data (or - for standard input), a model of fenchel or of LIBLINEAR")
      ->required();
  info->data.add(command);
  info->data.add_precision(command);
  command.add_flag("--json", info->output.json, "print it as one JSON object")->group("Output");
  return [info] { return run_info(*info); };
}

}  // namespace fenchel::cli
