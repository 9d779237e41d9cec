// What a multiclass loss offers. It is a function of the margins a_j = z_j - z_y of k scores against the one of the row's own
// class y (a_y = 0), and all of ours have their conjugates on the same set: beta_j >= 0 for j != y, sum beta <= 1, with
//     alpha_j = -beta_j,  alpha_y = sum beta,   phi(a) + phi*(beta) - sum_j beta_j a_j >= 0.
// Spans have k entries; the entry y of a beta is not part of it, and a loss may keep the rest 1 - sum beta there.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

#include "fenchel/base/field.hpp"
#include "fenchel/base/interval.hpp"
#include "fenchel/base/rounding.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/loss/spread.hpp"

namespace fenchel::loss {

// A row's margins and duals with what rounding leaves open, for a bracket rounded outward.
struct RowPoint {
  std::size_t y = 0;
  std::span<const double> a;     // a[y] = 0
  double a_error = 0.0;          // |exact - a_j| <= a_error + 2 u |a_j|
  std::span<const double> beta;  // beta[y] is not looked at
  double beta_error = 0.0;       // relative
  double rest = 1.0;             // 1 - sum beta
  double rest_error = 0.0;       // absolute

  [[nodiscard]] std::size_t classes() const { return a.size(); }
  [[nodiscard]] double beta_up(std::size_t j) const {
    return beta_error == 0.0 ? beta[j] : beta[j] * (1.0 + beta_error);
  }
  [[nodiscard]] double beta_down(std::size_t j) const { return beta[j] * (1.0 - beta_error); }
  [[nodiscard]] double rest_up() const { return rest + rest_error; }
  // How far a_j + shift, computed as one sum, may be from the exact one.
  [[nodiscard]] double error(std::size_t j, double shift) const {
    return widen(a_error + 4 * unit_roundoff * (std::fabs(a[j]) + shift), 4);
  }
  [[nodiscard]] bool finite() const {
    return std::isfinite(a_error) && std::all_of(a.begin(), a.end(), [](double x) { return std::isfinite(x); });
  }
};

template <class L>
concept VectorLoss = std::copyable<L> &&
    requires(const L loss, std::size_t y, std::span<const double> a, std::span<const double> beta,
             std::span<double> result, const RowPoint& point, double q) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::formula } -> std::convertible_to<std::string_view>;
  L::fields;                                        // std::array<Field<L>, k>
  { L::sparse_dual } -> std::convertible_to<bool>;  // whether gradients leave most of beta at 0
  // gamma such that phi is (1/gamma)-smooth in k scores; 0: it is not smooth.
  { loss.smoothness(y) } -> std::same_as<double>;
  // phi >= 0, with a relative error of at most 2 k + 32 units of roundoff.
  { loss.value(y, a) } -> std::same_as<double>;
  // A (sub)gradient with respect to a, which is a point of the dual set; result[y] = 1 - its sum.
  loss.dual(y, a, result);
  // phi*(beta) for beta in the dual set.
  { loss.conjugate(y, beta) } -> std::same_as<double>;
  // phi(a) + phi*(beta) - beta.a at its worst over what the errors leave open, without cancellation and rounded outward.
  { loss.fenchel_young(point) } -> std::same_as<double>;
  // The (generalised) second derivative with respect to the scores, where dual() gives beta, as weights; see spread.hpp.
  loss.curvature(y, beta, result);
  // The maximiser t of  -phi*(t) + (t - beta).a - (q/2) (||t - beta||^2 + (sum t - sum beta)^2), or a point that is
  // almost as good (Prox-SDCA, Option I, with alpha for beta). `scratch` has 3 k entries;
  // spans must not overlap.
  loss.dual_step(y, a, q, beta, result, result);
};

}  // namespace fenchel::loss
