// How blocks of rows that were swept side by side are put together: the largest step nu with which their changes u_k, each
// made with caution sigma', cannot lower the dual,
//     nu = min(1, sigma' sum ||u_k||^2 / ||sum u_k||^2),
// and the caution that would have made it 1, towards which the next one goes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "fenchel/base/sum.hpp"
#include "fenchel/base/sum_in_parts.hpp"

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

// Those of what blocks made of a vector, copy_of(k) in block k, where all coordinates have the given strength. The first copy becomes the
// vector with `share` of all changes: most often nu is 1, and that is the result.
template <class CopyOf>
BlockNorms add_changes(std::span<const double> before, std::size_t blocks, double strength, double share,
                       CopyOf&& copy_of) {
  constexpr std::size_t stretch = 512;  // that a first cache holds of all copies
  return sum_of_blocks<BlockNorms>(before.size(), rows_in_block,
                                   [&](std::size_t block_begin, std::size_t block_end, BlockNorms& norms) {
                                     for (std::size_t begin = block_begin; begin < block_end; begin += stretch) {
                                       const std::size_t length = std::min(stretch, block_end - begin);
                                       const std::span<const double> from = before.subspan(begin, length);
                                       const std::span<double> sum = copy_of(0).subspan(begin, length);
                                       norms.separate += strength * distance_in_parts(sum, from);
                                       for (std::size_t k = 1; k < blocks; ++k) {
                                         const std::span<const double> copy = copy_of(k).subspan(begin, length);
                                         norms.separate += strength * distance_in_parts(copy, from);
                                         for (std::size_t j = 0; j < length; ++j) sum[j] += copy[j] - from[j];
                                       }
                                       norms.together += strength * distance_in_parts(sum, from);
                                       for (std::size_t j = 0; j < length; ++j)
                                         sum[j] = from[j] + share * (sum[j] - from[j]);
                                     }
                                   });
}

// Takes the part beyond nu of a change back.
inline void take_back(std::span<double> after, std::span<const double> before, double nu) {
  if (nu == 1.0) return;
  for_each_block(after.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) after[j] += (1.0 - nu) * (before[j] - after[j]);
  });
}

}  // namespace fenchel::solver
