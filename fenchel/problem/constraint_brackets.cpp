#include "fenchel/problem/constraint_brackets.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace fenchel::problem {
namespace {

struct UncertainVector {
  std::span<const double> value;
  std::span<const double> error;

  [[nodiscard]] double up(std::size_t j) const { return rounded(value[j] + error[j], j, 1.0); }
  [[nodiscard]] double down(std::size_t j) const { return rounded(value[j] - error[j], j, -1.0); }
  [[nodiscard]] bool zero() const {
    const auto is_zero = [](double x) { return x == 0.0; };
    return std::all_of(value.begin(), value.end(), is_zero) && std::all_of(error.begin(), error.end(), is_zero);
  }

 private:
  [[nodiscard]] double rounded(double end, std::size_t j, double side) const {
    return error[j] == 0.0 ? end : end + side * (2 * unit_roundoff * std::fabs(end) + smallest_double);
  }
};

TwoLevels infinite() {
  TwoLevels sum;
  sum.add(infinity, infinity);
  return sum;
}

// sum_j w_j (max u - u_j), as sum_j w_j = r.
TwoLevels brackets_of(const penalty::Simplex& /*simplex*/, std::span<const double> w, const UncertainVector& u) {
  double largest = -infinity, highest = -infinity;
  for (std::size_t j = 0; j < w.size(); ++j) {
    largest = std::max(largest, u.value[j]);
    highest = std::max(highest, u.up(j));
  }
  return block_sum<TwoLevels>(w.size(), [&](std::size_t j, TwoLevels& sum) {
    const double low = u.down(j);
    if (w[j] == 0.0 || low == highest) return;
    sum.add(w[j] * (largest - u.value[j]), widen(w[j] * magnitude_up(highest, -low), 3));
  });
}

// theta (budget - G(w)) + sum_j [ theta G(w_j) + (theta G)*(u_j) - w_j u_j ], see penalty/ball.hpp.
template <penalty::Ball K>
TwoLevels brackets_of(const K& ball, std::span<const double> w, const UncertainVector& u) {
  std::vector<double> magnitudes(w.size());
  for (std::size_t j = 0; j < w.size(); ++j) magnitudes[j] = std::max(std::fabs(u.down(j)), std::fabs(u.up(j)));
  const penalty::Strength gauge = ball.gauge();
  double theta = ball.multiplier(magnitudes);
  // Without a squared part the strength has to reach every |u_j|.
  if (gauge.l2 == 0.0) theta = std::max(theta, widen(penalty::largest_magnitude(magnitudes) / gauge.l1, 2));
  const penalty::Strength strength{.l1 = theta * gauge.l1, .l2 = theta * gauge.l2};
  const auto sound = [](double part, double whole) { return part == 0.0 || part == 1.0 || std::isnormal(whole); };
  const bool usable = std::isfinite(theta + strength.l1 + strength.l2) && sound(gauge.l1, strength.l1) &&
                      sound(gauge.l2, strength.l2) && theta > 0.0;
  if (!usable) return infinite();
  TwoLevels sum = block_sum<TwoLevels>(w.size(), [&](std::size_t j, TwoLevels& s) {
    const Interval feasible{-strength.dual_bound(), strength.dual_bound()};
    const double low = feasible.clamp(u.down(j)), high = feasible.clamp(u.up(j));
    s.add(strength.fenchel_young(w[j], feasible.clamp(u.value[j])),
          std::max(strength.fenchel_young(w[j], low), strength.fenchel_young(w[j], high)));
  });
  const Interval size = penalty::gauge_of(gauge, w);
  const Interval budget = ball.budget();
  // The strengths are theta times those of G up to a rounding each, where they are not 0 or 1.
  const bool exact = gauge.l1 == 0.0 || gauge.l2 == 0.0;
  const double rounding = exact ? 0.0 : 8 * unit_roundoff * theta * budget.high;
  sum.add(theta * std::max(0.0, budget.high - size.high),
          widen(theta * magnitude_up(budget.high, -size.low) + rounding, 4));
  return sum;
}

}  // namespace

TwoLevels constraint_brackets(const penalty::Constraint& constraint, std::span<const double> w,
                              std::span<const double> u, std::span<const double> error) {
  const auto is_finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(u.begin(), u.end(), is_finite) || !std::all_of(error.begin(), error.end(), is_finite)) {
    return infinite();
  }
  const UncertainVector uncertain{.value = u, .error = error};
  if (uncertain.zero()) return {};
  return std::visit([&](const auto& set) { return brackets_of(set, w, uncertain); }, constraint);
}

}  // namespace fenchel::problem
