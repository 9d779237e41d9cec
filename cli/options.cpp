#include "cli/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>

#include "cli/arguments.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/data/list.hpp"
#include "fenchel/data/source.hpp"
#include "fenchel/registry/multiclass_solvers.hpp"
#include "fenchel/registry/plan.hpp"
#include "fenchel/registry/solvers.hpp"

namespace fenchel::cli {
namespace {

constexpr std::array<std::string_view, 8> later_solvers{
    "miso", "mm", "coordinate-descent", "frank-wolfe", "block-frank-wolfe", "dal", "douglas-rachford", "admm"};

std::vector<double> numbers_in(const std::string& path) {
  if (path.empty()) return {};
  data::Source source(path);
  return data::read_numbers(source.text(), source.name(), {.non_negative = true});
}

void add_parameters(CLI::App& app, const std::map<std::string, std::string>& offered, Parameters& target) {
  for (const auto& [name, help] : offered) {
    const auto take = [&target, name = name](const std::string& text) {
      target[name] = parse_number(text, "--" + name, any_number);
    };
    app.add_option_function<std::string>("--" + name, take, help)->type_name("X")->group("Problem");
  }
}

// balanced, or LABEL:WEIGHT,LABEL:WEIGHT,...
registry::ClassWeight parse_class_weight(const std::string& text) {
  registry::ClassWeight weights;
  if (text.empty()) return weights;
  if (text == "balanced") {
    weights.balanced = true;
    return weights;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t colon = item.find(':');
    if (colon == std::string::npos) {
      throw Error(Fault::usage, fmt::format("--class-weight {}: give 'balanced' or LABEL:WEIGHT,LABEL:WEIGHT,...",
                                            data::quote(text)));
    }
    const double label = parse_number(item.substr(0, colon), "--class-weight: label", any_number);
    const double weight = parse_number(item.substr(colon + 1), "--class-weight: weight", non_negative);
    if (!weights.by_label.emplace(label, weight).second) {
      throw Error(Fault::usage, fmt::format("--class-weight names class {} twice", label));
    }
    begin = end + 1;
  }
  return weights;
}

// A,B,...
std::vector<std::string> columns_in(const std::string& text) {
  std::vector<std::string> columns;
  if (text.empty()) return columns;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    columns.push_back(text.substr(begin, end - begin));
    if (columns.back().empty()) {
      throw Error(Fault::usage,
                  fmt::format("--drop {}: give names or positions of columns as A,B,...", data::quote(text)));
    }
    begin = end + 1;
  }
  return columns;
}

registry::Bias parse_bias(const std::string& name) {
  if (name == "none") return registry::Bias::none;
  if (name == "free") return registry::Bias::free;
  if (name == "regularized") return registry::Bias::regularized;
  constexpr std::array<std::string_view, 3> names{"none", "free", "regularized"};
  refuse_name("--bias", name, names, {});
}

}  // namespace

// --- what is printed ---

void OutputOptions::add(CLI::App& app) {
  app.add_flag("--json", json, "print exactly one JSON object on standard output")->group("Output");
  app.add_flag("--quiet", quiet, "print neither progress nor a report, only errors")->group("Output");
  app.add_flag("--verbose", verbose, "print every certificate on standard error as it is made")->group("Output");
}

void OutputOptions::check() const {
  if (quiet && verbose) {
    throw Error(Fault::usage, "--quiet and --verbose exclude each other: give only one of them");
  }
}

// --- how data are read ---

void DataOptions::add(CLI::App& app) {
  add_text(app, "--format", format, "NAME",
           "svmlight, csv, tsv, npy, mtx or fenchel-binary (default: by content; decompressed by content, too)")
      ->group("Data");
  app.add_flag("--zero-based", zero_based, "svmlight: indexes start at 0 (default: if index 0 occurs)")
      ->group("Data");
  add_text(app, "--label", label, "NAME|N",
           "csv, tsv: the column of the label, by its name or its position from 1 (-1 is the last); none: there is "
           "none (default: the column called label, target, y or class, else the first)")
      ->group("Data");
  add_file(app, "--labels", labels,
           "take the labels from a second file, an npy vector or a number a line, one for each row")
      ->group("Data");
  add_text(app, "--drop", drop, "A,B,...", "csv, tsv: columns to leave out, by name or position from 1")
      ->group("Data");
  add_number(app, "--positive", positive_label, any_number,
             "make two classes: 1 where the label (or one of several) is X, else -1")
      ->group("Data");
}

void DataOptions::add_precision(CLI::App& app) {
  add_text(app, "--precision", precision, "f64|f32",
           "f64: the problem is about the doubles nearest to the text; f32: about the float32 values (default f64)")
      ->group("Data");
}

