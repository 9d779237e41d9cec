// fenchel info: what is in a data or model file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/data_input.hpp"
#include "cli/model_input.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "fenchel/data/binary.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/data/stream.hpp"
#include "fenchel/data/summary.hpp"
#include "fenchel/model/file.hpp"

namespace fenchel::cli {
namespace {

struct Info {
  std::string path;
  OutputOptions output;
  DataOptions data;
  bool verify = false;
};

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

Json spread(const data::Spread& range) {
  return {{"smallest", finite(range.smallest)}, {"mean", finite(range.mean)}, {"largest", finite(range.largest)}};
}

Json describe(const data::LabelSummary& labels, std::size_t rows) {
  Json top = Json::object();
  for (const auto& [value, count] : labels.most_frequent) top[fmt::format("{}", value)] = count;
  Json object{
      {"distinct", labels.distinct}, {"smallest", label(labels.smallest)}, {"largest", label(labels.largest)}};
  if (labels.like_regression(rows)) {
    object["quartiles"] = {label(labels.lower_quartile), label(labels.median), label(labels.upper_quartile)};
  }
  object["most_frequent"] = std::move(top);
  return object;
}

std::string storage_name(const data::Dataset& dataset) {
  return std::visit(
      []<class Kind>(const Kind& kind) {
        const bool single = std::holds_alternative<data::Array<float>>(kind.values);
        constexpr bool sparse = std::is_same_v<Kind, data::CsrStorage>;
        return fmt::format("{}, {} rows", single ? "float32" : "float64", sparse ? "sparse" : "dense");
      },
      dataset.storage);
}

// What a fit allocates besides the data: a dozen numbers a row, and a column's share of the accumulators.
std::size_t fit_vectors(const data::Summary& summary) {
  const std::size_t slabs = std::clamp<std::size_t>(summary.nonzeros / (4 * summary.columns + 1), 1, 16);
  return 120 * summary.rows + (64 + 24 * slabs) * summary.columns;
}

void put_columns(Json& object, const std::string& kind, const data::ColumnKind& columns, int index_base) {
  object[kind + "_columns"] = columns.count;
  if (columns.count == 0) return;
  Json names = Json::array();
  for (const std::size_t j : columns.first) names.push_back(j + static_cast<std::size_t>(index_base));
  object["first_" + kind + "_columns"] = std::move(names);
}

// What the file is, besides its content.
struct Origin {
  std::string format, compression;  // empty where nobody knows
  std::size_t bytes = 0;
};

// Standard input cannot be looked at twice.
// What comes through a pipe is gone once it was looked at.
bool readable_twice(const std::string& path) {
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(path, ignored);
}

Origin origin_of(const std::string& path, const data::ReadOptions& options) {
  if (!readable_twice(path)) return {.format = options.format, .compression = {}};
  std::ifstream file(path, std::ios::binary);
  std::string start(16, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  const data::Source source(path);
  const std::string format =
      options.format.empty() ? std::string(data::recognized(source.head(), source.name())) : options.format;
  return {
      .format = format, .compression = std::string(data::compression_of(start)), .bytes = source.size_on_disk()};
}

Json suggested(const data::Summary& summary, const Origin& origin) {
  constexpr std::size_t long_text = std::size_t{100} << 20;
  Json list = Json::array();
  for (const auto& [flag, reason] : data::suggestions(summary))
    list.push_back({{"flag", flag}, {"reason", reason}});
  if (origin.bytes > long_text && origin.format != "fenchel-binary") {
    list.push_back({{"flag", "fenchel convert"},
                    {"reason", "a file of this size is read much faster in the binary format (.fbin)"}});
  }
  return list;
}

Json describe(const data::Dataset& dataset, const std::string& path, const Origin& origin) {
  const data::Summary summary = data::summarize(dataset);
  Json object{{"kind", "data"}, {"path", path}};
  if (!origin.format.empty()) object["format"] = origin.format;
  if (!origin.compression.empty()) object["compression"] = origin.compression;
  if (origin.bytes > 0) object["bytes"] = origin.bytes;
  object["rows"] = summary.rows;
  object["features"] = summary.columns;
  object["nonzeros"] = summary.nonzeros;
  object["density"] = summary.density;
  object["index_base"] = dataset.index_base;
  object["empty_rows"] = summary.empty_rows;
  object["duplicate_rows"] = summary.duplicate_rows;
  put_columns(object, "empty", summary.empty_columns, dataset.index_base);
  put_columns(object, "constant", summary.constant_columns, dataset.index_base);
  put_columns(object, "duplicate", summary.duplicate_columns, dataset.index_base);
  if (summary.nonzeros > 0) {
    object["values"] = {{"smallest", summary.values.smallest}, {"largest", summary.values.largest}};
    object["column_scales"] = {{"small", finite(summary.small_scale)}, {"large", finite(summary.large_scale)}};
  }
  object["row_nonzeros"] = spread(summary.row_nonzeros);
  object["row_norms"] = spread(summary.row_norms);
  if (summary.labels) object["labels"] = describe(*summary.labels, summary.rows);
  if (!dataset.query.empty()) object["queries"] = true;
  object["storage"] = storage_name(dataset);
  const std::size_t bytes = data::bytes_of(dataset.matrix()) + 8 * dataset.targets.size();
  object["memory_bytes"] = bytes;
  object["fit_memory_bytes"] = bytes + fit_vectors(summary);
  Json sections = Json::array();
  for (const auto& [name, offset, size] : data::binary_sections(dataset)) {
    sections.push_back({{"section", name}, {"offset", offset}, {"bytes", size}});
  }
  if (!sections.empty()) object["sections"] = std::move(sections);
  if (Json list = suggested(summary, origin); !list.empty()) object["suggestions"] = std::move(list);
  return object;
}

Json describe(const model::Model& model, const std::string& path) {
  Json object{{"kind", "model"}, {"path", path}, {"written_by", "fenchel " + model.written_by}};
  problem::Certificate total = model.total();
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
  if (!readable_twice(path)) return false;
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
    const data::ReadOptions options = info.data.resolve();
    const Origin origin = origin_of(info.path, options);
    if (info.verify && readable_twice(info.path)) {
      data::ReadOptions as_stored = options;
      as_stored.precision = data::Precision::f64;
      data::verify(data::read(info.path, as_stored));
    }
    const data::Dataset dataset = read_data(info.path, options, info.output);
    if (info.verify) data::verify(dataset);  // from a pipe, in the precision asked for
    object = describe(dataset, info.path, origin);
    if (info.verify) object["verified"] = true;
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
  command
      .add_flag(
          "--verify", info->verify,
          "check every block of a .fbin file, both of its forms and the bytes between (exit 3 if any is damaged)")
      ->group("Data");
  command.add_flag("--json", info->output.json, "print it as one JSON object")->group("Output");
  return [info] { return run_info(*info); };
}

}  // namespace fenchel::cli
