// Psi(x) = lambda Delta(x, w0) over the set of a geometry, as accelerated gradient methods see it: (lambda/2) ||x - w0||^2, or
// lambda KL(x || w0) on the capped simplex (entropy-regularized boosting).
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "fenchel/projection/geometry.hpp"
#include "fenchel/solver/accelerated_gradient.hpp"

namespace fenchel::solver {

template <projection::Geometry G>
class DivergencePart final : public SimplePart {
 public:
  DivergencePart(G geometry, double lambda, std::vector<double> centre)
      : geometry_(std::move(geometry)), lambda_(lambda), centre_(std::move(centre)), mirrored_(centre_.size()) {
    mirror(centre_, mirrored_);
  }

  [[nodiscard]] double convexity() const override { return lambda_; }
  [[nodiscard]] double value(std::span<const double> x) const override {
    return lambda_ * geometry_.divergence(x, centre_);
  }
  void mirror(std::span<const double> x, std::span<double> result) const override {
    constexpr double deepest = -745.0;  // the logarithm of the least double: an entry that underflows may come back
    geometry_.mirror(x, result);
    for (double& m : result) m = m < -std::numeric_limits<double>::max() ? deepest : m;
  }
  [[nodiscard]] double divergence(std::span<const double> x, std::span<const double> centre) const override {
    return geometry_.divergence(x, centre);
  }
  void minimize(std::span<const double> pull, double weight, std::span<double> x) override {
    std::vector<double>& mean = scratch_;
    mean.resize(x.size());
    for (std::size_t j = 0; j < x.size(); ++j) mean[j] = (pull[j] + lambda_ * mirrored_[j]) / (weight + lambda_);
    geometry_.recover(mean, x);
  }

 private:
  G geometry_;
  double lambda_;
  std::vector<double> centre_, mirrored_, scratch_;
};

}  // namespace fenchel::solver
