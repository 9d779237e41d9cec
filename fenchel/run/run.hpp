// The only loop. It steps a solver, certifies on a schedule that counts passes and never seconds (so that the same seed gives
// the same bits), keeps the best primal and the best dual apart, and honours limits and interruption.
#pragma once

#include <atomic>
#include <functional>
#include <string_view>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/problem/certificate.hpp"
#include "fenchel/solver/multiclass_solver.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::run {

enum class Status { optimal, time_limit, max_passes, interrupted, stalled };
std::string_view name(Status status);

// What an observer is told at every certificate.
struct Progress {
  double seconds = 0.0;
  double passes = 0.0;
  problem::Certificate certificate;
  std::size_t output = 0;  // which of several problems, where a fit has several
  std::size_t outputs = 1;
};

struct Options {
  double tolerance = 1e-4;          // on gap / max(|primal|, |dual|)
  double absolute_tolerance = 0.0;  // on the gap
  double max_passes = 10000.0;
  double time_limit = infinity;  // seconds
  bool certify_often = false;    // for a trace: spends passes on a dense curve
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(const Progress&)> observe{};
};

struct Outcome {
  Status status = Status::stalled;
  problem::Certificate certificate;
  double passes = 0.0;  // certificates included
  double certificate_passes = 0.0;
  double certificate_seconds = 0.0;
  double seconds = 0.0;
};

struct Result : Outcome {
  std::vector<double> w;
  double b = 0.0;
  std::vector<double> beta;  // weighted duals c_i alpha_i, exactly feasible
  Interval bias_range;       // encloses the free bias of every optimal solution
};

// Laid out as in problem::MulticlassPrimal and MulticlassDual.
struct MulticlassResult : Outcome {
  LargeVector w;
  std::vector<double> b;  // empty without a free bias
  std::vector<double> beta;
};

bool meets(const problem::Certificate& certificate, const Options& options);

// `start` is what the solver was given: where it has weights, and the limit on passes leaves room for a certificate more, the answer is
// no worse, and the solver is not asked at all where it is good enough.
Result run(const problem::Problem& problem, solver::Solver& solver, const Options& options,
           const solver::Start& start = {});
MulticlassResult run(const problem::MulticlassProblem& problem, solver::MulticlassSolver& solver,
                     const Options& options, const solver::MulticlassStart& start = {});

}  // namespace fenchel::run
