// An average of late weights. Those of dual coordinate ascent scatter about the optimum, as a step that puts one row right
// moves the margins of all others. Under a loss with corners scatter costs the primal value in proportion to its size, the
// dual value to its square only: most of a late gap is scatter, and an average has little of it. The t-th point enters
// with weight (eta + 1) / (t + eta), which forgets the early ones (Shamir and Zhang, "Stochastic gradient descent for
// non-smooth optimization", polynomial decay).
#pragma once

#include <cstddef>
#include <span>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::solver {

class LateAverage {
 public:
  void take(std::span<const double> w, double b) {
    w_.resize(w.size());
    const double weight = (eta + 1.0) / (++count_ + eta);
    const bool first = count_ == 1.0;
    for_each_block(w.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) w_[j] = first ? w[j] : w_[j] + weight * (w[j] - w_[j]);
    });
    b_ = first ? b : b_ + weight * (b - b_);
  }

  void scale(double times) {
    for (double& w : w_) w *= times;
    b_ *= times;
  }

  [[nodiscard]] bool empty() const { return count_ == 0.0; }
  [[nodiscard]] std::span<const double> weights() const { return w_; }
  [[nodiscard]] double bias() const { return b_; }

 private:
  static constexpr double eta = 8.0;
  LargeVector w_;
  double b_ = 0.0;
  double count_ = 0.0;
};

}  // namespace fenchel::solver
