// A separable penalty over all coordinates: one strength, times a factor >= 0 a coordinate where factors are given.
// The problem's strengths are the doubles l1 f_j and l2 f_j as rounded here, once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/penalty/strength.hpp"

namespace fenchel::penalty {

class Separable {
 public:
  Separable() = default;
  explicit Separable(Strength base, std::vector<double> factors = {}) : base_(base), factors_(std::move(factors)) {}

  [[nodiscard]] Strength base() const { return base_; }
  [[nodiscard]] bool uniform() const { return factors_.empty(); }
  [[nodiscard]] std::span<const double> factors() const { return factors_; }
  [[nodiscard]] Strength operator[](std::size_t j) const {
    return uniform() ? base_ : Strength{.l1 = base_.l1 * factors_[j], .l2 = base_.l2 * factors_[j]};
  }

  [[nodiscard]] double smallest_factor() const {
    return uniform() ? 1.0 : *std::min_element(factors_.begin(), factors_.end());
  }
  // The modulus of strong convexity over all coordinates; 0 where there is none.
  [[nodiscard]] double strong_convexity() const { return base_.l2 * smallest_factor(); }
  [[nodiscard]] bool has_unpenalized() const { return base_.unpenalized() || (*this)[lightest()].unpenalized(); }

  // w = prox_{t g}(v), in place.
  void prox(std::span<double> v, double t) const {
    for (std::size_t j = 0; j < v.size(); ++j) v[j] = (*this)[j].prox(v[j], t);
  }
  [[nodiscard]] double value(std::span<const double> w) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < w.size(); ++j) sum += (*this)[j].value(w[j]);
    return sum;
  }

 private:
  [[nodiscard]] std::size_t lightest() const {
    return uniform()
               ? 0
               : static_cast<std::size_t>(std::min_element(factors_.begin(), factors_.end()) - factors_.begin());
  }

  Strength base_;
  std::vector<double> factors_;
};

}  // namespace fenchel::penalty
