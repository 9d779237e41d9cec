// Fits every output of a plan.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fenchel/registry/plan.hpp"
#include "fenchel/run/run.hpp"

namespace fenchel::registry {

struct Output {
  std::vector<double> w;             // one a feature and, for a regularized bias, one for the constant
  double b = 0.0;                    // the free bias; 0 otherwise
  std::vector<double> beta;          // weighted duals c_i alpha_i; c_i beta_il under a multiclass loss
  problem::Certificate certificate;  // under a multiclass loss that of all outputs together
  Interval bias_range{};  // encloses the bias of every optimal solution; the whole line where nothing is known
  run::Status status = run::Status::stalled;
  double passes = 0.0;
};

struct Fit {
  std::vector<Output> outputs;
  std::string solver;
  std::optional<solver::RowOrder> row_order;  // of solvers that take one
  std::optional<std::size_t> distinct_rows;   // that were solved for, where equal ones were merged
  run::Status status = run::Status::optimal;  // the worst of the outputs
  problem::Certificate total;                 // sums over the outputs
  double passes = 0.0;
  double certificate_passes = 0.0;
  double certificate_seconds = 0.0;
  double seconds = 0.0;
};

// Sums over the outputs that stay bounds; those of a multiclass loss all have the certificate of their one problem.
problem::Certificate total_of(std::span<const Output> outputs, bool joint = false);

// alpha_i = beta_i / c_i, or beta_il / c_i with all numbers of a row side by side; rows of weight 0 have no part in the problem. Empty
// weights are all 1.
std::vector<double> unweighted(std::vector<double> beta, std::span<const double> weights);

// Under `auto` a solver that stalls, or takes much longer than foreseen, gives way to another (see turns.hpp); `solver` is the
// last one. `start` is empty or holds one point an output. The time limit holds for the whole fit, the limit on passes for each output.
Fit fit(const Plan& plan, const run::Options& options, std::span<const solver::Start> start = {});

}  // namespace fenchel::registry
