// fenchel predict: labels or values, scores, probabilities; and which labels provably equal those of the exact
// optimum.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/data_input.hpp"
#include "cli/model_input.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "fenchel/base/atomic_file.hpp"
#include "fenchel/base/clock.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/model/predict.hpp"

namespace fenchel::cli {
namespace {

struct Predict {
  std::string data_path, model_path, out_path, model_format;
  bool scores = false;
  bool probabilities = false;
  OutputOptions output;
  DataOptions data;
  Threads threads;
};

std::string number_lines(const model::Table& table) {
  fmt::memory_buffer text;
  for (std::size_t i = 0; i < table.rows; ++i) {
    fmt::format_to(std::back_inserter(text), "{}\n", fmt::join(table.row(i), " "));
  }
  return fmt::to_string(text);
}

std::string number_lines(std::span<const double> values) {
  fmt::memory_buffer text;
  for (const double value : values) fmt::format_to(std::back_inserter(text), "{}\n", value);
  return fmt::to_string(text);
}

// As LIBLINEAR writes them: the classes in the first line, then the label and a probability for each of them.
std::string probability_lines(const model::Linear& linear, std::span<const double> labels,
                              const model::Table& table) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "labels {}\n", fmt::join(linear.classes, " "));
  for (std::size_t i = 0; i < table.rows; ++i) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", labels[i], fmt::join(table.row(i), " "));
  }
  return fmt::to_string(text);
}

struct Summary {
  std::size_t rows = 0;
  std::optional<model::Metrics> metrics{};  // nothing where the data have no labels
  bool regression = false;
  std::optional<std::size_t> certified{};  // labels; nothing where none can be

  [[nodiscard]] double share() const {
    return rows == 0 ? 0.0 : static_cast<double>(*certified) / static_cast<double>(rows);
  }
};

std::string quality(const Summary& summary) {
  if (!summary.metrics) return fmt::format("{} rows, without labels to compare with\n", summary.rows);
  const model::Metrics& m = *summary.metrics;
  if (!summary.regression) {
    return fmt::format("accuracy {:.4f} % ({} of {})\n", 100.0 * m.accuracy, m.correct, m.rows);
  }
  std::string text = fmt::format("mean squared error {:.8g} over {} rows", m.mean_squared_error, m.rows);
  if (m.squared_correlation) text += fmt::format(", squared correlation {:.6g}", *m.squared_correlation);
  return text + "\n";
}

std::string text_of(const Summary& summary) {
  std::string text = quality(summary);
  if (summary.certified) {
    // Rounded down: what is claimed is true.
    text += fmt::format("{:.2f} % of the labels are certified: they provably equal those of the exact optimum\n",
                        std::floor(1e4 * summary.share()) / 1e2);
  }
  return text;
}

Json json_of(const Summary& summary, const Predict& predict, double seconds) {
  Json object{{"rows", summary.rows}};
  if (const auto& m = summary.metrics; m && summary.regression) {
    object["mean_squared_error"] = finite(m->mean_squared_error);
    if (m->squared_correlation) object["squared_correlation"] = finite(*m->squared_correlation);
  } else if (m) {
    object["accuracy"] = m->accuracy;
    object["correct"] = m->correct;
  }
  if (summary.certified) {
    object["certified"] = *summary.certified;
    object["certified_share"] = summary.share();
  }
  object["output"] = predict.out_path;
  object["model"] = predict.model_path;
  object["seconds"] = seconds;
  return object;
}

void check(const Predict& predict) {
  predict.output.check();
  if (predict.scores && predict.probabilities) {
    throw Error(Fault::usage, "--scores and --probabilities exclude each other: give only one of them");
  }
  if (predict.output.json && predict.out_path.empty()) {
    throw Error(Fault::usage, "--json needs OUT, since standard output is for the JSON object then");
  }
}

std::size_t count_certified(const model::Model& model, const data::Matrix& matrix) {
  const std::vector<std::uint8_t> flags = model::certified_labels(model, matrix);
  return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), 1));
}

int run_predict(Predict& predict) {
  const Stopwatch clock;
  check(predict);
  data::ReadOptions reading = predict.data.resolve();
  data::Source source(predict.model_path);
  const AnyModel any = read_model(source, model_format(source, predict.model_format));
  const auto* own = std::get_if<model::Model>(&any);
  if (!reading.index_base) reading.index_base = own != nullptr ? own->index_base : 1;
  predict.threads.apply();
  const data::Dataset dataset = read_data(predict.data_path, reading, predict.output);

  const model::Linear linear = std::visit([](const auto& chosen) { return model::linear(chosen); }, any);
  const model::Table scores = model::scores(linear, dataset.matrix());
  const std::vector<double> labels = model::labels(linear, scores);
  const std::string text = predict.scores ? number_lines(scores)
                           : predict.probabilities
                               ? probability_lines(linear, labels, model::probabilities(linear, scores))
                               : number_lines(labels);
  Summary summary{.rows = dataset.rows(), .regression = linear.regression()};
  if (!dataset.targets.empty()) summary.metrics = model::metrics(linear, labels, dataset.targets);
  if (own != nullptr && model::certifies_labels(*own)) summary.certified = count_certified(*own, dataset.matrix());

  if (predict.out_path.empty()) {
    print(text);
    if (!predict.output.quiet) note(text_of(summary));
    return exit_done;
  }
  write_file(predict.out_path, text);
  if (predict.output.json) {
    print_json(json_of(summary, predict, clock.seconds()));
  } else if (!predict.output.quiet) {
    print(text_of(summary));
  }
  return exit_done;
}

}  // namespace

Action add_predict(CLI::App& app) {
  auto predict = std::make_shared<Predict>();
  CLI::App& command = *app.add_subcommand("predict",
                                          "labels or values for the rows of DATA, one a line\n\nWith two classes a "
                                          "positive score x.w + b means the larger "
                                          "one. Where the penalty is strongly convex, the summary\nalso says how "
                                          "many labels provably equal those of the exact "
                                          "optimum: |x.w + b| > sqrt(2 gap sum_j x_j^2 / sigma_j).\n");
  add_positional(command, "DATA", predict->data_path, "data, or - for standard input")->required();
  add_positional(command, "MODEL", predict->model_path, "a model of fenchel or of LIBLINEAR")->required();
  add_positional(command, "OUT", predict->out_path,
                 "file for the predictions (default: standard output, with the summary on standard error)");
  command.add_flag("--scores", predict->scores, "write x.w + b instead: one number a row, or one a class");
  command.add_flag(
      "--probabilities", predict->probabilities,
      "write label and probabilities, after a line that names the classes; for logistic: 1/(1 + exp(-z))");
  add_text(command, "--model-format", predict->model_format, "fenchel|liblinear", "(default: by content)");
  predict->threads.add(command);
  predict->data.add(command);
  predict->data.add_precision(command);
  predict->output.add(command);
  return [predict] { return run_predict(*predict); };
}

}  // namespace fenchel::cli
