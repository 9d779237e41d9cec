// What softmax (gamma = 1, margin 0) and soft-max-of-hinge (margin 1) share. With p_j = beta_j, p_y = 1 - sum beta and
// s_j = (a_j + margin [j != y]) / gamma:
//     phi = gamma log sum_j exp(s_j),   phi*(beta) = gamma sum_j p_j log p_j - margin sum beta.
// Fenchel-Young: since log x <= x - 1, for every t, with q_j = exp(s_j - t),
//     phi + phi* - beta.a  <=  gamma sum_j [ q_j - p_j + p_j log(p_j / q_j) ] = gamma sum_j q_j h(p_j / q_j - 1),
// h(x) = (1 + x) log(1 + x) - x, with equality at t = log sum exp(s_j), where it is gamma KL(p || q); an error in t costs its
// square. The terms are non-negative, separate, and convex in p_j and in s_j.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "fenchel/base/exponential.hpp"
#include "fenchel/loss/logistic.hpp"
#include "fenchel/loss/vector_loss.hpp"

namespace fenchel::loss {

struct EntropyFamily {
  double gamma;
  double margin;

  // The second derivative is that of a distribution's covariance, at most 1/2, divided by gamma.
  [[nodiscard]] double smoothness() const { return 2.0 * gamma; }
  [[nodiscard]] double score(std::size_t j, std::size_t y, std::span<const double> a) const {
    return j == y ? 0.0 : (a[j] + margin) / gamma;
  }
  // log sum_j exp(s_j) >= 0, accurate where it is small.
  [[nodiscard]] double log_sum(std::size_t y, std::span<const double> a) const {
    double top = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) top = std::max(top, score(j, y, a));
    double others = 0.0;  // all but the largest, if that is s_y = 0
    for (std::size_t j = 0; j < a.size(); ++j) others += j == y ? 0.0 : std::exp(score(j, y, a) - top);
    return top == 0.0 ? std::log1p(others) : top + std::log(others + std::exp(-top));
  }
  [[nodiscard]] double value(std::size_t y, std::span<const double> a) const { return gamma * log_sum(y, a); }

  void dual(std::size_t y, std::span<const double> a, std::span<double> result) const {
    const double t = log_sum(y, a);
    for (std::size_t j = 0; j < a.size(); ++j) result[j] = std::exp(score(j, y, a) - t);
  }

  [[nodiscard]] double conjugate(std::size_t y, std::span<const double> beta) const {
    double entropy = 0.0, sum = 0.0;
    for (std::size_t j = 0; j < beta.size(); ++j) {
      if (j == y || beta[j] <= 0.0) continue;
      entropy += beta[j] * std::log(beta[j]);
      sum += beta[j];
    }
    const double rest = 1.0 - sum;
    if (rest > 0.0) entropy += rest * (sum < 0.5 ? std::log1p(-sum) : std::log(rest));
    return gamma * entropy - margin * sum;
  }

  [[nodiscard]] double fenchel_young(const RowPoint& point) const {
    if (!point.finite()) return infinity;
    const double t = log_sum(point.y, point.a);
    const double slop = 4 * unit_roundoff * t;
    double sum = term(-t, slop, std::max(0.0, point.rest - point.rest_error), point.rest_up());
    for (std::size_t j = 0; j < point.classes(); ++j) {
      if (j == point.y) continue;
      const double s = score(j, point.y, point.a);
      const double error = widen(point.error(j, margin) / gamma, 2) + 4 * unit_roundoff * std::fabs(s) + slop;
      sum += term(s - t, error, point.beta_down(j), point.beta_up(j));
    }
    return std::fmin(infinity, widen(gamma * sum, static_cast<double>(point.classes()) + 4));
  }

  void curvature(std::size_t y, std::span<const double> beta, std::span<double> result) const {
    double rest = 1.0;
    for (std::size_t j = 0; j < beta.size(); ++j) {
      result[j] = beta[j] / gamma;
      rest -= j == y ? 0.0 : beta[j];
    }
    result[y] = std::max(0.0, rest) / gamma;
  }

  // With r = q / gamma and u_j = log p_j:  u_j + r exp(u_j) = s_j + r p_j^old - nu,  sum exp(u_j) = 1. One Newton iteration on
  // all u and nu together costs k exponentials. The left side is convex and increasing in u, and u <= 0 in the solution,
  // so that a step never leaves for good. It ends where what the last linearisation has missed is small against the way from
  // the old point. Where r is so large that this way is one of rounding errors, a step that is safe for every loss of this
  // smoothness has to do.
  void dual_step(std::size_t y, std::span<const double> a, double q, std::span<const double> beta,
                 std::span<double> result, std::span<double> scratch) const;

