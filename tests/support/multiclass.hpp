// Random multiclass problems, and their primal, dual and gap in 113-bit arithmetic by plain subtraction.
#pragma once

#include <span>
#include <vector>

#include "fenchel/problem/multiclass_certificate.hpp"
#include "tests/support/quad.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {

inline std::vector<loss::AnyVector> every_vector_loss() {
  return {loss::MulticlassHinge{}, loss::SmoothMulticlassHinge{}, loss::SmoothMulticlassHinge{0.05},
          loss::SoftMaxOfHinge{},  loss::SoftMaxOfHinge{0.2},     loss::Softmax{}};
}

// `classes` overlapping clouds of rows, with every class present.
inline Case multiclass_case(const loss::AnyVector& loss, std::size_t n, std::size_t d, std::size_t classes,
                            Storage storage, std::uint64_t seed) {
  Random random(seed);
  Case setup{.rows = {}, .labels = {}, .storage = storage};
  setup.settings.loss = loss;
  setup.settings.lambda = 0.05;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t y = i < classes ? i : random.below(classes);
    std::vector<double> row(d);
    for (std::size_t j = 0; j < d; ++j) {
      row[j] =
          random.uniform() < 0.3 ? 0.0 : std::round(64 * (random.normal() + (j % classes == y ? 1.0 : 0.0))) / 64;
    }
    setup.rows.push_back(std::move(row));
    setup.labels.push_back(2.0 * static_cast<double>(y) - 1.0);
  }
  return setup;
}

// phi and phi* straight from their definitions; the smooth hinge by bisection on its threshold.
inline Quad exact_value(const loss::AnyVector& any, std::size_t y, const std::vector<Quad>& z) {
  const std::size_t k = z.size();
  const auto entropy = [&](Quad gamma, Quad margin) {
    Quad top = 0, sum = 0;
    for (std::size_t l = 0; l < k; ++l) top = larger(top, (z[l] - z[y] + (l == y ? Quad(0) : margin)) / gamma);
    for (std::size_t l = 0; l < k; ++l) {
      sum += exponential((z[l] - z[y] + (l == y ? Quad(0) : margin)) / gamma - top);
    }
    return gamma * (top + logarithm(sum));
  };
  if (std::holds_alternative<loss::Softmax>(any)) return entropy(1, 0);
  if (const auto* soft = std::get_if<loss::SoftMaxOfHinge>(&any)) return entropy(soft->gamma, 1);
  Quad top = 0;
  for (std::size_t l = 0; l < k; ++l) top = larger(top, l == y ? Quad(0) : 1 + z[l] - z[y]);
  const auto* smooth = std::get_if<loss::SmoothMulticlassHinge>(&any);
  if (smooth == nullptr) return top;
  const auto at = [&](Quad t) {
    Quad excess = 0, square = 0;
    for (std::size_t l = 0; l < k; ++l) {
      const Quad e = l == y ? Quad(0) : larger(Quad(0), 1 + z[l] - z[y] - t);
      excess += e;
      square += e * e;
    }
    return std::pair(excess - Quad(smooth->gamma), t + square / (2 * Quad(smooth->gamma)));
  };
  Quad low = 0, high = top;
  for (int step = 0; step < 130 && at(Quad(0)).first > 0; ++step) {
    const Quad middle = (low + high) / 2;
    (at(middle).first > 0 ? low : high) = middle;
  }
  return at(at(Quad(0)).first > 0 ? (low + high) / 2 : Quad(0)).second;
}

inline Quad exact_conjugate(const loss::AnyVector& any, std::size_t y, const std::vector<Quad>& beta) {
  Quad sum = 0, square = 0, entropy = 0;
  for (std::size_t l = 0; l < beta.size(); ++l) {
    if (l == y) continue;
    sum += beta[l];
    square += beta[l] * beta[l];
    if (beta[l] > 0) entropy += beta[l] * logarithm(beta[l]);
  }
  if (sum < 1) entropy += (1 - sum) * log_one_plus(-sum);
  if (std::holds_alternative<loss::Softmax>(any)) return entropy;
  if (const auto* soft = std::get_if<loss::SoftMaxOfHinge>(&any)) return Quad(soft->gamma) * entropy - sum;
  const auto* smooth = std::get_if<loss::SmoothMulticlassHinge>(&any);
  return (smooth == nullptr ? Quad(0) : Quad(smooth->gamma) * square / 2) - sum;
}

struct ExactMulticlass {
  Quad primal = 0, dual = 0;
  bool feasible = true;
};

// Of (W, b) and scale B, laid out as in the certificate; the case has no factors and no class weights.
inline ExactMulticlass evaluate_exactly(const Case& setup, const problem::MulticlassProblem& p,
                                        std::span<const double> w, std::span<const double> b,
                                        std::span<const double> B, double scale) {
  const std::size_t k = p.classes(), d = p.dimension(), features = setup.rows.front().size();
  ExactMulticlass e;
  Quad total = 0;
  for (std::size_t i = 0; i < p.rows(); ++i) total += Quad(p.sample.weight(i));
  std::vector<Quad> u(d * k, Quad(0)), balance(k, Quad(0));
  for (std::size_t i = 0; i < p.rows(); ++i) {
    const Quad c = p.sample.weight(i);
    const std::size_t y = p.sample.targets[i];
    std::vector<Quad> z(k, Quad(0)), beta(k, Quad(0));
    Quad sum = 0;
    const auto x = [&](std::size_t j) { return j < features ? Quad(setup.rows[i][j]) : Quad(p.design.constant); };
    for (std::size_t l = 0; l < k; ++l) {
      if (!b.empty()) z[l] = b[l];
      for (std::size_t j = 0; j < d; ++j) z[l] += x(j) * Quad(w[j * k + l]);
      const Quad entry = B[i * k + l];
      e.feasible = e.feasible && entry >= 0 && (l != y || entry == 0);
      sum += entry;
      if (c > 0) beta[l] = Quad(scale) * entry / c;
    }
    e.feasible = e.feasible && sum <= c;
    for (std::size_t l = 0; l < k; ++l) {
      const Quad alpha = (l == y ? sum : Quad(0)) - Quad(B[i * k + l]);
      balance[l] += alpha;
      for (std::size_t j = 0; j < d; ++j) u[j * k + l] += Quad(scale) * x(j) * alpha / total;
    }
    if (c == 0) continue;
    e.primal += c * exact_value(p.loss, y, z) / total;
    e.dual -= c * exact_conjugate(p.loss, y, beta) / total;
  }
  // 113 bits hold these sums of multiples of 2^-60 exactly.
  if (p.free_bias) {
    for (const Quad& s : balance) e.feasible = e.feasible && s == 0;
  }
  for (std::size_t j = 0; j < d; ++j) {
    const Quad l1 = p.penalty[j].l1, l2 = p.penalty[j].l2;
    for (std::size_t l = 0; l < k; ++l) {
      const Quad weight = w[j * k + l], excess = larger(Quad(0), magnitude(u[j * k + l]) - l1);
      e.primal += l1 * magnitude(weight) + l2 * weight * weight / 2;
      if (l2 > 0) e.dual -= excess * excess / (2 * l2);
      if (l2 == 0) e.feasible = e.feasible && excess <= Quad(1e-25);
    }
  }
  return e;
}

}  // namespace fenchel::test
