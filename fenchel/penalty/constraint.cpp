#include "fenchel/penalty/constraint.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fenchel/base/rounding.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::penalty {
namespace {

bool all_finite(std::span<const double> w) {
  return std::all_of(w.begin(), w.end(), [](double x) { return std::isfinite(x); });
}

template <Ball K>
bool holds(const K& ball, std::span<const double> w) {
  return gauge_of(ball.gauge(), w).high <= ball.budget().low;
}

// In order and without a rounding error: then the sum is r itself.
bool holds(const Simplex& simplex, std::span<const double> w) {
  double sum = 0.0;
  for (const double x : w) {
    const TwoSum next = two_sum(sum, x);
    if (!(x >= 0.0) || next.error != 0.0) return false;
    sum = next.sum;
  }
  return sum == simplex.radius;
}

template <Ball K>
void pull_inside(const K& ball, std::span<double> w) {
  for (double t = 4 * unit_roundoff; !holds(ball, w); t *= 2) {
    for (double& x : w) x = t < 1.0 ? x * (1.0 - t) : 0.0;
  }
}

// Multiples of the last digit of r add up without rounding: what rounding down leaves goes to the largest entry.
void pull_inside(const Simplex& simplex, std::span<double> w) {
  if (w.empty()) return;
  const double digit = std::ldexp(1.0, std::ilogb(simplex.radius) - 52);
  double sum = 0.0;
  for (double& x : w) {
    x = std::min(std::floor(std::max(0.0, x) / digit) * digit, simplex.radius - sum);
    sum += x;
  }
  *std::max_element(w.begin(), w.end()) += simplex.radius - sum;
}

}  // namespace

std::optional<Constraint> constraint_of(const Any& penalty) {
  return std::visit(
      []<class P>(const P& chosen) -> std::optional<Constraint> {
        if constexpr (std::constructible_from<Constraint, P>) return Constraint(chosen);
        return std::nullopt;
      },
      penalty);
}

void project(const Constraint& constraint, std::span<double> w) {
  if (!all_finite(w)) return;
  std::visit([&](const auto& set) { set.project(w); }, constraint);
}

double support(const Constraint& constraint, std::span<const double> u) {
  if (!all_finite(u)) return infinity;
  return std::visit([&](const auto& set) { return set.support(u); }, constraint);
}

bool contains(const Constraint& constraint, std::span<const double> w) {
  return all_finite(w) && std::visit([&](const auto& set) { return holds(set, w); }, constraint);
}

void enter(const Constraint& constraint, std::span<double> w) {
  if (!all_finite(w) || contains(constraint, w)) return;
  project(constraint, w);
  std::visit([&](const auto& set) { pull_inside(set, w); }, constraint);
}

Interval gauge_of(const Strength& gauge, std::span<const double> w) {
  constexpr double roundings = 16;  // of a term and of a compensated sum
  const double sum = block_sum<CompensatedSum>(w.size(), [&](std::size_t j, CompensatedSum& s) {
                       s.add(gauge.value(w[j]));
                     }).total();
  // Products may underflow, each by less than the smallest double.
  const double underflow = 2 * static_cast<double>(w.size()) * smallest_double;
  return {narrow(sum, roundings), std::isfinite(sum) ? widen(sum, roundings) + underflow : infinity};
}

}  // namespace fenchel::penalty
