// exp for loops that shall become vector instructions: no branches, no table, no call. Relative error below 1e-14; 0 below
// -700, where it is of no use to those who ask. For solvers; certificates use the library's.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace fenchel {

inline double quick_exp(double x) {
  constexpr double log2_e = 0x1.71547652b82fep+0;
  constexpr double ln2_high = 0x1.62e42fefa0000p-1, ln2_low = 0x1.cf79abc9e3b3ap-40;
  constexpr double shifter = 0x1.8p52;  // adding it leaves an integer in the low bits
  const double bounded = std::min(std::max(x, -700.0), 700.0);
  const double shifted = bounded * log2_e + shifter;
  const double n = shifted - shifter;
  const double r = (bounded - n * ln2_high) - n * ln2_low;  // |r| <= ln(2)/2
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const auto power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
  return x < -700.0 ? 0.0 : p * power;
}

}  // namespace fenchel
