// What multiclass-hinge (gamma = 0) and smooth-multiclass-hinge share. With v_j = 1 + a_j for j != y:
//     phi = max over beta of  beta.v - (gamma/2) ||beta||^2,   phi*(beta) = (gamma/2) ||beta||^2 - sum beta.
// Fenchel-Young: for every t >= 0 (the multiplier of sum beta <= 1), by weak duality,
//     phi + phi* - beta.a  <=  t (1 - sum beta) + sum_j h(v_j - t, beta_j),
//     h(r, b) = (r - gamma b)^2 / (2 gamma) where r >= 0,  gamma b^2 / 2 - b r where r < 0,
// with equality at the best t. So a t that is only nearly right costs little and never validity, and the terms are
// non-negative and separate. For gamma = 0, t has to be max(0, max_j v_j) at least.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "fenchel/base/lanes.hpp"
#include "fenchel/base/processor.hpp"
#include "fenchel/loss/vector_loss.hpp"
#include "fenchel/projection/capped_simplex.hpp"

namespace fenchel::loss::simplex_family {

inline double largest_violation(std::size_t y, std::span<const double> a) {
  double largest = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (j != y) largest = std::max(largest, 1.0 + a[j]);
  }
  return largest;
}

inline void set_rest(std::size_t y, std::span<double> beta) {
  beta[y] = 0.0;
  double sum = 0.0;
  for (const double b : beta) sum += b;
  beta[y] = std::max(0.0, 1.0 - sum);
}

// The best t, by Michelot's method on v itself (see projection/capped_simplex.hpp): sum_j max(v_j - t, 0) = gamma, or t = 0.
inline double threshold(std::size_t y, std::span<const double> a, double gamma) {
  double t = 0.0, last_count = -1.0;
  for (std::size_t round = 0; round <= a.size(); ++round) {
    double sum = 0.0, count = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) {
      const double v = 1.0 + a[j];
      if (j == y || v <= t) continue;
      sum += v;
      count += 1.0;
    }
    if (count == last_count || count == 0.0 || sum - count * t <= gamma) break;
    last_count = count;
    t = std::max(t, (sum - gamma) / count);
  }
  return t;
}

// beta = the projection of v / gamma. The spans may be the same.
inline void project(std::size_t y, std::span<const double> a, double gamma, std::span<double> beta) {
  for (std::size_t j = 0; j < a.size(); ++j) beta[j] = (1.0 + a[j]) / gamma;
  beta[y] = 0.0;
  projection::apply_threshold(beta, projection::projection_threshold(beta), beta);
}

namespace detail {

[[gnu::always_inline]] inline double sum_of_terms(std::span<const double> beta, double half_gamma) {
  Lanes sums = {};
  std::size_t j = 0;
  for (; j + lanes <= beta.size(); j += lanes) {
    Lanes b;
    load(beta.data() + j, b);
    sums += b * (half_gamma * b - 1.0);
  }
  for (; j < beta.size(); ++j) sums[0] += beta[j] * (half_gamma * beta[j] - 1.0);
  return sum_of(sums);
}

}  // namespace detail

// sum_j beta_j (gamma/2 beta_j - 1)
inline double conjugate(std::size_t y, std::span<const double> beta, double gamma) {
  return detail::sum_of_terms(beta.first(y), 0.5 * gamma) + detail::sum_of_terms(beta.subspan(y + 1), 0.5 * gamma);
}

// h from above, for r known up to `error`. The square form bounds both pieces, so that it may be taken in doubt.
inline double term(double r, double error, double gamma, const RowPoint& point, std::size_t j) {
  const double beta = point.beta_up(j);
  if (r + error < 0.0 || gamma == 0.0) {
    return beta == 0.0 ? 0.0 : widen(beta * (0.5 * gamma * beta + (error - r)), 6);
  }
  const double mismatch = std::fabs(r - gamma * point.beta[j]) + error + gamma * (beta - point.beta[j]) +
                          8 * unit_roundoff * (std::fabs(r) + gamma * beta);
  return widen(0.5 * mismatch * (mismatch / gamma), 6);
}

inline double fenchel_young(const RowPoint& point, double gamma, double t) {
  if (!point.finite() || !std::isfinite(t)) return infinity;
  double sum = t == 0.0 ? 0.0 : widen(t * point.rest_up(), 3);
  for (std::size_t j = 0; j < point.classes(); ++j) {
    if (j == point.y) continue;
    const double r = (1.0 + point.a[j]) - t;
    sum += term(r, point.error(j, 1.0 + t), gamma, point, j);
  }
  if (sum == 0.0) return 0.0;
  return std::fmin(infinity, widen(sum, static_cast<double>(point.classes()) + 2));  // fmin: an overflow may be NaN
}

inline void to_vertex(std::size_t y, std::span<const double> a, std::span<double> result) {
  std::size_t best = y == 0 ? 1 : 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (j != y && a[j] > a[best]) best = j;
  }
  std::fill(result.begin(), result.end(), 0.0);
  if (1.0 + a[best] > 0.0) result[best] = 1.0;
}

