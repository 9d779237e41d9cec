// The empirical risks of both kinds of problems as bundle methods see them. Besides its answer a cut has a best bias and the
// dual vector that made it, which proves to the certificate what the cut says to the method.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "fenchel/base/interval.hpp"
#include "fenchel/solver/cut_oracle.hpp"
#include "fenchel/solver/problem_kind.hpp"

namespace fenchel::solver {

// Cuts that touch the risk.
class PointwiseCuts final : public CutOracle {
 public:
  PointwiseCuts(const problem::Problem& problem, double bias_hint)
      : risk_(problem.design, problem.sample, problem.loss, problem.free_bias), free_bias_(problem.free_bias) {
    state_.b = bias_hint;
  }

  Answer cut(std::span<const double> w, std::span<double> slope) override;
  // What cuts may fall short of R is to be small against this gap of the method.
  void sharpen(double /*gap*/) {}
  [[nodiscard]] bool sharpest() const { return true; }
  // Of the last cut.
  [[nodiscard]] double passes() const { return passes_; }
  [[nodiscard]] double bias() const { return state_.b; }
  [[nodiscard]] std::span<const double> dual() const { return risk_.dual(); }

 private:
  risk::Pointwise risk_;
  risk::Pointwise::State state_;
  bool free_bias_;
  double passes_ = 0.0;
};

// Under free biases the duals of a cut have to balance for every class, and at a kink of the multiclass hinge those in its
// subdifferential that do are a problem of their own. The risk smoothed at a level mu gives duals that balance at its best
// biases, and a cut of R itself that falls short of it by mu/2 at most, and by far less where few rows are near a kink. So mu
// falls until that is small against the gap.
class ClassCuts final : public CutOracle {
 public:
  ClassCuts(const problem::MulticlassProblem& problem, std::vector<double> bias_hint)
      : risk_(problem.design, problem.sample, problem.loss, problem.free_bias),
        smoothed_(problem.free_bias && !AllClasses::smooth(problem.loss)) {
    state_.b = std::move(bias_hint);
  }

  Answer cut(std::span<const double> w, std::span<double> slope) override;
  void sharpen(double gap) { most_shortfall_ = 0.1 * gap; }
  [[nodiscard]] bool sharpest() const { return sharpest_; }
  [[nodiscard]] static double passes() { return 2.0; }
  [[nodiscard]] const std::vector<double>& bias() const { return state_.b; }
  [[nodiscard]] std::span<const double> dual() const { return risk_.dual(); }

 private:
  double lower_level();  // until the shortfall is small enough, which it returns, or as far as biases are found

  risk::ClassRisk risk_;
  risk::ClassRisk::State state_;
  bool smoothed_;
  double most_shortfall_ = infinity;
  bool sharpest_ = true;
};

template <class Kind>
struct CutsOf;
template <>
struct CutsOf<OneOutput> {
  using Type = PointwiseCuts;
};
template <>
struct CutsOf<AllClasses> {
  using Type = ClassCuts;
};

}  // namespace fenchel::solver
