// What the certificates of scalar and multiclass problems share: sums at two levels, and from brackets to a gap.
#pragma once

#include "fenchel/base/sum.hpp"
#include "fenchel/problem/certificate.hpp"

namespace fenchel::problem {

// A quantity summed twice: at the computed values, and at the worst corner of their uncertainty.
struct TwoLevels {
  CompensatedSum nearest;
  CompensatedSum worst;
  double terms = 0.0;  // that are not exactly 0
  void add(const TwoLevels& other) {
    nearest.add(other.nearest);
    worst.add(other.worst);
    terms += other.terms;
  }
  void add(double at_value, double at_worst) {
    nearest.add(at_value);
    worst.add(at_worst);
    terms += 1.0;
  }
  // The worst sum; a term may have lost a rounding below the smallest double.
  [[nodiscard]] double bound() const { return terms == 0.0 ? 0.0 : worst.total() + terms * smallest_double; }
};

// Relative errors of a compensated sum of products and a division: generous.
inline constexpr double sum_roundings = 16;

// Throws Error where this process does not compute as the bounds assume.
void check_arithmetic();

// gap = losses / weight_sum + penalties, rounded outward; no bound where anything overflows.
Certificate certificate_of(double primal, double primal_low, const TwoLevels& losses, const TwoLevels& penalties,
                           double weight_sum);

}  // namespace fenchel::problem
