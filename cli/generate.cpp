// fenchel generate: synthetic data with known structure. Labels come from true weights, few of which are not zero,
// plus noise. Sparse rows look like text (a few features are in many rows, most are in few; rows have norm 1),
// dense ones are standard normal. Everything follows from the seed, with the same bits on every machine.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/report.hpp"
#include "fenchel/base/atomic_file.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/svmlight.hpp"
#include "fenchel/data/writer.hpp"

namespace fenchel::cli {
namespace {

struct Generate {
  std::string out_path, weights_path;
  std::string task = "classification";
  std::uint64_t rows = 1000;
  std::uint64_t features = 100;
  std::uint64_t classes = 3;
  std::uint64_t seed = 0;
  double density = 0.1;
  double noise = 0.1;
  double sparsity = 0.5;
  bool quiet = false;
};

double four_digits(double value) { return std::round(value * 1e4) / 1e4; }

class Rows {
 public:
  Rows(const Generate& wanted, Random& random)
      : wanted_(wanted), random_(random), popular_(wanted.features), taken_(wanted.features) {
    std::iota(popular_.begin(), popular_.end(), std::uint32_t{0});
    random_.shuffle(std::span(popular_));
  }

  data::CsrStorage make() {
    std::vector<std::uint64_t> offsets{0};
    for (std::uint64_t i = 0; i < wanted_.rows; ++i) {
      columns_.clear();
      choose_columns();
      std::sort(columns_.begin(), columns_.end());
      add_row();
      offsets.push_back(values_.size());
    }
    return {.offsets = std::move(offsets),
            .columns = std::move(entries_),
            .values = std::move(values_),
            .column_count = wanted_.features};
  }

 private:
  [[nodiscard]] bool sparse() const { return wanted_.density < 0.2; }

  void choose_columns() {
    if (!sparse()) {
      for (std::uint32_t j = 0; j < wanted_.features; ++j) {
        if (wanted_.density >= 1.0 || random_.uniform() < wanted_.density) columns_.push_back(j);
      }
      return;
    }
    // Row lengths vary around their mean; a column is drawn the more often, the smaller its rank.
    const double mean = wanted_.density * static_cast<double>(wanted_.features);
    const double length = std::round(mean * std::exp(0.4 * random_.normal() - 0.08));
    const double most = std::max(1.0, 0.5 * static_cast<double>(wanted_.features));
    const auto count = static_cast<std::size_t>(std::clamp(length, 1.0, most));
    while (columns_.size() < count) {
      const double place = std::pow(random_.uniform(), 1.5) * static_cast<double>(wanted_.features);
      const std::uint32_t column = popular_[static_cast<std::size_t>(place)];
      if (taken_[column]) continue;
      taken_[column] = true;
      columns_.push_back(column);
    }
    for (const std::uint32_t column : columns_) taken_[column] = false;
  }

  void add_row() {
    std::vector<double> row(columns_.size());
    double norm = 0.0;
    for (double& value : row) {
      value = sparse() ? 1.0 - std::log(1.0 - random_.uniform()) : random_.normal();
      norm += value * value;
    }
    const double scale = sparse() ? 1.0 / std::sqrt(norm) : 1.0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double value = four_digits(scale * row[k]);
      if (value == 0.0) continue;
      entries_.push_back(columns_[k]);
      values_.push_back(value);
    }
  }

  const Generate& wanted_;
  Random& random_;
  std::vector<std::uint32_t> popular_;  // columns by rank
  std::vector<bool> taken_;             // of the row at hand
  std::vector<std::uint32_t> columns_;  // likewise
  std::vector<std::uint32_t> entries_;  // of all rows
  std::vector<double> values_;
};

// One linear function of the rows, scaled so that its values have mean 0 and standard deviation 1.
struct Truth {
  std::vector<double> w;
  double b = 0.0;
  std::vector<double> z;
};

Truth make_truth(const Generate& wanted, const data::CsrStorage& csr, Random& random) {
  Truth truth{.w = std::vector<double>(wanted.features), .b = 0.0, .z = std::vector<double>(wanted.rows)};
  for (double& w : truth.w) w = random.uniform() < wanted.sparsity ? random.normal() : 0.0;
  const auto& values = std::get<data::Array<double>>(csr.values);
  double mean = 0.0;
  for (std::size_t i = 0; i < truth.z.size(); ++i) {
    for (std::size_t k = csr.offsets[i]; k < csr.offsets[i + 1]; ++k)
      truth.z[i] += truth.w[csr.columns[k]] * values[k];
    mean += truth.z[i] / static_cast<double>(wanted.rows);
  }
  double variance = 0.0;
  for (const double z : truth.z) variance += (z - mean) * (z - mean) / static_cast<double>(wanted.rows);
  const double scale = variance > 0.0 ? 1.0 / std::sqrt(variance) : 1.0;
  for (double& w : truth.w) w *= scale;
  truth.b = -scale * mean;
  for (double& z : truth.z) z = scale * z + truth.b;
  return truth;
}

std::vector<double> make_targets(const Generate& wanted, const std::vector<Truth>& truths, Random& random) {
  std::vector<double> targets(wanted.rows);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto score = [&](const Truth& truth) { return truth.z[i] + wanted.noise * random.normal(); };
    if (wanted.task == "regression") {
      targets[i] = four_digits(score(truths.front()));
    } else if (wanted.task == "classification") {
      targets[i] = score(truths.front()) > 0.0 ? 1.0 : -1.0;
    } else {
      std::vector<double> scores(truths.size());
      std::transform(truths.begin(), truths.end(), scores.begin(), score);
      targets[i] = static_cast<double>(1 + (std::max_element(scores.begin(), scores.end()) - scores.begin()));
    }
  }
  return targets;
}

