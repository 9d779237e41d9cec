// One certificate of the library held against its exact evaluation.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "fenchel/problem/certificate.hpp"
#include "fenchel/problem/feasibility.hpp"
#include "tests/support/exact.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {

inline double to_double(Quad x) { return static_cast<double>(x); }

enum class Tightness { ordinary, any };

// A set-up with everything that has to outlive its problem.
struct Asked {
  explicit Asked(Case given)
      : setup(std::move(given)),
        instance(instance_of(setup)),
        dataset(dataset_of(setup)),
        plan(dataset, setup.settings, setup.weights, setup.factors),
        problem(plan.problem(0)),
        certifier(problem) {
    for (std::size_t j = 0; j < instance.l1.size(); ++j) {  // the strengths of record are doubles, rounded once
      instance.l1[j] = problem.penalty[j].l1;
      instance.l2[j] = problem.penalty[j].l2;
    }
    // The weights of record are those asked for times one power of two; duals are stored in these units.
    const double scale = instance.c.empty() ? 1.0 : problem.sample.weight_sum / plan_sum(instance.c);
    for (std::size_t i = 0; i < instance.c.size(); ++i) {
      const double weight = problem.sample.weight(i);
      EXPECT_EQ(std::scalbn(instance.c[i], static_cast<int>(std::lround(std::log2(scale)))), weight);
      instance.c[i] = weight;
    }
  }

  static double plan_sum(const std::vector<double>& weights) {
    double sum = 0.0;
    for (const double c : weights) sum += c;
    return sum;
  }

  Case setup;
  Instance instance;
  data::Dataset dataset;
  registry::Plan plan;
  problem::Problem problem;
  problem::Certifier certifier;
};

inline std::vector<double> rooms_of(const Asked& asked, const problem::DualPoint& dual) {
  std::vector<double> room(dual.beta.size());
  for (std::size_t i = 0; i < room.size(); ++i) {
    room[i] = problem::dual_room(dual.beta[i], problem::dual_box(asked.problem, i), asked.problem.sample.weight(i));
  }
  return room;
}

// Whether a bound was given; every bound that is given must hold.
inline bool expect_rigorous(const Asked& asked, const problem::PrimalPoint& primal, const problem::DualPoint& dual,
                            Tightness tightness) {
  const problem::Certificate certificate = asked.certifier.pair(primal, dual);
  EXPECT_FALSE(std::isnan(certificate.gap));
  EXPECT_FALSE(std::isnan(certificate.dual));
  EXPECT_GE(certificate.gap, 0.0);
  if (!certificate.valid()) {
    EXPECT_EQ(tightness, Tightness::any) << "no bound for an ordinary problem";
    return false;
  }
  const std::vector<Quad> beta = exact_dual(asked.instance, dual, rooms_of(asked, dual));
  EXPECT_EQ(beta.size(), dual.beta.size()) << "the feasible point lies outside its stated slack";
  if (beta.empty()) return true;
  const Exact exact = evaluate_exactly(asked.instance, primal.w, primal.b, beta);
  EXPECT_TRUE(exact.feasible);
  EXPECT_GE(Quad(certificate.gap) + exact.noise, exact.gap)
      << certificate.gap << " is " << to_double(exact.gap - Quad(certificate.gap)) << " below the exact "
      << to_double(exact.gap) << ", noise " << to_double(exact.noise);
  EXPECT_LE(Quad(certificate.dual), exact.dual + exact.noise)
      << certificate.dual << " is " << to_double(Quad(certificate.dual) - exact.dual) << " above the exact one";
  // What was added up, times a few roundings of a double.
  const Quad rounding = exact.noise / quad_noise * Quad(64 * unit_roundoff);
  EXPECT_LE(to_double(magnitude(Quad(certificate.primal) - exact.primal)), to_double(rounding) + 1e-14);
  if (tightness == Tightness::ordinary) {
    const Quad unit = larger(Quad(1), exact.primal);
    EXPECT_LE(to_double(Quad(certificate.gap) - exact.gap), to_double(exact.gap * Quad(1e-9) + Quad(1e-13) * unit));
    EXPECT_LE(to_double(exact.dual - Quad(certificate.dual)), to_double(Quad(1e-12) * (unit + exact.gap)));
  }
  return true;
}

}  // namespace fenchel::test
