// fenchel train: fits a model and writes it with its certificate.
#include <filesystem>
#include <memory>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/ascent_options.hpp"
#include "cli/command.hpp"
#include "cli/data_input.hpp"
#include "cli/gradient_options.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "cli/warm_start.hpp"
#include "fenchel/base/clock.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/model/file.hpp"
#include "fenchel/registry/fit.hpp"

namespace fenchel::cli {
namespace {

struct Train {
  std::string data_path, model_path, warm_start, trace;
  OutputOptions output;
  DataOptions data;
  ProblemOptions problem;
  EffortOptions effort;
  AscentOptions ascent;
  std::uint64_t batch = 0;  // 0: not given
  GradientOptions gradient;
  Threads threads;
};

struct Times {
  double load = 0.0;
  double solve = 0.0;
  double total = 0.0;
};

std::string default_model_path(const std::string& data_path) {
  return std::filesystem::path(data_path).stem().string() + ".fenchel";
}

std::string resolve_model_path(const Train& train) {
  if (!train.model_path.empty()) return train.model_path;
  if (train.data_path == "-")
    throw Error(Fault::usage, "data from standard input need a name for the model: give MODEL");
  return default_model_path(train.data_path);
}

void check_certificate(const registry::Fit& fit) {
  for (const registry::Output& output : fit.outputs) {
    if (output.certificate.valid()) continue;
    throw Error(Fault::failure,
                "the numbers overflow and no gap can be certified, so that no model was written: rescale "
                "the features or targets, or choose a larger lambda");
  }
}

Json per_class(const model::Model& model) {
  Json list = Json::array();
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    Json entry{{"class", label(model.classes[k])}, {"status", run::name(model.outputs[k].status)}};
    put_certificate(entry, model.outputs[k].certificate);
    entry["passes"] = model.outputs[k].passes;
    list.push_back(std::move(entry));
  }
  return list;
}

// What a report is about.
struct Outcome {
  run::Status status;
  problem::Certificate total;
  double passes;
  std::optional<solver::RowOrder> row_order;
  std::optional<std::size_t> distinct_rows;
  const registry::Settings& settings;
  const model::Model& model;
  const std::string& path;
  std::uint64_t threads;
  Times seconds;
};

// The choices that were made, so that the run can be repeated.
void put_conduct(Json& object, const registry::Settings& settings) {
  const registry::AscentSettings& ascent = settings.ascent;
  if (ascent.step) object["sdca_option"] = static_cast<int>(*ascent.step);
  if (ascent.sampling) object["sampling"] = name(*ascent.sampling);
  if (ascent.iterate) object["iterate"] = name(*ascent.iterate);
  if (ascent.smoothing) object["smoothing"] = *ascent.smoothing;
  if (ascent.momentum) object["momentum"] = *ascent.momentum ? "auto" : "off";
  if (ascent.theory) object["acceleration"] = *ascent.theory ? "theory" : "practical";
  if (ascent.blocks) object["blocks"] = *ascent.blocks;
  if (settings.gradient.space) object["agm_space"] = name(*settings.gradient.space);
  if (settings.gradient.curvature) object["curvature"] = name(*settings.gradient.curvature);
  if (settings.gradient.weights) object["smoothing_weights"] = name(*settings.gradient.weights);
}

Json json_report(const Outcome& outcome) {
  const auto& [status, total, passes, row_order, distinct_rows, settings, model, path, threads, seconds] = outcome;
  Json object{{"status", run::name(status)}};
  put_certificate(object, total);
  put_problem(object, model.settings, model.lambda, model.strength);
  object["solver"] = model.solver;
  object["passes"] = passes;
  object["seconds"] = {{"load", seconds.load}, {"solve", seconds.solve}, {"total", seconds.total}};
  object["rows"] = model.rows;
  if (distinct_rows) object["distinct_rows"] = *distinct_rows;
  object["features"] = model.features;
  object["nonzeros"] = model.nonzeros;
  object["nonzero_weights"] = model.nonzero_weights();
  object["threads"] = threads;
  object["precision"] = model::name(model.precision);
  object["model"] = path;
  object["seed"] = model.settings.seed;
  // Worth a word where it depends on the machine: with it, the same command gives the same bits anywhere.
  if (row_order == solver::RowOrder::windows) object["row_order"] = "windows";
  if (settings.batch) object["batch"] = *settings.batch;
  put_conduct(object, settings);
  if (!model.classes.empty()) object["classes"] = labels(model.classes);
  if (model.outputs.size() > 1 && !model.joint()) object["per_class"] = per_class(model);
  return object;
}

std::string text_report(const Outcome& outcome) {
  const auto& [status, total, passes, row_order, distinct_rows, settings, model, path, threads, seconds] = outcome;
  std::string text = fmt::format("status    {} ({}, {:.0f} passes, {:.2f} s; loading took {:.2f} s)\n",
                                 run::name(status), model.solver, passes, seconds.solve, seconds.load);
  text += certificate_lines(total);
  if (distinct_rows) {
    text += fmt::format("          (of {} rows, {} that differ were solved for)\n", model.rows, *distinct_rows);
  }
  if (status == run::Status::stalled && total.gap < 1e-12) {
    text += "          the optimum is 0 or nearly so, where no relative gap can be met: see --abs-tol\n";
  }
  if (model.outputs.size() > 1 && !model.joint()) {
    text +=
        fmt::format("          (sums over {} problems, one class against the rest each)\n", model.outputs.size());
  }
  text += fmt::format("weights   {} of {} are not zero\n", model.nonzero_weights(),
                      model.features * model.outputs.size());
  text += fmt::format("model     {}\n", path);
  return text;
}

int exit_code(run::Status status) {
  if (status == run::Status::optimal) return exit_done;
  return status == run::Status::interrupted ? exit_interrupted : exit_stopped_early;
}

registry::Fit solve(const Train& train, const registry::Plan& plan, const std::optional<WarmStart>& start) {
  signals::defer();
  Monitor monitor(train.output, train.trace);
  run::Options options = train.effort.resolve();
  options.interrupt = &signals::interrupted();
  monitor.attach(options);
  const std::vector<solver::Start> starts = start ? start->starts() : std::vector<solver::Start>{};
  registry::Fit fit = registry::fit(plan, options, starts);
  check_certificate(fit);
  return fit;
}

registry::Settings settings_of(const Train& train) {
  registry::Settings settings = train.problem.resolve();
  train.effort.check_solver();
  settings.solver = train.effort.solver;
  settings.seed = train.effort.seed;
  settings.row_order = train.effort.rows();
  settings.merge_rows = train.effort.merge_rows();
  settings.ascent = train.ascent.resolve();
  if (train.batch > 0) settings.batch = train.batch;
  settings.gradient = train.gradient.resolve();
  return settings;
}

std::string problem_lines(const registry::Plan& plan, const data::Dataset& dataset) {
  const data::Matrix matrix = dataset.matrix();
  const bool weighted = !plan.combined_weights().empty();
  return fmt::format("solving   {}\ndata      {} rows, {} features, {} nonzeros{}\n",
                     formula(plan.settings(), plan.lambda(), weighted), data::rows(matrix), data::cols(matrix),
                     data::nonzeros(matrix),
                     plan.classes().empty() ? "" : fmt::format(", classes {}", label_list(plan.classes())));
}

int run_train(Train& train) {
  const Stopwatch clock;
  train.output.check();
  const registry::Settings settings = settings_of(train);
  data::ReadOptions reading = train.data.resolve();
  const std::string path = resolve_model_path(train);
  const std::string& weights_file = train.problem.weights_file();
  const std::string& factors_file = train.problem.factors_file();
  const std::string& labels_file = train.data.labels;
  check_writable(path, {train.data_path, labels_file, weights_file, factors_file, train.trace});
  if (!train.trace.empty()) {
    check_writable(train.trace, {train.data_path, labels_file, weights_file, factors_file, path});
  }
  std::vector<double> weights = train.problem.weights();
  std::vector<double> factors = train.problem.factors();
  check_supported(settings, factors);
  std::optional<model::Model> earlier;
  if (!train.warm_start.empty()) {
    earlier = model::load(train.warm_start);
    if (!reading.index_base) reading.index_base = earlier->index_base;
  }
  train.threads.apply();

  const data::Dataset dataset = read_labeled_data(train.data_path, reading, train.output);
  const registry::Plan plan(dataset, settings, std::move(weights), std::move(factors));
  std::optional<WarmStart> start;
  if (earlier) start.emplace(*earlier, plan, data::cols(dataset.matrix()));
  const double loaded = clock.seconds();
  if (start && !start->note().empty() && !train.output.quiet) warn(start->note());
  const bool talk = !train.output.json && !train.output.quiet;
  const bool early = train.output.verbose || (talk && on_terminal());  // before a long silence, not after it
  const std::string problem = problem_lines(plan, dataset);
  if (early) note(problem);

  registry::Fit fit = solve(train, plan, start);
  Times seconds{.load = loaded, .solve = fit.seconds, .total = 0.0};
  const auto [status, total, passes, row_order, distinct_rows] =
      std::tuple(fit.status, fit.total, fit.passes, fit.row_order, fit.distinct_rows);
  const model::Model model = model::make_model(plan, std::move(fit), dataset);
  model::save(model, path);
  seconds.total = clock.seconds();
  const Outcome outcome{
      status, total, passes, row_order, distinct_rows, settings, model, path, train.threads.count(), seconds};
  if (train.output.json) print_json(json_report(outcome));
  if (talk) print((early ? "" : problem) + text_report(outcome));
  return exit_code(status);
}

}  // namespace

