// The two kinds of problems, of one output and of all classes at once, as batch solvers see them: a risk's oracle, a penalty on
// every coordinate of w, and the types of points. A solver that is a template over the kind is written once for both.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fenchel/problem/multiclass.hpp"
#include "fenchel/problem/problem.hpp"
#include "fenchel/risk/class_risk.hpp"
#include "fenchel/risk/pointwise.hpp"
#include "fenchel/solver/multiclass_solver.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

struct OneOutput {
  using Problem = problem::Problem;
  using Loss = loss::Any;
  using Risk = risk::Pointwise;
  using Method = Solver;
  using Start = solver::Start;
  using Candidate = problem::Candidate;
  using Bias = double;

  static std::size_t width(const Problem& /*problem*/) { return 1; }
  static penalty::Regularizer penalty(const Problem& problem) { return problem.penalty; }
  static bool smooth(const Loss& loss) { return loss::smoothness(loss) > 0.0; }
  // The level of smoothing of row i becomes mu factor_i, or mu where there are no factors.
  static void set_levels(Risk& risk, double mu, std::span<const double> factors) {
    risk.smooth({.mu = mu, .factors = factors});
  }
  // What certificates ask of the penalty, or nothing.
  static std::optional<std::string_view> unproved(const penalty::Separable& /*penalty*/) { return std::nullopt; }

  static Bias bias(const Problem& /*problem*/, const Start& start) { return start.b; }
  static Bias bias(const Candidate& candidate) { return candidate.b; }
  static std::span<const double> dual(const Candidate& candidate) { return candidate.alpha; }
  // A bias as numbers that a solver may average without knowing what they are, and back.
  static std::vector<double> numbers(Bias b) { return {b}; }
  static Bias bias(const std::vector<double>& numbers) { return numbers.front(); }
};

struct AllClasses {
  using Problem = problem::MulticlassProblem;
  using Loss = loss::AnyVector;
  using Risk = risk::ClassRisk;
  using Method = MulticlassSolver;
  using Start = MulticlassStart;
  using Candidate = problem::MulticlassCandidate;
  using Bias = std::vector<double>;

  // Numbers side by side a row, and a feature.
  static std::size_t width(const Problem& problem) { return problem.classes(); }
  // The penalty of a feature, for each of its k weights.
  static penalty::Regularizer penalty(const Problem& problem) {
    return problem.penalty.repeated(problem.classes());
  }
  static bool smooth(const Loss& loss) { return !std::holds_alternative<loss::MulticlassHinge>(loss); }
  static void set_levels(Risk& risk, double mu, std::span<const double> /*factors*/) { risk.smooth(mu); }
  static std::optional<std::string_view> unproved(const penalty::Separable& penalty) {
    if (!penalty.has_unpenalized()) return std::nullopt;
    return "a penalty on every feature (lambda > 0 and no penalty factor of 0)";
  }

  static Bias bias(const Problem& problem, const Start& start) {
    Bias b(start.b.begin(), start.b.end());
    b.resize(problem.free_bias ? problem.classes() : 0, 0.0);
    return b;
  }
  static Bias bias(const Candidate& candidate) { return {candidate.b.begin(), candidate.b.end()}; }
  static std::span<const double> dual(const Candidate& candidate) { return candidate.beta; }
  static std::vector<double> numbers(Bias b) { return b; }
  static Bias bias(const std::vector<double>& numbers) { return numbers; }
};

}  // namespace fenchel::solver
