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
  std::vector<double> w;     // one a feature and, for a regularized bias, one for the constant
  double b = 0.0;            // the free bias; 0 otherwise
  std::vector<double> beta;  // weighted duals c_i alpha_i
  problem::Certificate certificate;
  Interval bias_range{};  // encloses the bias of every optimal solution; the whole line where nothing is known
  run::Status status = run::Status::stalled;
  double passes = 0.0;
};

struct Fit {
  std::vector<Output> outputs;
  std::string solver;
  std::optional<solver::RowOrder> row_order;  // of solvers that take one
  run::Status status = run::Status::optimal;  // the worst of the outputs
  problem::Certificate total;                 // sums over the outputs
  double passes = 0.0;
  double certificate_passes = 0.0;
  double certificate_seconds = 0.0;
  double seconds = 0.0;
};

problem::Certificate total_of(std::span<const Output> outputs);

// `start` is empty or holds one point an output. The time limit holds for the whole fit, the limit on passes for each output.
Fit fit(const Plan& plan, const run::Options& options, std::span<const solver::Start> start = {});

}  // namespace fenchel::registry
