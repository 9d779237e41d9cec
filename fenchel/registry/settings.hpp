// What a user asks for, with the defaults of the contract in place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "fenchel/loss/any_vector.hpp"
#include "fenchel/penalty/any.hpp"
#include "fenchel/run/run.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::registry {

enum class Bias { none, free, regularized };

// Choices of dual coordinate ascent; empty: the solver's own.
struct AscentSettings {
  std::optional<kernel::StepOption> step = {};
  std::optional<solver::Sampling> sampling = {};
  std::optional<solver::Iterate> iterate = {};
  std::optional<double> smoothing = {};
  std::optional<bool> momentum = {};
  std::optional<bool> theory = {};
  std::optional<std::size_t> blocks = {};

  [[nodiscard]] solver::AscentChoices resolve() const {
    const solver::AscentChoices own;
    return {.step = step.value_or(own.step),
            .sampling = sampling.value_or(own.sampling),
            .iterate = iterate.value_or(own.iterate),
            .smoothing = smoothing.value_or(own.smoothing),
            .momentum = momentum.value_or(own.momentum),
            .theory = theory.value_or(own.theory),
            .blocks = blocks.value_or(own.blocks)};
  }
};

// Choices of accelerated gradient and excessive gap methods; empty: the solver's own.
struct GradientSettings {
  std::optional<solver::Space> space = {};
  std::optional<solver::Curvature> curvature = {};
  std::optional<solver::SmoothingWeights> weights = {};

  [[nodiscard]] solver::GradientChoices resolve(double most_passes) const {
    const solver::GradientChoices own;
    return {.space = space,
            .curvature = curvature.value_or(own.curvature),
            .weights = weights.value_or(own.weights),
            .most_passes = most_passes};
  }
};

// Class weights multiply the sample weights; classes that are not listed have weight 1.
struct ClassWeight {
  bool balanced = false;  // n / (number of classes x size of the class), sizes counted in sample weights
  std::map<double, double> by_label;
};

struct Settings {
  loss::Chosen loss = loss::Hinge{};
  penalty::Any penalty = penalty::L2{};
  std::optional<double> lambda;             // at most one of lambda and C; neither: C = 1
  std::optional<double> C;                  // lambda = 1 / (C sum c)
  std::optional<penalty::Strength> direct;  // --l1 a --l2 b, in place of penalty and lambda
  Bias bias = Bias::free;
  double bias_value = 1.0;  // the constant of the regularized form
  ClassWeight class_weight;
  // Omega(w) becomes Omega(s_1 w_1, ...) with s_j the standard deviation of feature j under the weights c: what
  // dividing every feature by its deviation comes to, with w still on the scale of the data. Under a free bias that is
  // centring them too, since the bias takes up the means; without one they are scaled only.
  bool standardize = false;
  std::string solver = "auto";
  std::uint64_t seed = 0;
  std::optional<solver::RowOrder> row_order =
      {};  // empty: windows for mapped data larger than memory, else runs where neighbours are not alike
  bool merge_rows = true;  // equal ones, where that pays
  AscentSettings ascent = {};
  std::optional<std::size_t> batch = {};  // rows a step of pegasos; empty: 1
  GradientSettings gradient = {};
};

}  // namespace fenchel::registry
