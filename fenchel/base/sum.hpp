// Sums that do not depend on who computes them: terms are cut into fixed blocks, each block is summed in order, with
// compensation where the sum has it, and the blocks are combined in order. Threads only change who computes a block, never the bits.
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
// Where every row takes long, as with the weights of all classes, so few are worth a task.
inline constexpr std::size_t long_rows_in_block = 256;

// Calls work(begin, end) for consecutive blocks of [0, count), in parallel.
template <class Work>
void for_each_block(std::size_t count, std::size_t block, Work&& work) {
  parallel_for((count + block - 1) / block,
               [&](std::size_t k) { work(k * block, std::min(count, (k + 1) * block)); });
}
template <class Work>
void for_each_block(std::size_t count, Work&& work) {
  for_each_block(count, rows_in_block, work);
}

// Sums of several quantities at once: accumulate(begin, end, sums) adds the terms of a block.
// `Sums` is a number, or a value type with add(const Sums&), e.g. CompensatedSum.
template <class Sums, class Accumulate>
Sums sum_of_blocks(std::size_t count, std::size_t block, Accumulate&& accumulate) {
  std::vector<Sums> partial((count + block - 1) / block);
  for_each_block(count, block, [&](std::size_t begin, std::size_t end) {
    Sums local{};
    accumulate(begin, end, local);
    partial[begin / block] = local;
  });
  Sums result{};
  for (const Sums& part : partial) {
    if constexpr (std::is_arithmetic_v<Sums>) {
      result += part;
    } else {
      result.add(part);
    }
  }
  return result;
}
// The same where accumulate(i, sums) adds the terms of index i.
template <class Sums, class Accumulate>
Sums block_sum(std::size_t count, Accumulate&& accumulate) {
  return sum_of_blocks<Sums>(count, rows_in_block, [&](std::size_t begin, std::size_t end, Sums& local) {
    for (std::size_t i = begin; i < end; ++i) accumulate(i, local);
  });
}

}  // namespace fenchel
