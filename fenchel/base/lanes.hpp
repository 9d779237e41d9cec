// Several doubles at a time. The same operations in every lane, and lanes put together in one order: wider instructions, which are
// used where the processor has them, give the same bits as narrow ones.
#pragma once

#include <cstddef>
#include <cstring>

namespace fenchel {

inline constexpr std::size_t lanes = 4;

// A vector of `lanes` doubles; where registers are narrower the compiler uses several.
typedef double Lanes __attribute__((vector_size(8 * lanes)));  // NOLINT(modernize-use-using): it takes no attribute

// Inlined into functions for wider registers, too. By reference: values of this type are passed differently there.
[[gnu::always_inline]] inline void load(const double* from, Lanes& to) { std::memcpy(&to, from, sizeof to); }
[[gnu::always_inline]] inline void load(const float* from, Lanes& to) {
  typedef float Narrow __attribute__((vector_size(4 * lanes)));  // NOLINT(modernize-use-using): as above
  Narrow narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  to = __builtin_convertvector(narrow, Lanes);
}
[[gnu::always_inline]] inline void store(const Lanes& from, double* to) { std::memcpy(to, &from, sizeof from); }
[[gnu::always_inline]] inline double sum_of(const Lanes& values) {
  return (values[0] + values[1]) + (values[2] + values[3]);
}

}  // namespace fenchel
