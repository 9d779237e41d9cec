// Random numbers with the same bits on every platform: the standard's generator, distributions of our own (the
// standard leaves theirs open).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <utility>

namespace fenchel {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // Uniform in [0, bound), by Lemire's multiplication with rejection.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(engine_()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(engine_()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  // Uniform and independent in [0, a) and [0, b), where a b < 2^64, from numbers that draw() gives.
  template <class Draw>
  static std::pair<std::uint64_t, std::uint64_t> two_below(std::uint64_t a, std::uint64_t b, Draw&& draw) {
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t bound = a * b;
    for (std::uint64_t threshold = 0;;) {
      const Wide first = static_cast<Wide>(draw()) * a;
      const Wide second = static_cast<Wide>(static_cast<std::uint64_t>(first)) * b;
      const auto left = static_cast<std::uint64_t>(second);
      if (left < bound && threshold == 0) threshold = (0 - bound) % bound;
      if (left >= threshold)
        return {static_cast<std::uint64_t>(first >> 64), static_cast<std::uint64_t>(second >> 64)};
    }
  }

  // Uniform in [0, 1) with 53 bits.
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  // Standard normal (Box-Muller).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

  // Two places from one number of the generator, which takes as long as a swap (Brackett-Rozinsky and Lemire, "Batched ranged
  // random integer generation"). Rejecting as in below(), no order is more likely than another.
  template <class T>
  void shuffle(std::span<T> items) {
    constexpr std::size_t most_in_pairs = std::size_t{1} << 32;
    std::size_t k = items.size();
    for (; k > most_in_pairs; --k) std::swap(items[k - 1], items[below(k)]);
    for (; k > 2; k -= 2) {
      const auto [first, second] = two_below(k, k - 1, engine_);
      std::swap(items[k - 1], items[first]);
      std::swap(items[k - 2], items[second]);
    }
    if (k == 2) std::swap(items[1], items[below(2)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace fenchel