namespace detail {

// mu_j = (v_j + q (beta_j + sum beta)) scale for j != y and 0 for y; returns the largest.
[[gnu::always_inline]] inline double centres(std::size_t y, std::span<const double> a, double q, double scale,
                                             const double* beta, double* mu) {
  const std::size_t k = a.size();
  Lanes sums = {}, tops = {};
  std::size_t j = 0;
  for (; j + lanes <= k; j += lanes) {
    Lanes from;
    load(beta + j, from);
    sums += from;
  }
  for (; j < k; ++j) sums[0] += beta[j];
  const double sum = sum_of(sums) - beta[y];
  for (j = 0; j + lanes <= k; j += lanes) {
    Lanes margin, from;
    load(a.data() + j, margin);
    load(beta + j, from);
    store(((1.0 + margin) + q * (from + sum)) * scale, mu + j);
  }
  for (; j < k; ++j) mu[j] = ((1.0 + a[j]) + q * (beta[j] + sum)) * scale;
  mu[y] = 0.0;
  for (j = 0; j + lanes <= k; j += lanes) {
    Lanes value;
    load(mu + j, value);
    tops = value > tops ? value : tops;
  }
  for (; j < k; ++j) tops[0] = std::max(tops[0], mu[j]);
  return std::max(std::max(tops[0], tops[1]), std::max(tops[2], tops[3]));
}

[[gnu::always_inline]] inline void cut(std::span<double> mu, double theta) {
  std::size_t j = 0;
  for (; j + lanes <= mu.size(); j += lanes) {
    Lanes value;
    load(mu.data() + j, value);
    value -= theta;
    store(value < 0.0 ? Lanes{} : value, mu.data() + j);  // NaN stays, as below
  }
  for (; j < mu.size(); ++j) mu[j] = std::max(mu[j] - theta, 0.0);
}

// The threshold only rises with every entry that is above it: it is at least that of the largest mu_j alone, and the few above this
// one, gathered in `scratch`, decide it.
[[gnu::always_inline]] inline void dual_step_of_many(std::size_t y, std::span<const double> a, double q,
                                                     double gamma, const double* beta, std::span<double> mu,
                                                     std::span<double> scratch) {
  const double scale = 1.0 / (gamma + q), C = q * scale;
  const double top = centres(y, a, q, scale, beta, mu.data());
  const double least = std::max(C / (1.0 + C) * top, top - 1.0);
  std::size_t count = 0;
  for (const double m : mu) {
    scratch[count] = m;
    count += m > least ? 1 : 0;
  }
  cut(mu, projection::dual_threshold(scratch.first(count), C));
}

// The same for so few classes that everything stays in registers.
template <std::size_t Count>
[[gnu::always_inline]] inline void dual_step_of_few(std::size_t y, const double* a, double q, double gamma,
                                                    const double* beta, double* result) {
  const double scale = 1.0 / (gamma + q);
  double sum = 0.0;
  for (std::size_t j = 0; j < Count; ++j) sum += j == y ? 0.0 : beta[j];
  std::array<double, Count> mu;
  for (std::size_t j = 0; j < Count; ++j) mu[j] = ((1.0 + a[j]) + q * (beta[j] + sum)) * scale;
  mu[y] = 0.0;
  const double theta = projection::detail::threshold_of_few(mu, q * scale);
  for (std::size_t j = 0; j < Count; ++j) result[j] = std::max(mu[j] - theta, 0.0);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] inline void dual_step_avx2(std::size_t y, std::span<const double> a, double q, double gamma,
                                                   const double* beta, std::span<double> mu,
                                                   std::span<double> scratch) {
  dual_step_of_many(y, a, q, gamma, beta, mu, scratch);
}
#endif

}  // namespace detail

// (gamma + q) t_j + q sum t = v_j + q (beta_j + sum beta) where t_j > 0: OptimizeDual with mu = that / (gamma + q) and
// C = q / (gamma + q). An empty row (q = 0) without smoothing goes to a vertex. Inlined as callers may know how few classes there are.
[[gnu::always_inline]] inline void dual_step(std::size_t y, std::span<const double> a, double q, double gamma,
                                             std::span<const double> beta, std::span<double> result,
                                             std::span<double> scratch) {
  if (gamma + q <= 0.0) return to_vertex(y, a, result);
  switch (a.size()) {
    case 2: return detail::dual_step_of_few<2>(y, a.data(), q, gamma, beta.data(), result.data());
    case 3: return detail::dual_step_of_few<3>(y, a.data(), q, gamma, beta.data(), result.data());
    case 4: return detail::dual_step_of_few<4>(y, a.data(), q, gamma, beta.data(), result.data());
    default: break;
  }
#if defined(__x86_64__)
  if (has_avx2()) return detail::dual_step_avx2(y, a, q, gamma, beta.data(), result, scratch);
#endif
  detail::dual_step_of_many(y, a, q, gamma, beta.data(), result, scratch);
}

// As in spread.hpp: 1/gamma for the classes with beta_j > 0 and, unless sum beta = 1 holds them together, infinity for the row's own.
inline void curvature(std::size_t y, std::span<const double> beta, double gamma, std::span<double> result) {
  double sum = 0.0;
  for (std::size_t j = 0; j < beta.size(); ++j) {
    const double b = j == y ? 0.0 : beta[j];
    result[j] = b > 0.0 ? 1.0 / gamma : 0.0;
    sum += b;
  }
  if (sum > 0.0 && sum < 1.0 - 1e-12) result[y] = infinity;
}

// The weights of spread.hpp for the second derivative of
//     a -> max over t of  t.a - phi*(t) - (q/2) (||t - c||^2 + (sum t - sum c)^2),
// the loss smoothed about a dual vector c, where the maximiser, dual_step(), is beta: in t_j the curvature is gamma + q, in the sum,
// unless the cap holds it, q.
inline void proximal_curvature(std::size_t y, std::span<const double> beta, double gamma, double q,
                               std::span<double> result) {
  double sum = 0.0;
  for (std::size_t j = 0; j < beta.size(); ++j) {
    const double b = j == y ? 0.0 : beta[j];
    result[j] = b > 0.0 ? 1.0 / (gamma + q) : 0.0;
    sum += b;
  }
  if (sum > 0.0 && sum < 1.0 - 1e-12) result[y] = 1.0 / q;
}

}  // namespace fenchel::loss::simplex_family
