// LIBLINEAR as a library, without reading in the time; a line of JSON a tolerance:
//     liblinear_probe DATA -s 3 -c 1 --eps 0.1,0.01
// `seconds` are those of train() on data in its own structures, no bias. `primal` is in our normalisation,
// (1/n) sum loss + |w|^2 / (2 C n), computed here in float64 from its weights. A fit that would take longer than --cap
// seconds ends the program with a line that says so. --repeat and --weights-to as for fit_probe; the weights favour the
// larger of two labels, and are class after class in ascending order for more.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <linear.h>
#include <nlohmann/json.hpp>

#include "bench/probe.hpp"
#include "fenchel/base/clock.hpp"
#include "fenchel/base/interval.hpp"
#include "fenchel/data/reader.hpp"

namespace {

using fenchel::Stopwatch;
namespace data = fenchel::data;
namespace bench = fenchel::bench;

struct Arguments {
  std::string data, weights_prefix;
  int solver = 3;
  double c = 1.0;
  std::vector<double> tolerances{0.1};
  double cap = 60.0;
  int repeat = 1;
};

struct Free {
  void operator()(model* m) const { free_and_destroy_model(&m); }
};
using Model = std::unique_ptr<model, Free>;

// The data set in LIBLINEAR's structures.
class Nodes {
 public:
  explicit Nodes(const data::Dataset& dataset) : targets_(dataset.targets.begin(), dataset.targets.end()) {
    std::visit([&](const auto& matrix) { fill(matrix); }, dataset.matrix());
    problem_ = {.l = static_cast<int>(targets_.size()),
                .n = static_cast<int>(data::cols(dataset.matrix())),
                .y = targets_.data(),
                .x = rows_.data(),
                .bias = -1.0};
  }
  [[nodiscard]] const problem& get() const { return problem_; }

 private:
  template <class Matrix>
  void fill(const Matrix& matrix) {
    nodes_.reserve(matrix.nonzeros() + matrix.rows());
    for (std::size_t i = 0; i < matrix.rows(); ++i) {
      rows_.push_back(nodes_.data() + nodes_.size());
      matrix.row(i).for_each(
          [&](std::size_t j, double v) { nodes_.push_back({.index = static_cast<int>(j) + 1, .value = v}); });
      nodes_.push_back({.index = -1, .value = 0.0});
    }
  }

  std::vector<double> targets_;
  std::vector<feature_node> nodes_;
  std::vector<feature_node*> rows_;
  problem problem_{};
};

double dot(const feature_node* row, const double* w) {
  double sum = 0.0;
  for (; row->index > 0; ++row) sum += row->value * w[row->index - 1];
  return sum;
}

// One vector a class, labels ascending; one in all for two classes, unless the loss is a multiclass one.
std::vector<std::vector<double>> weights_of(const model& m) {
  const auto d = static_cast<std::size_t>(m.nr_feature), classes = static_cast<std::size_t>(m.nr_class);
  if (classes == 2 && m.param.solver_type != MCSVM_CS) {
    std::vector<double> w(m.w, m.w + d);
    if (m.label[0] < m.label[1]) {
      for (double& x : w) x = -x;
    }
    return {std::move(w)};
  }
  std::map<int, std::vector<double>> by_label;
  for (std::size_t k = 0; k < classes; ++k) {
    std::vector<double>& w = by_label[m.label[k]];
    for (std::size_t j = 0; j < d; ++j) w.push_back(m.w[j * classes + k]);
  }
  std::vector<std::vector<double>> all;
  for (auto& entry : by_label) all.push_back(std::move(entry.second));
  return all;
}

double loss(int solver, double margin) {
  if (solver == L2R_LR || solver == L2R_LR_DUAL) {
    return margin > 0.0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
  }
  const double slack = std::max(0.0, 1.0 - margin);
  return solver == L2R_L1LOSS_SVC_DUAL || solver == MCSVM_CS ? slack : slack * slack;
}

double primal(const problem& data, const Arguments& arguments, const std::vector<std::vector<double>>& weights) {
  std::vector<double> labels(data.y, data.y + data.l);
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  double sum = 0.0, square = 0.0;
  for (int i = 0; i < data.l; ++i) {
    if (weights.size() == 1) {
      const double z = dot(data.x[i], weights[0].data());
      sum += loss(arguments.solver, data.y[i] == labels.back() ? z : -z);
      continue;
    }
    const auto own = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), data.y[i]) - labels.begin());
    double most = -fenchel::infinity;
    const double z = dot(data.x[i], weights[own].data());
    for (std::size_t k = 0; k < weights.size(); ++k) {
      if (k == own) continue;
      const double margin = z - dot(data.x[i], weights[k].data());
      if (arguments.solver == MCSVM_CS) {
        most = std::max(most, -margin);
      } else {  // one against the rest: the sum of its problems
        sum += loss(arguments.solver, margin - z);
      }
    }
    sum += arguments.solver == MCSVM_CS ? std::max(0.0, 1.0 + most) : loss(arguments.solver, z);
  }
  for (const std::vector<double>& w : weights) {
    for (const double x : w) square += x * x;
  }
  return (sum + 0.5 * square / arguments.c) / data.l;
}