// One line a feature, the bias last; one number a class in each.
std::string weight_lines(const std::vector<Truth>& truths) {
  std::string text;
  std::vector<double> line(truths.size());
  const auto add = [&](auto&& number_of) {
    std::transform(truths.begin(), truths.end(), line.begin(), number_of);
    text += fmt::format("{}\n", fmt::join(line, " "));
  };
  for (std::size_t j = 0; j < truths.front().w.size(); ++j) add([&](const Truth& truth) { return truth.w[j]; });
  add([](const Truth& truth) { return truth.b; });
  return text;
}

void check(const Generate& wanted) {
  constexpr std::array<std::string_view, 3> tasks{"classification", "regression", "multiclass"};
  if (std::find(tasks.begin(), tasks.end(), wanted.task) == tasks.end())
    refuse_name("--task", wanted.task, tasks, {});
  if (wanted.features > data::largest_index) {
    throw Error(Fault::usage,
                fmt::format("--features {}: at most {} are possible", wanted.features, data::largest_index));
  }
}

int run_generate(const Generate& wanted) {
  check(wanted);
  data::WriteOptions target{.kind = data::kind_of(wanted.out_path), .labels_path = {}};
  if (target.kind.format.empty()) target.kind.format = "svmlight";
  Random random(wanted.seed);
  data::CsrStorage csr = Rows(wanted, random).make();
  std::vector<Truth> truths;
  const std::size_t outputs = wanted.task == "multiclass" ? wanted.classes : 1;
  for (std::size_t k = 0; k < outputs; ++k) truths.push_back(make_truth(wanted, csr, random));
  data::Dataset dataset;
  dataset.targets = make_targets(wanted, truths, random);
  const std::size_t nonzeros = csr.columns.size();
  dataset.storage = std::move(csr);

  data::write(wanted.out_path, dataset, target);
  if (!wanted.weights_path.empty()) write_file(wanted.weights_path, weight_lines(truths));
  if (!wanted.quiet) {
    note(fmt::format("{}: {}, {} rows, {} features, {} nonzeros\n", wanted.out_path, wanted.task, wanted.rows,
                     wanted.features, nonzeros));
  }
  return exit_done;
}

}  // namespace

Action add_generate(CLI::App& app) {
  auto wanted = std::make_shared<Generate>();
  CLI::App& command =
      *app.add_subcommand("generate",
                          "synthetic data with known structure, from a seed\n\nWith true weights w, bias b and "
                          "independent standard normal e, "
                          "where x.w + b has mean 0 and variance 1:\n  classification  y = sign(x.w + b + noise "
                          "e)\n  regression      y = x.w + b "
                          "+ noise e\n  multiclass      y = the class 1 ... K with the largest such value\n");
  add_positional(
      command, "OUT", wanted->out_path,
      "file to write, in the format of its extension as for convert, else svmlight; - for standard output")
      ->required();
  add_text(command, "--task", wanted->task, "NAME",
           "classification, regression or multiclass (default classification)");
  add_count(command, "--rows", wanted->rows, 1, "(default 1000)");
  add_count(command, "--features", wanted->features, 1, "(default 100)");
  add_number(command, "--density", wanted->density, {.low = 0.0, .high = 1.0, .open = false},
             "share of nonzero values; below 0.2 rows look like text, at 1 they are dense (default 0.1)");
  add_number(command, "--noise", wanted->noise, non_negative, "its standard deviation (default 0.1)");
  add_number(command, "--sparsity", wanted->sparsity, {.low = 0.0, .high = 1.0, .open = false},
             "share of the true weights that are not zero (default 0.5)");
  add_count(command, "--classes", wanted->classes, 2, "of multiclass (default 3)");
  add_count(command, "--seed", wanted->seed, 0, "(default 0)");
  add_file(command, "--weights-out", wanted->weights_path,
           "write the true weights too, a line a feature, and the bias last");
  command.add_flag("--quiet", wanted->quiet, "print nothing but errors");
  return [wanted] { return run_generate(*wanted); };
}

}  // namespace fenchel::cli