Action add_train(CLI::App& app) {
  auto train = std::make_shared<Train>();
  CLI::App& command = *app.add_subcommand(
      "train",
      fmt::format("fit a model and certify how far from optimal it is at most\n\nMinimizes over w and b\n\n    "
                  "{}\n\nand writes the model with a certificate: the gap is an upper bound on P(w, b) - P*.\n",
                  objective_text));
  add_positional(command, "DATA", train->data_path, "training data, or - for standard input")->required();
  add_positional(command, "MODEL", train->model_path,
                 "the model file to write (default: DATA without directory and last extension, + .fenchel)");
  train->problem.add(command);
  train->effort.add(command);
  train->threads.add(command);
  train->ascent.add(command);
  add_count(command, "--batch", train->batch, 1,
            "rows a step of pegasos: the subgradients of so many rows are averaged (default 1)")
      ->group("Effort");
  train->gradient.add(command);
  add_file(command, "--warm-start", train->warm_start, "start from the weights and duals of this model")
      ->group("Effort");
  train->data.add(command);
  train->data.add_precision(command);
  add_file(command, "--trace", train->trace,
           "write every certificate as one JSON object a line while solving; certifies more often, so the fit may "
           "stop earlier")
      ->group("Output");
  train->output.add(command);
  command.footer([] {
    return loss_table() + "\n" + penalty_table() +
           "\nExit codes: 0 the tolerance was reached; 4 stopped early (passes, time, stalled) and 130 "
           "interrupted, with "
           "the model\nwritten and its true gap in it; 1 failed; 2 wrong command line; 3 bad input.";
  });
  return [train] { return run_train(*train); };
}

}  // namespace fenchel::cli