std::string late;  // the line for the case that the current fit takes too long

void give_up(int) {
  const ssize_t written = write(STDOUT_FILENO, late.data(), late.size());
  _exit(written < 0 ? 1 : 0);
}

void run(const Arguments& arguments) {
  const data::Dataset dataset = data::read(arguments.data);
  const Nodes nodes(dataset);
  set_print_string_function([](const char*) {});
  std::signal(SIGALRM, give_up);
  for (std::size_t k = 0; k < arguments.tolerances.size(); ++k) {
    parameter settings{};
    settings.solver_type = arguments.solver;
    settings.eps = arguments.tolerances[k];
    settings.C = arguments.c;
    settings.p = 0.1;
    if (const char* complaint = check_parameter(&nodes.get(), &settings)) throw std::runtime_error(complaint);
    late = fmt::format("{}\n", nlohmann::ordered_json{{"solver", arguments.solver},
                                                      {"eps", arguments.tolerances[k]},
                                                      {"status", "time-limit"},
                                                      {"seconds", arguments.cap}}
                                   .dump());
    Model best;
    double seconds = fenchel::infinity, spent = 0.0;
    for (int turn = 0; turn < arguments.repeat && spent < 1.0; ++turn) {
      std::srand(1);  // where the program begins: the same weights every time
      alarm(static_cast<unsigned>(std::ceil(arguments.cap)));
      const Stopwatch clock;
      best.reset(train(&nodes.get(), &settings));
      const double time = clock.seconds();
      alarm(0);
      seconds = std::min(seconds, time);
      spent += time;
    }
    const std::vector<std::vector<double>> weights = weights_of(*best);
    if (!arguments.weights_prefix.empty()) {
      std::vector<double> all;
      for (const std::vector<double>& w : weights) all.insert(all.end(), w.begin(), w.end());
      bench::write_doubles(fmt::format("{}.{}", arguments.weights_prefix, k), all);
    }
    bench::print_line(nlohmann::ordered_json{{"solver", arguments.solver},
                                             {"eps", settings.eps},
                                             {"status", "done"},
                                             {"seconds", seconds},
                                             {"primal", primal(nodes.get(), arguments, weights)}}
                          .dump());
  }
}

bool parse(int count, char** words, Arguments& arguments) {
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    if (!word.starts_with("-")) {
      arguments.data = word;
      continue;
    }
    if (k + 1 == count) return false;
    const std::string value = words[++k];
    if (word == "-s") {
      arguments.solver = std::stoi(value);
    } else if (word == "-c") {
      arguments.c = std::stod(value);
    } else if (word == "--eps") {
      arguments.tolerances = bench::numbers_in(value);
    } else if (word == "--cap") {
      arguments.cap = std::stod(value);
    } else if (word == "--repeat") {
      arguments.repeat = std::stoi(value);
    } else if (word == "--weights-to") {
      arguments.weights_prefix = value;
    } else {
      return false;
    }
  }
  constexpr int known[] = {L2R_LR, L2R_L2LOSS_SVC_DUAL, L2R_L2LOSS_SVC, L2R_L1LOSS_SVC_DUAL, MCSVM_CS, L2R_LR_DUAL};
  return !arguments.data.empty() &&
         std::find(std::begin(known), std::end(known), arguments.solver) != std::end(known);
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  try {
    if (!parse(count, words, arguments)) {
      std::fputs(
          "usage: liblinear_probe DATA [-s 0|1|2|3|4|7] [-c C] [--eps A,B,...] [--cap SECONDS] [--repeat N] "
          "[--weights-to PREFIX]\n",
          stderr);
      return 2;
    }
    run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "liblinear_probe: %s\n", error.what());
    return 1;
  }
  return 0;
}
