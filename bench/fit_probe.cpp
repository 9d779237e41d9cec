// Reads once, fits once a tolerance, prints a line of JSON each:
//     fit_probe DATA --loss hinge --C 1 --solver sdca --tols 1e-1,1e-3,1e-5 --threads 1
// Takes the problem and effort options of `fenchel train`; without --bias there is none. Tolerances are gone through in
// the order given, and a fit that meets its time limit is the last one. --repeat N fits each up to N times while that
// takes less than a second together, and keeps the fastest. --weights-to PREFIX writes PREFIX.0, PREFIX.1, ... in doubles,
// output after output.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/probe.hpp"
#include "cli/arguments.hpp"
#include "cli/options.hpp"
#include "fenchel/base/clock.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/registry/fit.hpp"

namespace {

using namespace fenchel;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::string data, tols, weights_prefix;
  std::uint64_t repeat = 1;
  cli::ProblemOptions problem;
  cli::EffortOptions effort;
  cli::Threads threads;

  void add(CLI::App& app) {
    effort.max_passes = 1e6;
    effort.time_limit = 60.0;
    cli::add_positional(app, "DATA", data, "training data")->required();
    cli::add_text(app, "--tols", tols, "A,B,...", "tolerances, one fit each (default: that of --tol)");
    cli::add_text(app, "--weights-to", weights_prefix, "PREFIX", "write the weights of fit k to PREFIX.k");
    cli::add_count(app, "--repeat", repeat, 1, "fits a tolerance while they take less than a second together");
    problem.add(app);
    effort.add(app);
    threads.add(app);
  }
};

registry::Fit fastest_fit(const registry::Plan& plan, const run::Options& options, std::uint64_t repeat) {
  registry::Fit best = registry::fit(plan, options);
  double spent = best.seconds;
  for (std::uint64_t k = 1; k < repeat && spent < 1.0; ++k) {
    registry::Fit again = registry::fit(plan, options);
    spent += again.seconds;
    if (again.seconds < best.seconds) best = std::move(again);
  }
  return best;
}

Json describe(const registry::Fit& fit, double tolerance) {
  const double share = fit.seconds > 0.0 ? fit.certificate_seconds / fit.seconds : 0.0;
  return {{"solver", fit.solver},
          {"tol", tolerance},
          {"status", run::name(fit.status)},
          {"seconds", fit.seconds},
          {"passes", fit.passes},
          {"primal", fit.total.primal},
          {"dual", fit.total.dual},
          {"gap", fit.total.gap},
          {"relative_gap", fit.total.relative_gap()},
          {"certificate_passes", fit.certificate_passes},
          {"certificate_seconds", fit.certificate_seconds},
          {"certificate_share", share}};
}

void run_probe(Arguments& arguments) {
  registry::Settings settings = arguments.problem.resolve();
  arguments.effort.check_solver();
  settings.solver = arguments.effort.solver;
  settings.seed = arguments.effort.seed;
  settings.row_order = arguments.effort.rows();
  settings.merge_rows = arguments.effort.merge_rows();
  arguments.threads.apply();
  std::vector<double> tolerances = bench::numbers_in(arguments.tols);
  if (tolerances.empty()) tolerances.push_back(arguments.effort.tolerance);

  const double empty = bench::memory("RssAnon");
  const Stopwatch clock;
  const data::Dataset dataset = data::read(arguments.data);
  const registry::Plan plan(dataset, settings, arguments.problem.weights(), arguments.problem.factors());
  const double read = clock.seconds();
  const auto data_bytes = static_cast<double>(data::bytes_of(dataset.matrix()) + 8 * dataset.rows());

  for (std::size_t k = 0; k < tolerances.size(); ++k) {
    run::Options options = arguments.effort.resolve();
    options.tolerance = tolerances[k];
    bench::forget_peak();
    const registry::Fit fit = fastest_fit(plan, options, arguments.repeat);
    Json line = describe(fit, tolerances[k]);
    line["read_seconds"] = read;
    line["empty_bytes"] = empty;
    line["peak_bytes"] = bench::memory("VmHWM");
    line["file_bytes"] = bench::memory("RssFile");  // the program's own pages, and data that are mapped, not read
    line["data_bytes"] = data_bytes;
    if (!arguments.weights_prefix.empty()) {
      std::vector<double> all;
      for (const registry::Output& output : fit.outputs) all.insert(all.end(), output.w.begin(), output.w.end());
      bench::write_doubles(fmt::format("{}.{}", arguments.weights_prefix, k), all);
    }
    bench::print_line(line.dump());
    if (fit.status == run::Status::time_limit) break;
  }
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("fits of one data set, as lines of JSON", "fit_probe");
  Arguments arguments;
  try {
    arguments.add(app);
    std::vector<std::string> list(words + 1, words + count);
    if (std::find(list.begin(), list.end(), "--bias") == list.end()) list.insert(list.end(), {"--bias", "none"});
    std::reverse(list.begin(), list.end());  // as CLI11 wants them
    app.parse(std::move(list));
    run_probe(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const Error& error) {  // 2: no such loss or solver, or they do not go together
    std::fprintf(stderr, "fit_probe: %s\n", error.what());
    return error.fault() == Fault::usage ? 2 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fit_probe: %s\n", error.what());
    return 1;
  }
  return 0;
}
