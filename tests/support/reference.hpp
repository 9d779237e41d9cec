// The contract's objective written down a second time, from its tables and not from the library: losses, penalties
// and
//     P(w, b) = (1/sum c) sum_i c_i phi(y_i, x_i.w + b) + sum_j (l1_j |w_j| + l2_j/2 w_j^2)
// in any real type, and a rigorous bracket of its minimum for a handful of variables.
#pragma once

#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/quad.hpp"

namespace fenchel::test {

struct Instance {
  std::vector<std::vector<double>> rows;
  std::vector<double> y;  // -1 or +1 for margin losses
  std::vector<double> c;
  std::string loss;
  double parameter = 0.0;      // gamma, delta, epsilon or tau
  std::vector<double> l1, l2;  // one a feature and, for a regularized bias, one for its constant
  double constant = 0.0;       // the value of the regularized bias; 0: none
  bool free_bias = false;

  [[nodiscard]] std::size_t features() const { return l1.size() - (constant != 0.0 ? 1 : 0); }
  // Unknowns: the weights and, last, a free bias.
  [[nodiscard]] std::size_t unknowns() const { return l1.size() + (free_bias ? 1 : 0); }
};

// phi(y, z) and one of its subgradients.
template <class R>
struct LossAt {
  R value;
  R slope;
};

template <class R>
LossAt<R> loss_at(const Instance& p, double target, R z) {
  const R y = target, one = 1, parameter = p.parameter;
  const R r = z - y, distance = magnitude(r), side = r > 0 ? one : r < 0 ? -one : R(0);
  const R slack = larger(R(0), one - y * z);
  if (p.loss == "hinge") return {slack, slack > 0 ? -y : R(0)};
  if (p.loss == "squared-hinge") return {slack * slack, -2 * y * slack};
  if (p.loss == "smooth-hinge") {
    if (slack >= parameter) return {slack - parameter / 2, -y};
    return {slack * slack / (2 * parameter), -y * slack / parameter};
  }
  if (p.loss == "logistic") {
    const R m = y * z, e = exponential(-magnitude(m));
    return {(m < 0 ? -m : R(0)) + log_one_plus(e), -y * (m > 0 ? e : one) / (1 + e)};
  }
  if (p.loss == "squared") return {r * r / 2, r};
  if (p.loss == "absolute") return {distance, side};
  if (p.loss == "huber") {
    if (distance <= parameter) return {r * r / 2, r};
    return {parameter * distance - parameter * parameter / 2, parameter * side};
  }
  const R excess = larger(R(0), distance - parameter);
  if (p.loss == "epsilon-insensitive") return {excess, excess > 0 ? side : R(0)};
  if (p.loss == "squared-epsilon-insensitive") return {excess * excess, 2 * excess * side};
  if (p.loss == "quantile") {
    if (r <= 0) return {-parameter * r, -parameter};
    return {(1 - parameter) * r, 1 - parameter};
  }
  throw std::logic_error("the contract has no loss " + p.loss);
}

template <class R>
R weight_sum(const Instance& p) {
  R sum = 0;
  for (const double c : p.c) sum += c;
  return sum;
}

template <class R>
R score(const Instance& p, std::size_t i, std::span<const R> w, R b) {
  R z = b;
  for (std::size_t j = 0; j < p.features(); ++j) z += R(p.rows[i][j]) * w[j];
  if (p.constant != 0.0) z += R(p.constant) * w[p.features()];
  return z;
}

// P at x = (w, b), and a subgradient where one is wanted.
template <class R>
R objective(const Instance& p, std::span<const R> x, std::vector<R>* subgradient = nullptr) {
  const std::size_t d = p.l1.size();
  const R b = p.free_bias ? x[d] : R(0), total = weight_sum<R>(p);
  R value = 0;
  if (subgradient != nullptr) subgradient->assign(x.size(), R(0));
  for (std::size_t i = 0; i < p.rows.size(); ++i) {
    if (p.c[i] == 0.0) continue;
    const LossAt<R> at = loss_at<R>(p, p.y[i], score<R>(p, i, x.first(d), b));
    const R share = R(p.c[i]) / total;
    value += share * at.value;
    if (subgradient == nullptr) continue;
    for (std::size_t j = 0; j < p.features(); ++j) (*subgradient)[j] += share * at.slope * R(p.rows[i][j]);
    if (p.constant != 0.0) (*subgradient)[p.features()] += share * at.slope * R(p.constant);
    if (p.free_bias) (*subgradient)[d] += share * at.slope;
  }
  for (std::size_t j = 0; j < d; ++j) {
    value += R(p.l1[j]) * magnitude(x[j]) + R(p.l2[j]) / 2 * x[j] * x[j];
    if (subgradient == nullptr) continue;
    (*subgradient)[j] += R(p.l2[j]) * x[j] + (x[j] > 0 ? R(p.l1[j]) : x[j] < 0 ? -R(p.l1[j]) : R(0));
  }
  return value;
}

// P at a point of the library.
inline long double objective_at(const Instance& p, std::span<const double> w, double b) {
  std::vector<long double> x(w.begin(), w.end());
  if (p.free_bias) x.push_back(b);
  return objective<long double>(p, x);
}

// low <= P* <= high, with x attaining `high`.
struct Bracket {
  long double low = 0.0L;
  long double high = 0.0L;
  std::vector<long double> x;
};

// The ellipsoid method with deep cuts: every ellipsoid m + B {|t| <= 1} holds a minimiser if the first one, the
// ball of the given radius, does; P(m) - |B'g| bounds P* from below. Two unknowns or more.
// `function(x, &g)` is a convex function >= 0 with a subgradient g.
template <class Function>
Bracket minimum(Function&& function, std::size_t n, long double radius, long double width, int most_steps = 40000) {
  using R = long double;
  const auto size = static_cast<R>(n);
  std::vector<R> m(n, 0.0L), root(n * n, 0.0L), g, pulled(n), direction(n);
  for (std::size_t j = 0; j < n; ++j) root[j * n + j] = radius;
  Bracket best{.low = 0.0L, .high = function(std::span<const R>(m), &g), .x = m};
  for (int step = 0; step < most_steps; ++step) {
    const R value = function(std::span<const R>(m), &g);
    if (value < best.high) {
      best.high = value;
      best.x = m;
    }
    R squares = 0;
    for (std::size_t k = 0; k < n; ++k) {
      pulled[k] = 0;  // B'g
      for (std::size_t j = 0; j < n; ++j) pulled[k] += root[j * n + k] * g[j];
      squares += pulled[k] * pulled[k];
    }
    const R norm = std::sqrt(squares);
    best.low = std::fmax(best.low, value - norm);
    if (norm == 0 || best.high - best.low <= width) break;
    const R depth = std::fmin((value - best.high) / norm, 0.9L);
    const R removed = 2 * (1 + size * depth) / ((size + 1) * (1 + depth));
    const R grow = std::sqrt(size * size / (size * size - 1) * (1 - depth * depth)) * (1 + 1e-17L);
    const R flatten = 1 - std::sqrt(1 - removed);
    for (std::size_t j = 0; j < n; ++j) {
      direction[j] = 0;  // B B'g / |B'g|
      for (std::size_t k = 0; k < n; ++k) direction[j] += root[j * n + k] * pulled[k] / norm;
      m[j] -= (1 + size * depth) / (size + 1) * direction[j];
      for (std::size_t k = 0; k < n; ++k) {
        root[j * n + k] = grow * (root[j * n + k] - flatten * direction[j] * pulled[k] / norm);
      }
    }
  }
  return best;
}

inline Bracket minimum(const Instance& p, long double radius, long double width, int most_steps = 40000) {
  const auto function = [&](std::span<const long double> x, std::vector<long double>* g) {
    return objective<long double>(p, x, g);
  };
  return minimum(function, p.unknowns(), radius, width, most_steps);  // every loss and penalty is non-negative
}

}  // namespace fenchel::test
