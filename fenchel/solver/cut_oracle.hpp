// What bundle methods see of a convex risk R: its value at a point, and a cut there,
//     R(v) >= <slope, v> + offset  for every v,  with equality at the point.
// The offset is exact for the slope, so that the bounds of a method hold whatever rounding did to the point.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/problem/problem.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class CutOracle {
 public:
  struct Answer {
    double value = 0.0;  // R(w)
    double offset = 0.0;
  };

  CutOracle() = default;
  CutOracle(const CutOracle&) = delete;
  CutOracle& operator=(const CutOracle&) = delete;
  virtual ~CutOracle() = default;

  virtual Answer cut(std::span<const double> w, std::span<double> slope) = 0;
};

// Where the first cut is taken.
inline std::vector<double> first_point(const Start& start, std::size_t dimension) {
  std::vector<double> w(start.w.begin(), start.w.end());
  w.resize(dimension, 0.0);
  return w;
}

// The empirical risk of a scalar loss.
class PointwiseCuts final : public CutOracle {
 public:
  PointwiseCuts(const problem::Problem& problem, double bias_hint)
      : risk_(problem.design, problem.sample, problem.loss, problem.free_bias), free_bias_(problem.free_bias) {
    state_.b = bias_hint;
  }

  Answer cut(std::span<const double> w, std::span<double> slope) override {
    if (!free_bias_) {
      passes_ = risk_.locate_with_gradient(w, 0.0, state_, slope);
      return {.value = risk_.value(state_), .offset = risk_.offset()};
    }
    risk_.locate(w, state_.b, state_);
    passes_ = 2.0;
    return {.value = risk_.value(state_), .offset = risk_.subgradient(state_, slope)};
  }
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

}  // namespace fenchel::solver