data::ReadOptions DataOptions::resolve() const {
  if (precision != "f64" && precision != "f32") {
    throw Error(Fault::usage, fmt::format("--precision {} is unknown; choose f64 or f32", data::quote(precision)));
  }
  data::ReadOptions options{.format = format,
                            .index_base_demanded = zero_based,
                            .positive = positive_label,
                            .label = label,
                            .drop = columns_in(drop),
                            .labels_path = labels};
  if (zero_based) options.index_base = 0;
  options.precision = precision == "f32" ? data::Precision::f32 : data::Precision::f64;
  return options;
}

// --- which problem is meant ---

void ProblemOptions::add(CLI::App& app, std::string_view default_bias) {
  app_ = &app;
  add_text(app, "--loss", loss_, "NAME", "phi, see the table below (default hinge)")->group("Problem");
  add_parameters(app, loss_parameters(), loss_parameters_);
  add_penalty(app);
  add_text(
      app, "--bias", bias_, "none|free|regularized",
      fmt::format("b absent; present and not penalised; or the weight of one more, penalised feature of constant "
                  "value (default {})",
                  default_bias))
      ->group("Problem");
  add_number(app, "--bias-value", bias_value_, positive,
             "the constant of --bias regularized, as LIBLINEAR's -B (default 1)")
      ->group("Problem");
  add_rows_and_columns(app);
  app.add_flag(
         "--standardize", standardize_,
         "Omega(s_1 w_1, ..., s_d w_d) in place of Omega(w), s_j the standard deviation of feature j under the "
         "weights c (1 if it is constant): as if every feature were divided by s_j and, under --bias free, "
         "centred; "
         "w stays on the scale of the data, which stay sparse")
      ->group("Problem");
}

void ProblemOptions::add_penalty(CLI::App& app) {
  add_text(app, "--penalty", penalty_, "NAME", "Omega, see the table below (default l2)")->group("Problem");
  add_parameters(app, penalty_parameters(), penalty_parameters_);
  add_number(app, "--lambda", lambda_, non_negative, "lambda >= 0 of the objective")->group("Problem");
  add_number(app, "--C", C_, positive,
             "LIBLINEAR's form 1/2 ||w||^2 + C sum loss: lambda = 1/(C sum c_i) (default 1)")
      ->group("Problem");
  add_number(app, "--l1", l1_, non_negative, "a in lambda Omega = a ||w||_1 + (b/2) ||w||^2, in place of --penalty")
      ->group("Problem");
  add_number(app, "--l2", l2_, non_negative, "b in the same")->group("Problem");
}

void ProblemOptions::add_rows_and_columns(CLI::App& app) {
  add_file(app, "--weights", weights_file_,
           "sample weights c_i >= 0, one a line in the order of the rows (default 1)")
      ->group("Problem");
  add_text(app, "--class-weight", class_weight_, "balanced|LABEL:W,...",
           "multiplies c_i by a weight of its class; balanced: sum c / (number of classes x sum c of the class)")
      ->group("Problem");
  add_file(app, "--penalty-factors", factors_file_,
           "multiplies the penalty of each feature by a factor >= 0, one a line (default 1)")
      ->group("Problem");
}

void ProblemOptions::check_exclusions() const {
  exclude(*app_, "--lambda", {"--C", "--l1", "--l2"});
  exclude(*app_, "--C", {"--l1", "--l2"});
  exclude(*app_, "--penalty", {"--l1", "--l2"});
  exclude(*app_, "--l1-ratio", {"--l1", "--l2"});
  if (given(*app_, "--bias-value") && bias_ != "regularized") {
    throw Error(Fault::usage, fmt::format("--bias-value goes with --bias regularized, not with --bias {}", bias_));
  }
}

registry::Settings ProblemOptions::resolve() const {
  check_exclusions();
  registry::Settings settings;
  settings.loss = make_loss(loss_, loss_parameters_);
  settings.penalty = make_penalty(penalty_, penalty_parameters_);
  settings.lambda = lambda_;
  settings.C = C_;
  if (l1_ || l2_) settings.direct = penalty::Strength{.l1 = l1_.value_or(0.0), .l2 = l2_.value_or(0.0)};
  settings.bias = parse_bias(bias_);
  settings.bias_value = bias_value_;
  settings.standardize = standardize_;
  settings.class_weight = parse_class_weight(class_weight_);
  return settings;
}

void ProblemOptions::imply(const model::Foreign& foreign) {
  if (foreign.loss && !given(*app_, "--loss")) loss_ = loss::name(*foreign.loss);
  if (foreign.penalty && !given(*app_, "--penalty")) penalty_ = penalty_name(*foreign.penalty);
  const bool has_constant = foreign.bias_value > 0.0;
  if (!given(*app_, "--bias")) bias_ = has_constant ? "regularized" : "none";
  if (has_constant && bias_ == "regularized" && !given(*app_, "--bias-value")) bias_value_ = foreign.bias_value;
}

std::vector<std::string_view> ProblemOptions::given_ones() const {
  std::vector<std::string_view> names;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_group() == "Problem" && option->count() > 0) names.push_back(option->get_lnames().front());
  }
  return names;
}

std::vector<double> ProblemOptions::weights() const { return numbers_in(weights_file_); }
std::vector<double> ProblemOptions::factors() const { return numbers_in(factors_file_); }

