// Every solver on problems of middle size: what certificates cost, and how soon they notice the end.
#include <cmath>
#include <iostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/medium.hpp"
#include "tests/support/promise.hpp"

namespace fenchel::test {
namespace {

// The passes of the solver alone at the first step whose own certificate meets the tolerance.
double first_crossing(const Medium& medium, const registry::SolverEntry& entry, const run::Options& options) {
  const auto solver = entry.make(*medium.problem, {}, {});
  const problem::Certifier certifier(*medium.problem);
  double passes = 0.0;
  while (passes < options.max_passes) {
    passes += solver->step();
    const problem::Candidate at = solver->candidate();
    const problem::PrimalPoint primal = certifier.primal_with_best_bias(at.w, at.b);
    const problem::DualPoint dual = at.alpha.empty() ? certifier.dual_of(primal) : certifier.dual(at.alpha);
    if (run::meets(certifier.pair(primal, dual), options)) break;
  }
  return passes;
}

// A few problems of middle size, easy and hard; calls visit(medium, solver, options, label).
template <class Visit>
void for_each_run(std::size_t n, Visit&& visit) {
  for (const loss::Any& loss : {loss::Any(loss::Logistic{}), loss::Any(loss::Hinge{}), loss::Any(loss::Squared{}),
                                loss::Any(loss::Huber{})}) {
    for (const auto& [penalty, lambda] : {std::pair<penalty::Any, double>(penalty::L2{}, 1e-2),
                                          {penalty::L2{}, 1e-4},
                                          {penalty::L1{}, 1e-2},
                                          {penalty::ElasticNet{0.5}, 1e-3}}) {
      for (const registry::Bias bias : {registry::Bias::none, registry::Bias::free}) {
        const Medium medium(loss, penalty, lambda, bias, n);
        for (const double tolerance : {1e-3, 1e-6}) {
          for (const auto name : registry::supporting(loss, medium.problem->penalty)) {
            const std::string label = std::string(name) + " " + title(loss) + " lambda " + std::to_string(lambda) +
                                      " bias " + std::to_string(static_cast<int>(bias)) + " tol " +
                                      std::to_string(tolerance);
            visit(medium, solver(name, medium), promised(name, {.tolerance = tolerance, .max_passes = 3000}),
                  label);
          }
        }
      }
    }
  }
}

TEST(Schedule, CertificatesKeepToTheirBudget) {
  for_each_run(150, [](const Medium& medium, const registry::SolverEntry& entry, run::Options options,
                       const std::string& label) {
    options.max_passes = 300;
    const run::Result result = medium.run(entry, options);
    // The certificate that a limit asks for is the one exception.
    const double last = result.status == run::Status::optimal ? 0.0 : 2.0;
    EXPECT_LE(result.certificate_passes, std::fmax(2.0, 0.05 * result.passes) + last) << label;
  });
}

// How punctual the schedule is, by certifying every single step on the side.
TEST(ScheduleSlow, Overshoot) {
  int runs = 0, punctual = 0;
  std::string late;
  for_each_run(2000, [&](const Medium& medium, const registry::SolverEntry& entry, const run::Options& options,
                         const std::string& label) {
    const run::Result result = medium.run(entry, options);
    const double first = first_crossing(medium, entry, options);
    ++runs;
    if (result.passes <= 1.2 * first + 2) {
      ++punctual;
    } else {
      late += label + ": " + std::to_string(result.passes) + " instead of " + std::to_string(first) + "\n";
    }
  });
  std::cout << punctual << " of " << runs << " runs stop within 20 % + 2 passes of the first crossing\n" << late;
  EXPECT_GE(punctual, runs / 2);
}

}  // namespace
}  // namespace fenchel::test
