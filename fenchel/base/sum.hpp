// Sums that do not depend on who computes them: terms are cut into fixed blocks, each block is summed in order with
// compensation, and the blocks are combined in order. Threads only change who computes a block, never the bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/rounding.hpp"

namespace fenchel {

// Neumaier's compensated sum: the error is one rounding of the result plus terms of second order.
class CompensatedSum {
 public:
  void add(double x) {
    const TwoSum next = two_sum(sum_, x);
    sum_ = next.sum;
    compensation_ += next.error;
  }
  void add(const CompensatedSum& other) {
    add(other.sum_);
    add(other.compensation_);
  }
  void subtract(const CompensatedSum& other) {
    add(-other.sum_);
    add(-other.compensation_);
  }
  [[nodiscard]] double total() const { return std::isfinite(sum_) ? sum_ + compensation_ : sum_; }

 private:
  double sum_ = 0.0;
  double compensation_ = 0.0;
};

inline constexpr std::size_t rows_in_block = 4096;

// Calls work(begin, end) for consecutive blocks of [0, count), in parallel.
template <class Work>
void for_each_block(std::size_t count, Work&& work) {
  const std::size_t blocks = (count + rows_in_block - 1) / rows_in_block;
  const auto run = [&](std::size_t k) { work(k * rows_in_block, std::min(count, (k + 1) * rows_in_block)); };
  if (blocks <= 1) {
    if (blocks == 1) run(0);
    return;
  }
  parallel_for(blocks, run);
}

// The sum of sum_of_block(begin, end) over all of them: numbers, or values of a type with add(), e.g. CompensatedSum.
template <class SumOfBlock>
auto sum_of_blocks(std::size_t count, SumOfBlock&& sum_of_block) {
  using Sum = std::invoke_result_t<SumOfBlock, std::size_t, std::size_t>;
  std::vector<Sum> partial((count + rows_in_block - 1) / rows_in_block);
  for_each_block(count, [&](std::size_t begin, std::size_t end) {
    partial[begin / rows_in_block] = sum_of_block(begin, end);
  });
  Sum result{};
  for (const Sum& block : partial) {
    if constexpr (std::is_arithmetic_v<Sum>) {
      result += block;
    } else {
      result.add(block);
    }
  }
  return result;
}

// Sums of several quantities at once: accumulate(i, sums) adds the terms of index i.
template <class Sums, class Accumulate>
Sums block_sum(std::size_t count, Accumulate&& accumulate) {
  return sum_of_blocks(count, [&](std::size_t begin, std::size_t end) {
    Sums local;
    for (std::size_t i = begin; i < end; ++i) accumulate(i, local);
    return local;
  });
}

}  // namespace fenchel
