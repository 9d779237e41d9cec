// The options that commands share, in four groups that a command can take apart: what is printed, how data are
// read, which problem is meant, and how long to work on it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/choices.hpp"
#include "fenchel/data/reader.hpp"
#include "fenchel/model/foreign.hpp"
#include "fenchel/registry/settings.hpp"
#include "fenchel/run/run.hpp"

namespace fenchel::cli {

// The objective and its options in words, for `--help`.
inline constexpr std::string_view objective_text =
    "P(w, b) = (1 / sum c_i) sum_i c_i phi(y_i, x_i.w + b)  +  lambda Omega(w)";

struct OutputOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  void add(CLI::App& app);
  void check() const;
};

struct DataOptions {
  std::string format, label, labels, drop;
  bool zero_based = false;
  std::optional<double> positive_label;
  std::string precision = "f64";

  void add(CLI::App& app);
  void add_precision(CLI::App& app);
  [[nodiscard]] data::ReadOptions resolve() const;
};

class ProblemOptions {
 public:
  void add(CLI::App& app, std::string_view default_bias = "free");
  // Usage errors for everything that contradicts itself; the solver is not chosen here.
  [[nodiscard]] registry::Settings resolve() const;
  // Takes what a foreign file says itself, where no option says otherwise.
  void imply(const model::Foreign& foreign);
  // The options of this group that were given, for commands where only some models need them.
  [[nodiscard]] std::vector<std::string_view> given_ones() const;

  // One number >= 0 a row or feature; empty where no file is given.
  [[nodiscard]] std::vector<double> weights() const;
  [[nodiscard]] std::vector<double> factors() const;
  [[nodiscard]] const std::string& weights_file() const { return weights_file_; }
  [[nodiscard]] const std::string& factors_file() const { return factors_file_; }

 private:
  void add_penalty(CLI::App& app);
  void add_rows_and_columns(CLI::App& app);
  void check_exclusions() const;

  CLI::App* app_ = nullptr;
  std::string loss_ = "hinge";
  std::string penalty_ = "l2";
  std::string bias_ = "free";
  Parameters loss_parameters_;
  Parameters penalty_parameters_;
  std::optional<double> lambda_, C_, l1_, l2_;
  double bias_value_ = 1.0;
  bool standardize_ = false;
  std::string class_weight_, weights_file_, factors_file_;
};

struct EffortOptions {
  std::string solver = "auto";
  double tolerance = 1e-4;
  double absolute_tolerance = 0.0;
  double max_passes = 10000.0;
  std::optional<double> time_limit;
  std::uint64_t seed = 0;
  std::string row_order = "auto";
  std::string equal_rows = "auto";

  void add(CLI::App& app);
  [[nodiscard]] std::optional<solver::RowOrder> rows() const;
  [[nodiscard]] bool merge_rows() const;  // equal ones, where that pays
  // A name that exists, `auto` included; otherwise a usage error.
  void check_solver() const;
  [[nodiscard]] run::Options resolve() const;
};

// Limits the threads of the whole process while it lives.
class Threads {
 public:
  Threads();
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  void add(CLI::App& app);
  void apply();
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::uint64_t count_;
  struct Control;
  std::unique_ptr<Control> control_;
};

// Refuses before data are read what no data could make possible.
void check_supported(const registry::Settings& settings, const std::vector<double>& factors);

}  // namespace fenchel::cli
