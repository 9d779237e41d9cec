#include "fenchel/projection/kl_capped_simplex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::projection {
namespace {

constexpr double log_of_nothing = -std::numeric_limits<double>::infinity();

std::vector<double> finite_logs(std::span<const double> logs) {
  std::vector<double> finite;
  finite.reserve(logs.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (!(logs[i] < -log_of_nothing))
      throw Error(Fault::usage,
                  fmt::format("projection onto a capped simplex: the logarithm of entry {} is {}", i, logs[i]));
    if (logs[i] > log_of_nothing) finite.push_back(logs[i]);
  }
  return finite;
}

// What is capped: all logarithms >= from, `count` of them; `largest` is the largest of the others.
struct Capped {
  double from = -log_of_nothing, count = 0.0;
  double largest = log_of_nothing;
};

// Entries of at most the median p are not capped if cap sum_i min(1, e^(l_i - p)) >= 1, those of at least p are otherwise.
// Either way half of the list is done with.
Capped find_capped(std::vector<double> logs, double cap) {
  Capped capped;
  double tail = 0.0;  // sum of e^(l - largest) of those known to be below the cap
  for (auto begin = logs.begin(), end = logs.end(); begin != end;) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end);
    const double pivot = *middle;
    double below = tail == 0.0 ? 0.0 : tail * std::exp(capped.largest - pivot);
    for (auto l = begin; l != middle; ++l) below += std::exp(*l - pivot);
    const auto above = static_cast<double>(end - middle);
    if (cap * (capped.count + above + below) >= 1.0) {
      const auto rest = std::partition(middle, end, [=](double l) { return l <= pivot; });
      tail = below + static_cast<double>(rest - middle);
      capped.largest = pivot;
      begin = rest;
    } else {
      end = std::partition(begin, middle, [=](double l) { return l < pivot; });
      capped.count = static_cast<double>(logs.end() - end);
      capped.from = pivot;
    }
  }
  return capped;
}

}  // namespace

void project_kl_capped_simplex(std::span<const double> logs, double cap, std::span<double> result) {
  std::vector<double> finite = finite_logs(logs);
  const auto size = static_cast<double>(finite.size());
  constexpr double rounding = 1e-12;
  if (!(cap * size >= 1.0 - rounding)) {
    throw Error(Fault::usage,
                fmt::format("projection onto a capped simplex: {} entries of at most {} cannot have the sum 1",
                            finite.size(), cap));
  }
  const auto write = [&](const auto& entry) {
    for_each_block(result.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) result[i] = entry(i);
    });
  };
  if (cap * size <= 1.0 + rounding) {
    write([&](std::size_t i) { return logs[i] > log_of_nothing ? 1.0 / size : 0.0; });
    return;
  }
  const Capped capped = find_capped(std::move(finite), cap);
  const double rest = std::max(0.0, 1.0 - capped.count * cap);
  // Entries at the cap are marked by a number that no other one has.
  constexpr double mark = 2.0;
  write([&](std::size_t i) { return logs[i] >= capped.from ? mark : std::exp(logs[i] - capped.largest); });
  const double tail = block_sum<CompensatedSum>(result.size(), [&](std::size_t i, CompensatedSum& sum) {
                        if (result[i] != mark) sum.add(result[i]);
                      }).total();
  write([&](std::size_t i) { return result[i] == mark ? cap : std::min(cap, rest * (result[i] / tail)); });
}

}  // namespace fenchel::projection
