// Primal, dual and gap of given doubles in 113-bit arithmetic, from the contract's formulas by plain subtraction.
#pragma once

#include <span>
#include <vector>

#include "fenchel/problem/certificate.hpp"
#include "tests/support/reference.hpp"

namespace fenchel::test {

// phi*(-alpha) for alpha in its domain.
inline Quad conjugate_at(const Instance& p, double target, Quad alpha) {
  const Quad y = target, a = y * alpha, parameter = p.parameter;
  if (p.loss == "hinge") return -a;
  if (p.loss == "squared-hinge") return a * a / 4 - a;
  if (p.loss == "smooth-hinge") return parameter * a * a / 2 - a;
  if (p.loss == "logistic") {
    return (a > 0 ? a * logarithm(a) : Quad(0)) + (a < 1 ? (1 - a) * log_one_plus(-a) : Quad(0));
  }
  if (p.loss == "squared" || p.loss == "huber") return alpha * alpha / 2 - y * alpha;
  if (p.loss == "epsilon-insensitive") return parameter * magnitude(alpha) - y * alpha;
  if (p.loss == "squared-epsilon-insensitive") return alpha * alpha / 4 + parameter * magnitude(alpha) - y * alpha;
  return -y * alpha;  // absolute, quantile
}

struct Domain {
  Quad low, high;
};
inline Domain domain_of(const Instance& p, double y) {
  const Quad huge = Quad(1e308) * Quad(1e308), parameter = p.parameter;
  if (p.loss == "hinge" || p.loss == "smooth-hinge" || p.loss == "logistic") {
    return y > 0 ? Domain{0, 1} : Domain{-1, 0};
  }
  if (p.loss == "squared-hinge") return y > 0 ? Domain{0, huge} : Domain{-huge, 0};
  if (p.loss == "absolute" || p.loss == "epsilon-insensitive") return {-1, 1};
  if (p.loss == "huber") return {-parameter, parameter};
  if (p.loss == "quantile") return {-(1 - parameter), parameter};
  return {-huge, huge};
}

struct Exact {
  Quad primal = 0, dual = 0, gap = 0;
  Quad noise = 0;        // the error of the gap and of the dual, relative to what was added up
  bool feasible = true;  // boxes, zero sum, dual norms
};

// beta are the weighted duals c_i alpha_i times whatever scale, exactly.
inline Exact evaluate_exactly(const Instance& p, std::span<const double> w, double b, std::span<const Quad> beta) {
  Exact e;
  const Quad total = weight_sum<Quad>(p);
  std::vector<Quad> weights(w.begin(), w.end()), u(w.size(), Quad(0)), size(w.size(), Quad(0));
  std::vector<Quad> largest(w.size(), Quad(0));
  Quad sum = 0, sizes = 0;
  for (std::size_t i = 0; i < p.rows.size(); ++i) {
    if (p.c[i] == 0.0) {
      e.feasible = e.feasible && beta[i] == 0;
      continue;
    }
    const Quad c = p.c[i], z = score<Quad>(p, i, weights, Quad(b)), alpha = beta[i] / c;
    const Domain domain = domain_of(p, p.y[i]);
    e.feasible = e.feasible && beta[i] >= c * domain.low && beta[i] <= c * domain.high;
    const Quad value = loss_at<Quad>(p, p.y[i], z).value, conjugate = conjugate_at(p, p.y[i], alpha);
    e.primal += c * value / total;
    e.dual -= c * conjugate / total;
    e.gap += c * (value + conjugate + alpha * z) / total;
    // Conjugates are differences of terms up to (|y| + 1) |alpha|; scores, of |x_j w_j|.
    Quad reach = magnitude(Quad(b)) + magnitude(Quad(p.y[i])) + 1;
    for (std::size_t j = 0; j < p.features(); ++j) reach += magnitude(Quad(p.rows[i][j]) * weights[j]);
    const Quad slope = magnitude(loss_at<Quad>(p, p.y[i], z).slope);
    e.noise += c / total * (value + (magnitude(alpha) + slope) * reach + alpha * alpha);
    sum += beta[i];
    sizes += magnitude(beta[i]);
    for (std::size_t j = 0; j < w.size(); ++j) {
      const Quad x = j < p.features() ? p.rows[i][j] : p.constant;
      u[j] += x * beta[i] / total;
      size[j] += magnitude(x * beta[i]) / total;
      largest[j] = larger(largest[j], magnitude(x));
    }
  }
  if (p.free_bias) e.feasible = e.feasible && magnitude(sum) <= sizes * Quad(1e-20);
  Quad charged = magnitude(Quad(b) * sum);
  for (std::size_t j = 0; j < w.size(); ++j) {
    const Quad l1 = p.l1[j], l2 = p.l2[j], excess = larger(Quad(0), magnitude(u[j]) - l1);
    const Quad value = l1 * magnitude(weights[j]) + l2 * weights[j] * weights[j] / 2;
    // Unpenalised columns were made orthogonal to beta by a solve of its own, whose error is charged below.
    const bool unpenalized = l1 == 0 && l2 == 0;
    // (relative to all of beta: the entries that a column meets may all be what that solve left of them).
    const Quad solved = sizes / total * largest[j] * Quad(1e-20);
    if (l2 == 0) e.feasible = e.feasible && excess <= (unpenalized ? solved : size[j] * quad_noise);
    if (unpenalized) charged += magnitude(weights[j] * u[j]);
    const Quad conjugate = l2 > 0 ? excess * excess / (2 * l2) : Quad(0);
    e.primal += value;
    e.dual -= conjugate;
    e.gap += value + conjugate - weights[j] * u[j];
    e.noise += value + conjugate + magnitude(weights[j]) * size[j] + (l2 > 0 ? excess * size[j] / l2 : Quad(0));
  }
  e.noise = e.noise * quad_noise + charged;
  return e;
}

// The exactly feasible vector behind a dual point: scale * (beta + delta), where delta moves the unpenalised
// columns and a free bias to zero along the rooms of the entries. Empty where delta leaves its stated bound.
inline std::vector<Quad> exact_dual(const Instance& p, const problem::DualPoint& point,
                                    std::span<const double> room) {
  const std::size_t n = point.beta.size();
  std::vector<Quad> beta(point.beta.begin(), point.beta.end());
  if (!point.slack.empty()) {
    std::vector<std::vector<Quad>> columns;
    for (std::size_t j = 0; j < p.l1.size() + (p.free_bias ? 1 : 0); ++j) {
      const bool bias = j == p.l1.size();
      if (!bias && (p.l1[j] != 0.0 || p.l2[j] != 0.0)) continue;
      std::vector<Quad> column(n);
      for (std::size_t i = 0; i < n; ++i) {
        column[i] = p.c[i] == 0.0 ? 0.0 : bias ? 1.0 : j < p.features() ? p.rows[i][j] : p.constant;
      }
      // Gram-Schmidt in the metric of the rooms; two rounds. What depends on the others is left out.
      Quad before = 0, after = 0;
      for (std::size_t i = 0; i < n; ++i) before += Quad(room[i]) * column[i] * column[i];
      for (int round = 0; round < 2; ++round) {
        for (const std::vector<Quad>& other : columns) {
          Quad product = 0;
          for (std::size_t i = 0; i < n; ++i) product += Quad(room[i]) * column[i] * other[i];
          for (std::size_t i = 0; i < n; ++i) column[i] -= product * other[i];
        }
      }
      for (std::size_t i = 0; i < n; ++i) after += Quad(room[i]) * column[i] * column[i];
      if (!(after > before * Quad(1e-24))) continue;
      const Quad norm = square_root(after);
      for (Quad& x : column) x /= norm;
      columns.push_back(std::move(column));
    }
    for (int round = 0; round < 6; ++round) {
      for (const std::vector<Quad>& column : columns) {
        Quad product = 0;
        for (std::size_t i = 0; i < n; ++i) product += column[i] * beta[i];
        for (std::size_t i = 0; i < n; ++i) beta[i] -= product * column[i] * Quad(room[i]);
      }
    }
    // Where the columns leave no room, the feasible point is 0 and what is left of beta is noise.
    Quad before = 0, after = 0;
    for (std::size_t i = 0; i < n; ++i) {
      before = larger(before, magnitude(Quad(point.beta[i])));
      after = larger(after, magnitude(beta[i]));
    }
    if (after <= before * Quad(1e-20)) beta.assign(n, Quad(0));
    for (std::size_t i = 0; i < n; ++i) {
      if (magnitude(beta[i] - Quad(point.beta[i])) > Quad(point.slack[i])) return {};
    }
  }
  for (Quad& x : beta) x *= Quad(point.scale);
  return beta;
}

}  // namespace fenchel::test
