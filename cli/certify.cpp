// fenchel certify: recomputes primal, dual and gap from the data. For our own models it confirms or refutes the
// claim; for weights of other tools it builds the best dual point it can and says how far from optimal they are at
// most.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/data_input.hpp"
#include "cli/model_input.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/model/audit.hpp"
#include "fenchel/registry/fit.hpp"
#include "fenchel/registry/multiclass_solvers.hpp"

namespace fenchel::cli {
namespace {

struct Certify {
  std::string data_path, model_path, model_format;
  OutputOptions output;
  DataOptions data;
  ProblemOptions problem;
  EffortOptions effort;
  Threads threads;
};

// The duals only have to be good enough for a verdict on the tolerance.
constexpr double audit_tolerance = 1e-6;

struct Verdict {
  std::vector<double> classes;
  std::vector<problem::Certificate> outputs;
  problem::Certificate total;
  bool certified = false;
};

Json json_of(const Verdict& verdict) {
  Json object;
  put_certificate(object, verdict.total);
  object["certified"] = verdict.certified;
  if (verdict.outputs.size() > 1) {  // one under a multiclass loss
    Json list = Json::array();
    for (std::size_t k = 0; k < verdict.outputs.size(); ++k) {
      Json entry{{"class", label(verdict.classes[k])}};
      put_certificate(entry, verdict.outputs[k]);
      list.push_back(std::move(entry));
    }
    object["per_class"] = std::move(list);
  }
  return object;
}

void report(const Certify& certify, const Verdict& verdict, const std::string& problem,
            const std::string& sentence) {
  if (certify.output.json) {
    print_json(json_of(verdict));
  } else if (!certify.output.quiet) {
    print(fmt::format("problem   {}\n{}{}\n", problem, certificate_lines(verdict.total), sentence));
  }
}

int certify_own(Certify& certify, const model::Model& model, data::ReadOptions reading) {
  if (const auto given = certify.problem.given_ones(); !given.empty()) {
    throw Error(Fault::usage,
                fmt::format("--{} contradicts the model, which says itself which problem it solves: leave it "
                            "out, or name another --model-format",
                            given.front()));
  }
  if (!reading.index_base) reading.index_base = model.index_base;
  reading.precision = model.precision;
  const data::Dataset dataset =
      model::with_columns(read_labeled_data(certify.data_path, reading, certify.output), model.features);
  const model::Audit audit = model::audit(model, dataset);
  if (!audit.certified) {
    throw Error(Fault::failure, fmt::format("{}: not certified: {}", certify.model_path, audit.reason));
  }
  Verdict verdict{model.classes, audit.outputs, audit.total, true};
  if (model.joint()) verdict.outputs.resize(1);
  report(certify, verdict, formula(model.settings, model.lambda, model.weighted()),
         "certified: the gap recomputed from the data agrees with the model's claim");
  return exit_done;
}

// The best dual points that the library itself finds for the plan.
registry::Fit find_duals(const Certify& certify, const registry::Plan& plan) {
  signals::defer();
  Monitor monitor(certify.output, {});
  run::Options options = certify.effort.resolve();
  options.tolerance = std::min(options.tolerance, audit_tolerance);
  options.interrupt = &signals::interrupted();
  monitor.attach(options);
  return registry::fit(plan, options);
}

int certify_foreign(Certify& certify, data::Source& source, ModelFormat format, data::ReadOptions reading) {
  model::Foreign foreign;
  if (format == ModelFormat::liblinear) {
    foreign = model::read_liblinear(source.text(), source.name());
    certify.problem.imply(foreign);
    if (!reading.index_base) reading.index_base = 1;
  }
  registry::Settings settings = certify.problem.resolve();
  certify.effort.check_solver();
  settings.solver = certify.effort.solver;
  settings.seed = certify.effort.seed;
  settings.row_order = certify.effort.rows();
  settings.merge_rows = certify.effort.merge_rows();
  std::vector<double> factors = certify.problem.factors();
  data::Dataset dataset = read_labeled_data(certify.data_path, reading, certify.output);
  if (format == ModelFormat::liblinear) dataset = model::with_columns(std::move(dataset), foreign.features());
  const registry::Plan plan(dataset, settings, certify.problem.weights(), std::move(factors));
  if (format == ModelFormat::weights) {
    foreign = model::read_weights(source.text(), source.name(),
                                  {.features = data::cols(dataset.matrix()),
                                   .bias = settings.bias,
                                   .bias_value = settings.bias_value,
                                   .classes = plan.classes()});
  }
  std::vector<model::Point> points;
  for (std::size_t k = 0; k < plan.outputs(); ++k) points.push_back(model::point_of(foreign, plan, k));

  // Where no solver takes the problem, the dual points that follow from the weights themselves have to do.
  const bool solvable = !registry::supporting(settings.loss, plan.penalty()).empty();
  registry::Fit fit = solvable ? find_duals(certify, plan) : registry::Fit{};
  fit.outputs.resize(plan.outputs());
  Verdict verdict{{plan.classes().begin(), plan.classes().end()}, {}, {}, true};
  const run::Options tolerances = certify.effort.resolve();
  for (std::size_t k = 0; k < plan.outputs(); ++k) {
    points[k].beta = std::move(fit.outputs[k].beta);
    if (!plan.joint()) verdict.outputs.push_back(model::audit_point(plan, k, points[k]));
  }
  if (plan.joint()) verdict.outputs.push_back(model::audit_jointly(plan, points));
  for (const problem::Certificate& output : verdict.outputs) {
    verdict.certified = verdict.certified && run::meets(output, tolerances);
  }
  verdict.total = model::total_of(verdict.outputs);
  if (!verdict.total.valid()) {
    throw Error(Fault::failure,
                "the numbers overflow and no gap can be certified: rescale the features or the weights");
  }
  report(certify, verdict, formula(settings, plan.lambda(), !plan.combined_weights().empty()),
         fmt::format("{}: these weights are at most {} above the optimum, which {} the tolerance",
                     verdict.certified ? "certified" : "not certified", upward(verdict.total.gap),
                     verdict.certified ? "meets" : "misses"));
  return fit.status == run::Status::interrupted ? exit_interrupted : exit_done;
}

int run_certify(Certify& certify) {
  certify.output.check();
  const data::ReadOptions reading = certify.data.resolve();
  data::Source source(certify.model_path);
  const ModelFormat format = model_format(source, certify.model_format);
  certify.threads.apply();
  if (format != ModelFormat::fenchel) return certify_foreign(certify, source, format, reading);
  return certify_own(certify, std::get<model::Model>(read_model(source, format)), reading);
}

}  // namespace

Action add_certify(CLI::App& app) {
  auto certify = std::make_shared<Certify>();
  CLI::App& command = *app.add_subcommand(
      "certify",
      fmt::format(
          "recompute primal, dual and gap from DATA and what MODEL stores\n\nFor a model of fenchel: confirms its "
          "claim (exit 0) or refutes it (exit 1 and the reason). For a LIBLINEAR model\nor a plain list of weights "
          "(--model-format weights): says how far they are at most from the optimum of\n\n    {}\n\nwhich the "
          "options "
          "under Problem state; what a LIBLINEAR file says itself is the default.\n",
          objective_text));
  add_positional(command, "DATA", certify->data_path, "the data the model was trained on, or - for standard input")
      ->required();
  add_positional(command, "MODEL", certify->model_path, "the model to check")->required();
  add_text(command, "--model-format", certify->model_format, "fenchel|liblinear|weights",
           "(default: by content; a plain list, one weight a line and the bias as one more, must be named)");
  certify->problem.add(command,
                       "free; for a LIBLINEAR file what it says itself: regularized if it has a bias, none if not");
  certify->effort.add(command);
  certify->threads.add(command);
  certify->data.add(command);
  certify->data.add_precision(command);
  certify->output.add(command);
  command.footer([] {
    return loss_table() + "\n" + penalty_table() +
           "\nExit codes: 0 the claim holds, or there was none to check; 1 the claim is refuted; 2 wrong command "
           "line; 3 "
           "bad input.";
  });
  return [certify] { return run_certify(*certify); };
}

}  // namespace fenchel::cli
