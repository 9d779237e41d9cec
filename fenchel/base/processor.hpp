// What the processor at hand can do beyond what every one of its kind can.
#pragma once

namespace fenchel {

#if defined(__x86_64__)
inline bool has_avx2() {
  static const bool found = __builtin_cpu_supports("avx2") != 0;
  return found;
}
#else
constexpr bool has_avx2() { return false; }
#endif

}  // namespace fenchel
