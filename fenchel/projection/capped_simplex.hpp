// Thresholds on the set {a >= 0, sum a <= 1}. Both solutions have the form a_j = max(mu_j - theta, 0); the threshold is found
// by Michelot's method: with the entries above the last threshold it is a ratio of sums, it only rises, and it is right
// once no entry falls below it. No sorting, and every loop runs over contiguous numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace fenchel::projection {

namespace detail {

struct Above {
  double sum = 0.0;
  double count = 0.0;
  friend bool operator==(const Above&, const Above&) = default;
};

inline Above above(std::span<const double> mu, double theta) {
  Above result;
  for (const double m : mu) {
    result.sum += m > theta ? m : 0.0;
    result.count += m > theta ? 1.0 : 0.0;
  }
  return result;
}

// Iterates theta = ratio(entries above theta) until the entries stay the same. Rounding could make the count go back and
// forth by an entry on the threshold, which does not matter there: k rounds are always enough.
template <class Ratio>
double settle(std::span<const double> mu, double theta, Ratio&& ratio) {
  double count = -1.0;
  for (std::size_t round = 0; round <= mu.size(); ++round) {
    const Above entries = above(mu, theta);
    if (entries.count == count || entries.count == 0.0) break;
    count = entries.count;
    theta = std::max(theta, ratio(entries));
  }
  return theta;
}

inline double sum_above(std::span<const double> mu, double theta) {
  double sum = 0.0;
  for (const double m : mu) sum += std::max(m - theta, 0.0);
  return sum;
}

// From a theta >= 0 at which the sum of what is above exceeds 1.
inline double settle_on_simplex(std::span<const double> mu, double theta) {
  return settle(mu, theta, [](const Above& entries) { return (entries.sum - 1.0) / entries.count; });
}

// dual_threshold() for four entries at most, without branches: each of the two conditions holds for the entries above the threshold
// with equality and for the largest so many as an inequality, so that the threshold is the largest of their ratios.
template <std::size_t Count>
requires(Count <= 4) [[gnu::always_inline]] inline double threshold_of_few(std::array<double, Count> m, double C) {
  const auto order = [&](std::size_t i, std::size_t j) {
    const double high = std::max(m[i], m[j]);
    m[j] = std::min(m[i], m[j]);
    m[i] = high;
  };
  if constexpr (Count == 2) order(0, 1);
  if constexpr (Count == 3) order(0, 1), order(1, 2), order(0, 1);
  if constexpr (Count == 4) order(0, 1), order(2, 3), order(0, 2), order(1, 3), order(1, 2);
  double theta = 0.0, sum = 0.0, count = 0.0;
  for (const double entry : m) {
    sum += entry;
    count += 1.0;
    theta = std::max(theta, std::max(C * sum / (1.0 + count * C), (sum - 1.0) / count));
  }
  return theta;
}

template <std::size_t Count>
double threshold_of_first(std::span<const double> mu, double C) {
  std::array<double, Count> m;
  for (std::size_t j = 0; j < Count; ++j) m[j] = mu[j];
  return threshold_of_few(m, C);
}

}  // namespace detail

// The threshold of argmin over a >= 0, sum a <= 1 of ||a - mu||^2.
inline double projection_threshold(std::span<const double> mu) {
  return detail::sum_above(mu, 0.0) <= 1.0 ? 0.0 : detail::settle_on_simplex(mu, 0.0);
}

// The threshold of argmin over a >= 0, sum a <= 1 of ||a - mu||^2 + C (sum a)^2: OptimizeDual of Shalev-Shwartz and Zhang,
// section 5.7, corrected. Without the cap theta = C sum a; where that sum exceeds 1 the cap decides instead.
inline double dual_threshold(std::span<const double> mu, double C) {
  switch (mu.size()) {
    case 0: return 0.0;
    case 1: return detail::threshold_of_first<1>(mu, C);
    case 2: return detail::threshold_of_first<2>(mu, C);
    case 3: return detail::threshold_of_first<3>(mu, C);
    case 4: return detail::threshold_of_first<4>(mu, C);
    default: break;
  }
  const double theta = detail::settle(
      mu, 0.0, [C](const detail::Above& entries) { return C * entries.sum / (1.0 + entries.count * C); });
  return detail::sum_above(mu, theta) <= 1.0 ? theta : detail::settle_on_simplex(mu, theta);
}

// a_j = max(mu_j - theta, 0); in place is allowed.
inline void apply_threshold(std::span<const double> mu, double theta, std::span<double> a) {
  for (std::size_t j = 0; j < mu.size(); ++j) a[j] = std::max(mu[j] - theta, 0.0);
}

}  // namespace fenchel::projection