// --- how long to work on it ---

void EffortOptions::add(CLI::App& app) {
  add_text(app, "--solver", solver, "NAME", "auto or a name that `fenchel solvers` lists (default auto)")
      ->group("Effort");
  add_number(app, "--tol", tolerance, non_negative, "stop where gap <= X max(|primal|, |dual|) (default 1e-4)")
      ->group("Effort");
  add_number(app, "--abs-tol", absolute_tolerance, non_negative, "or where gap <= X (default 0)")->group("Effort");
  add_number(app, "--max-passes", max_passes, positive,
             "passes over the data, certificates included, for each class trained against the rest (default 10000)")
      ->group("Effort");
  add_number(app, "--time-limit", time_limit, positive, "seconds (default: none)")->group("Effort");
  add_count(app, "--seed", seed, 0, "of the random order of rows: same seed, same bits (default 0)")
      ->group("Effort");
  add_text(
      app, "--row-order", row_order, "auto|shuffled|runs|windows",
      "the way through the rows of solvers that go row by row; runs: a few neighbours at a time, which memory "
      "gives faster; "
      "windows: megabytes of consecutive rows together, for a .fbin file larger than memory (default auto: windows "
      "where that is so, else runs where neighbours are no more alike than any two rows)")
      ->group("Effort");
  add_text(
      app, "--equal-rows", equal_rows, "auto|separate",
      "auto: rows with the same label and features are solved for as one, with the sum of their weights, where "
      "that makes the data smaller by far; the certificate is that of the data as they are (default auto)")
      ->group("Effort");
}

std::optional<solver::RowOrder> EffortOptions::rows() const {
  if (row_order == "auto") return std::nullopt;
  if (row_order == "shuffled") return solver::RowOrder::shuffled;
  if (row_order == "runs") return solver::RowOrder::runs;
  if (row_order == "windows") return solver::RowOrder::windows;
  constexpr std::array<std::string_view, 4> names{"auto", "shuffled", "runs", "windows"};
  refuse_name("--row-order", row_order, names, {});
}

bool EffortOptions::merge_rows() const {
  constexpr std::array<std::string_view, 2> names{"auto", "separate"};
  if (std::find(names.begin(), names.end(), equal_rows) == names.end()) {
    refuse_name("--equal-rows", equal_rows, names, {});
  }
  return equal_rows == "auto";
}

void EffortOptions::check_solver() const {
  std::vector<std::string_view> names{"auto"};
  for (const registry::SolverEntry& entry : registry::solvers()) names.push_back(entry.name);
  if (std::find(names.begin(), names.end(), solver) == names.end()) {
    refuse_name("--solver", solver, names, later_solvers);
  }
}

run::Options EffortOptions::resolve() const {
  return {.tolerance = tolerance,
          .absolute_tolerance = absolute_tolerance,
          .max_passes = max_passes,
          .time_limit = time_limit.value_or(infinity)};
}

// Made in place: a copy of a limit is none.
struct Threads::Control {
  explicit Control(std::size_t count) : limit(tbb::global_control::max_allowed_parallelism, count) {}
  tbb::global_control limit;
};

Threads::Threads() : count_(static_cast<std::uint64_t>(tbb::info::default_concurrency())) {}
Threads::~Threads() = default;

void Threads::add(CLI::App& app) {
  add_count(app, "--threads", count_, 1,
            "most threads to use; the result does not depend on it (default: all cores)")
      ->group("Effort");
}

void Threads::apply() { control_ = std::make_unique<Control>(count_); }

void check_supported(const registry::Settings& settings, const std::vector<double>& factors) {
  const double lambda = settings.lambda.value_or(1.0);  // from C it is positive, whatever the data
  const penalty::Strength strength =
      settings.direct ? *settings.direct
                      : std::visit([&](const auto& chosen) { return chosen.strength(lambda); }, settings.penalty);
  registry::check_constraint(settings, factors);
  const auto constraint = registry::constraint_of(settings);
  const penalty::Regularizer penalty =
      constraint ? penalty::Regularizer(*constraint) : penalty::Regularizer(penalty::Separable(strength, factors));
  if (const auto scalar = settings.loss.scalar()) registry::check_conduct(settings, *scalar, penalty);
  // With several solvers able, `auto` decides by looking at the data, which are not there yet.
  const std::vector<std::string_view> demanded = registry::demands(settings);
  if (settings.solver == "auto" && !registry::supporting(settings.loss, penalty, demanded).empty()) return;
  if (const auto scalar = settings.loss.scalar()) {
    const problem::Problem no_data{.design = {}, .sample = {}, .loss = *scalar, .penalty = penalty};
    registry::choose(settings.solver, no_data, demanded);
  } else {
    const problem::MulticlassProblem no_data{
        .design = {}, .sample = {}, .loss = *settings.loss.vector(), .penalty = penalty};
    registry::choose(settings.solver, no_data, demanded);
  }
}

}  // namespace fenchel::cli
