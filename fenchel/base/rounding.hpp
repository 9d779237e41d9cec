// Outward rounding without switching the rounding mode: results of round-to-nearest arithmetic are widened by
// a-priori bounds (Higham, "Accuracy and Stability of Numerical Algorithms", ch. 3-4). Needs IEEE doubles and
// no value-changing compiler options, which the build never sets and the static_asserts below refuse.
#pragma once

#include <cmath>
#include <limits>

namespace fenchel {

static_assert(std::numeric_limits<double>::is_iec559 && std::numeric_limits<double>::digits == 53);
#if defined(__FAST_MATH__)
#error "fenchel's certificates are void under -ffast-math; build without it"
#endif

inline constexpr double unit_roundoff = 0x1p-53;
inline constexpr double smallest_double = std::numeric_limits<double>::denorm_min();
// More than the products of any sum lose below the smallest double; large enough for what is computed of it to be no
// subnormal number, with which processors are slow.
inline constexpr double underflow_of_a_sum = 0x1p-960;

// gamma_k = k u / (1 - k u), rounded up: k rounding errors compound to a relative error of at most gamma_k.
inline double gamma_bound(double k) {
  const double ku = k * unit_roundoff;
  return ku / (1.0 - ku) * (1.0 + 8 * unit_roundoff);
}

// An upper bound on the exact value behind x >= 0, which was computed with at most `roundings` relative errors.
inline double widen(double x, double roundings = 1) {
  return x * (1.0 + 2 * (roundings + 1) * unit_roundoff) + smallest_double;
}

// A lower bound on the exact value behind x >= 0 (never below zero).
inline double narrow(double x, double roundings = 1) {
  return std::fmax(0.0, x * (1.0 - 2 * (roundings + 1) * unit_roundoff) - smallest_double);
}

// The sum of two doubles and its exact rounding error (Knuth): a + b == sum + error.
struct TwoSum {
  double sum;
  double error;
};
inline TwoSum two_sum(double a, double b) {
  const double sum = a + b;
  const double shadow = sum - a;
  return {sum, (a - (sum - shadow)) + (b - shadow)};
}

// a + b + c with a relative error of at most 4 u, short of cancellation below u^2 (|a| + |b| + |c|), which
// the second function adds so that its result bounds |a + b + c| from above. Overflow gives an infinity.
inline double sum3(double a, double b, double c) {
  const TwoSum ab = two_sum(a, b);
  const TwoSum abc = two_sum(ab.sum, c);
  return std::isfinite(abc.sum) ? abc.sum + (ab.error + abc.error) : abc.sum;
}
inline double magnitude_up(double a, double b, double c = 0.0) {
  const double residue = 4 * unit_roundoff * unit_roundoff * (std::fabs(a) + std::fabs(b) + std::fabs(c));
  return widen(std::fabs(sum3(a, b, c)), 4) + residue;
}

}  // namespace fenchel
