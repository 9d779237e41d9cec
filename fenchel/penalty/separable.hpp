// A separable penalty over all coordinates: one strength, times a factor f_j >= 0 a coordinate where factors are given,
// of s_j w_j in place of w_j where scales s_j > 0 are given (that is what standardized features come to):
//     l1 f_j s_j |w_j| + (l2 f_j s_j^2 / 2) w_j^2.
// The problem's strengths are these doubles as rounded here, once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/base/sum.hpp"
#include "fenchel/penalty/strength.hpp"

namespace fenchel::penalty {

class Separable {
 public:
  Separable() = default;
  explicit Separable(Strength base, std::vector<double> factors = {}, std::vector<double> scales = {})
      : base_(base), factors_(std::move(factors)), scales_(std::move(scales)) {}

  [[nodiscard]] Strength base() const { return base_; }
  [[nodiscard]] bool uniform() const { return factors_.empty() && scales_.empty(); }
  [[nodiscard]] std::span<const double> scales() const { return scales_; }
  [[nodiscard]] Strength operator[](std::size_t j) const {
    if (uniform()) return base_;
    const double s = scales_.empty() ? 1.0 : scales_[j];
    const double f = factors_.empty() ? s : factors_[j] * s;
    return {.l1 = base_.l1 * f, .l2 = base_.l2 * (f * s)};
  }

  // The modulus of strong convexity over all coordinates; 0 where there is none.
  [[nodiscard]] double strong_convexity() const {
    double least = uniform() ? base_.l2 : infinity;
    for_each([&](const Strength& g) { least = std::min(least, g.l2); });
    return least;
  }
  [[nodiscard]] bool has_unpenalized() const {
    bool found = base_.unpenalized();
    for_each([&](const Strength& g) { found |= g.unpenalized(); });
    return found;
  }

  // The same for vectors that have `count` numbers side by side in place of each.
  [[nodiscard]] Separable repeated(std::size_t count) const {
    const auto stretch = [&](const std::vector<double>& values) {
      std::vector<double> result;
      result.reserve(values.size() * count);
      for (const double value : values) result.insert(result.end(), count, value);
      return result;
    };
    return Separable(base_, stretch(factors_), stretch(scales_));
  }

  [[nodiscard]] double value(std::span<const double> w) const {
    return block_sum<CompensatedSum>(w.size(),
                                     [&](std::size_t j, CompensatedSum& sum) { sum.add((*this)[j].value(w[j])); })
        .total();
  }

 private:
  // Only where coordinates differ is it known how many there are.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t j = 0; j < std::max(factors_.size(), scales_.size()); ++j) visit((*this)[j]);
  }

  Strength base_;
  std::vector<double> factors_;  // empty: all 1
  std::vector<double> scales_;   // likewise
};

}  // namespace fenchel::penalty
