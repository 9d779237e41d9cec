// How blocks of rows that were swept side by side are put together: the largest step nu with which their changes u_k, each
// made with caution sigma', cannot lower the dual,
//     nu = min(1, sigma' sum ||u_k||^2 / ||sum u_k||^2),
// and the caution that would have made it 1, towards which the next one goes.
#pragma once

#include <algorithm>
#include <cstddef>

namespace fenchel::solver {

struct BlockNorms {
  double separate = 0.0;  // sum ||u_k||^2
  double together = 0.0;  // ||sum u_k||^2

  void add(const BlockNorms& other) {
    separate += other.separate;
    together += other.together;
  }
  // A coordinate of the given strength, which block k changed by change_of(k). Returns the sum of the changes.
  template <class ChangeOf>
  double measure(double strength, std::size_t blocks, ChangeOf&& change_of) {
    double sum = 0.0;
    for (std::size_t k = 0; k < blocks; ++k) {
      const double change = change_of(k);
      separate += strength * change * change;
      sum += change;
    }
    together += strength * sum * sum;
    return sum;
  }

  // Returns nu and moves sigma.
  [[nodiscard]] double step(std::size_t blocks, double& sigma) const {
    if (!(separate > 0.0)) return 1.0;
    const double ratio = together / separate;
    const double nu = std::min(1.0, sigma / ratio);
    sigma = std::clamp(0.5 * sigma + 0.5 * ratio * 1.05, 1.0, static_cast<double>(blocks));
    return nu;
  }
};

}  // namespace fenchel::solver