 private:
  // q h(p/q - 1) from above for log q in [r - error, r + error] and p in [p_low, p_high]. The term grows with the distance
  // of p and q, so that it is largest at one of two ends.
  static double term(double r, double error, double p_low, double p_high) {
    constexpr double tiny = -690.0;  // q < 1e-299
    const double q = std::exp(r);
    const double relative = std::expm1(error) + 16 * unit_roundoff;
    const double q_high = q * (1.0 + relative), q_low = q * (1.0 - relative);
    if (r < tiny || !(q_low > 0.0)) {
      if (p_high <= 0.0) return widen(q_high);
      const double log_p = std::log(p_high);
      const double slack = 32 * unit_roundoff * (std::fabs(log_p) + std::fabs(r));
      return widen(p_high * std::max(0.0, (log_p - r) + error + slack) + q_high, 4);
    }
    double worst = 0.0;
    if (p_high > q_low) worst = q_low * divergence::entropy_up(widen((p_high - q_low) / q_low, 4));
    if (p_low < q_high) {
      const double t = std::min(1.0, widen((q_high - p_low) / q_high, 4));
      worst = std::max(worst, q_high * divergence::entropy_up(-t));
    }
    return widen(worst, 4);
  }
};

inline void EntropyFamily::dual_step(std::size_t y, std::span<const double> a, double q,
                                     std::span<const double> beta, std::span<double> result,
                                     std::span<double> scratch) const {
  constexpr int most_iterations = 40;
  constexpr double largest_r = 1e13;
  const std::size_t k = a.size();
  const double r = q / gamma;
  const double inverse_gamma = 1.0 / gamma;
  double* const p = result.data();
  double* const s = scratch.data();            // s_j less log sum exp(s)
  double* const u = scratch.data() + k;        // log p_j
  double* const old = scratch.data() + 2 * k;  // p^old
  double top = 0.0, sum = 0.0;
  for (std::size_t j = 0; j < k; ++j) {
    s[j] = (a[j] + margin) * inverse_gamma;
    old[j] = beta[j];
    sum += old[j];
  }
  s[y] = 0.0;
  old[y] = std::max(0.0, 1.0 - (sum - beta[y]));
  for (std::size_t j = 0; j < k; ++j) top = std::max(top, s[j]);
  sum = 0.0;
  for (std::size_t j = 0; j < k; ++j) sum += p[j] = quick_exp(s[j] - top);
  const double t = top + std::log(sum);
  const double scale = 1.0 / sum;
  // For nu = t the solution lies between the old p_j and exp(s_j - t); Newton's method is monotone from the larger one.
  for (std::size_t j = 0; j < k; ++j) {
    s[j] -= t;
    p[j] *= scale;
    u[j] = s[j];
  }
  for (std::size_t j = 0; j < k; ++j) {
    if (old[j] <= 2 * p[j] || r * (old[j] - p[j]) < 0.1) continue;
    p[j] = old[j];
    u[j] = std::log(old[j]);
  }
  double nu = 0.0;
  for (int iteration = 0; r < largest_r && iteration < most_iterations; ++iteration) {
    double mass = 0.0, slope = 0.0, drift = 0.0;
    for (std::size_t j = 0; j < k; ++j) {
      const double weight = p[j] / (1.0 + r * p[j]);
      mass += p[j];
      slope += weight;
      drift += weight * (u[j] + r * (p[j] - old[j]) - s[j] + nu);
    }
    const double change = (mass - 1.0 - drift) / slope;  // of nu
    nu += change;
    for (std::size_t j = 0; j < k; ++j) {
      const double step = -(u[j] + r * (p[j] - old[j]) - s[j] + nu) / (1.0 + r * p[j]);
      p[j] += p[j] * step;  // as far as the equations know
      u[j] += step;
    }
    double error = 0.0, moved = 0.0;
    sum = 0.0;
    for (std::size_t j = 0; j < k; ++j) {
      error += std::max(0.0, u[j]);
      u[j] = std::min(0.0, u[j]);
      const double exact = quick_exp(u[j]);
      error += std::fabs(exact - p[j]);
      p[j] = exact;
      sum += exact;
      moved += std::fabs(exact - old[j]);
    }
    if (!std::isfinite(error)) break;
    // What is left of the error has to be small against the way from the old point.
    if (error > 0.025 * moved + 1e-15 || !(sum > 0.5)) continue;
    const double normal = 1.0 / sum;
    for (std::size_t j = 0; j < k; ++j) p[j] *= normal;
    return;
  }
  // The step towards the gradient that is safe for every loss of this smoothness (Option V).
  const double share = 1.0 / (1.0 + r);
  for (std::size_t j = 0; j < k; ++j) p[j] = old[j] + share * (quick_exp(s[j]) - old[j]);
}

}  // namespace fenchel::loss
