// What a scalar loss offers. Every loss is a plain struct of scalar functions of
//     y      the target: -1 or +1 for margin losses, a number for regression losses,
//     z      the score x.w + b,
//     alpha  the dual variable; at an optimal pair alpha = -phi'(z).
// Conjugates are always taken at -alpha: conjugate(y, alpha) = phi*(-alpha).
#pragma once

#include <cmath>
#include <concepts>
#include <string_view>

#include "fenchel/base/field.hpp"
#include "fenchel/base/interval.hpp"

namespace fenchel::loss {

enum class Task { classification, regression };

template <class L>
concept Loss = std::copyable<L> && requires(const L loss, double y, double z, double alpha) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::formula } -> std::convertible_to<std::string_view>;
  { L::task } -> std::convertible_to<Task>;
  L::fields;  // std::array<Field<L>, k>
  // phi(y, z) >= 0, with a relative error of at most 16 units of roundoff.
  { loss.value(y, z) } -> std::same_as<double>;
  // A (sub)gradient with respect to z.
  { loss.derivative(y, z) } -> std::same_as<double>;
  // phi*(-alpha), +infinity outside the domain.
  { loss.conjugate(y, alpha) } -> std::same_as<double>;
  // The closed interval of alpha where the conjugate is finite; it always contains 0.
  { loss.dual_domain(y) } -> std::same_as<Interval>;
  // phi(z) + phi*(-alpha) + alpha z for alpha in the domain, without cancellation and rounded outward:
  // never below the exact value, never negative.
  { loss.fenchel_young(y, z, alpha) } -> std::same_as<double>;
  // gamma such that phi is (1/gamma)-smooth; 0 where it is not smooth.
  { loss.smoothness() } -> std::same_as<double>;
};

template <class L>
concept CurvedLoss = Loss<L> && requires(const L loss, double y, double z) {
  // The second derivative where it exists, a generalised one elsewhere.
  { loss.second_derivative(y, z) } -> std::same_as<double>;
};

template <class L>
concept DualStepLoss = Loss<L> && requires(const L loss, double y, double alpha, double z, double q) {
  // The exact maximiser over t of -phi*(-t) - z (t - alpha) - (q/2) (t - alpha)^2 (Prox-SDCA, Option I).
  { loss.dual_step(y, alpha, z, q) } -> std::same_as<double>;
};

// A quantity at a point, and the most that it may be near there.
struct Nearby {
  double at = 0.0;
  double most = 0.0;
};

template <class L>
concept NearbyLoss = Loss<L> && requires(const L loss, double y, double z, double error, double alpha) {
  // phi(y, z) and phi*(-alpha) + phi(y, z) + alpha z, each as above and with the most over [z - error, z + error]: for losses whose
  // evaluation at both ends takes long.
  { loss.value_near(y, z, error) } -> std::same_as<Nearby>;
  { loss.fenchel_young_near(y, z, error, alpha) } -> std::same_as<Nearby>;
};

// phi*(-alpha) = s alpha + (gamma/2) alpha^2 inside its domain, with gamma = smoothness() and one number s, or one on either side of 0.
enum class ConjugateShape { parabola, two_parabolas };

template <class L>
concept ParabolicLoss = DualStepLoss<L> && requires {
  { L::conjugate_shape } -> std::convertible_to<ConjugateShape>;
};

template <class L>
concept RestingLoss = DualStepLoss<L> && requires(const L loss, double y, double alpha, double z) {
  // How far z may move, either way, before alpha stops being optimal for it: positive strictly inside the range where
  // the step leaves alpha as it is, which only kinks of the conjugate have; else minus the distance from that range.
  // For the order of work only: no claim rests on it, so it is not rounded outward.
  { loss.clearance(y, alpha, z) } -> std::same_as<double>;
};

template <Loss L>
double project_dual(const L& loss, double y, double alpha) {
  return loss.dual_domain(y).clamp(alpha);
}

// The clearance of an alpha that only the ends of its domain hold back; `pull` is the derivative of the dual objective.
inline double clearance_in(const Interval& domain, double alpha, double pull) {
  if (alpha >= domain.high) return pull;
  if (alpha <= domain.low) return -pull;
  return -std::fabs(pull);
}

}  // namespace fenchel::loss
