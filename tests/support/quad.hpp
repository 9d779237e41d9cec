// Arithmetic with 113 bits for tests, of which only + - * / and comparisons come from the compiler.
#pragma once

#include <cfloat>
#include <cmath>

namespace fenchel::test {

#if LDBL_MANT_DIG >= 113
using Quad = long double;
#elif defined(__SIZEOF_FLOAT128__)
__extension__ using Quad = __float128;
#else
#error "these tests need a 113-bit type, which the library does not"
#endif

// Relative error that a few hundred operations in Quad may leave.
inline constexpr Quad quad_noise = 0x1p-102;

template <class R>
R magnitude(R x) {
  return x < 0 ? -x : x;
}
template <class R>
R larger(R x, R y) {
  return x < y ? y : x;
}

inline Quad square_root(Quad x) {  // Heron's rule from the double's root
  if (!(x > 0)) return 0;
  int halvings = 0;
  while (x > Quad(1e200)) x *= Quad(0x1p-200), halvings += 100;
  while (x < Quad(1e-200)) x *= Quad(0x1p200), halvings -= 100;
  Quad root = std::sqrt(static_cast<double>(x));
  for (int k = 0; k < 3; ++k) root = (root + x / root) / 2;
  for (; halvings > 0; --halvings) root *= 2;
  for (; halvings < 0; ++halvings) root /= 2;
  return root;
}

inline Quad ln_two() {
  static const Quad value = [] {  // 2 atanh(1/3)
    Quad sum = 0, power = Quad(2) / 3;
    for (int k = 1; k < 80; k += 2, power /= 9) sum += power / k;
    return sum;
  }();
  return value;
}

inline Quad exponential(Quad x) {
  if (x < -11000) return 0;
  const int k = static_cast<int>(x / ln_two() + (x < 0 ? Quad(-0.5) : Quad(0.5)));
  const Quad r = x - k * ln_two();
  Quad sum = 1;
  for (int j = 32; j >= 1; --j) sum = 1 + r * sum / j;
  for (int j = 0; j < k; ++j) sum *= 2;
  for (int j = 0; j > k; --j) sum /= 2;
  return sum;
}

inline Quad logarithm(Quad x) {  // steps of order three from the double's logarithm
  Quad y = std::log(static_cast<double>(x));
  for (int k = 0; k < 2; ++k) {
    const Quad e = exponential(y);
    y += 2 * (x - e) / (x + e);
  }
  return y;
}

inline Quad log_one_plus(Quad x) {
  if (magnitude(x) > Quad(0.125)) return logarithm(1 + x);
  const Quad w = x / (2 + x);  // 2 atanh(w)
  Quad sum = 0, power = 2 * w;
  for (int k = 1; k < 60; k += 2, power *= w * w) sum += power / k;
  return sum;
}

#if LDBL_MANT_DIG < 113
inline long double exponential(long double x) { return std::exp(x); }
inline long double logarithm(long double x) { return std::log(x); }
inline long double log_one_plus(long double x) { return std::log1p(x); }
#endif

}  // namespace fenchel::test
