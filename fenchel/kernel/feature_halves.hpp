// Features in two halves with about as many entries each. Two threads can go through the same visits to rows, each with the weights of
// one half, and tell each other the scores of theirs: a core's own cache then holds twice as much of the weights. One thread alone adds
// the same numbers in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fenchel/base/duo.hpp"
#include "fenchel/data/matrix.hpp"

namespace fenchel::kernel {

struct FeatureHalves {
  std::span<const std::uint32_t>
      splits;            // how many of a row's entries are in the first half; empty: features are not halved
  Duo* duo = nullptr;    // the thread with the other half; null: this one works on both
  std::size_t side = 0;  // with a duo, the half that this thread works on

  [[nodiscard]] bool follows() const { return duo != nullptr && side == 1; }

  // What part(half, to) is asked for: one of them, or all features where there are no halves.
  enum class Half : std::size_t { first, second, both };
  // Whether the last feature is in there.
  [[nodiscard]] static bool has_last(Half half) { return half != Half::first; }
  template <class Row>
  [[nodiscard]] Row entries(std::size_t i, const Row& row, Half half) const {
    return half == Half::both ? row : half_of(row, splits[i], half);
  }

  // sums = what part(half, to) writes, over both halves. `spare` is as long. Returns the other thread's message.
  template <class Part>
  std::span<const double> sum(std::span<double> sums, std::span<double> spare, Part&& part) const {
    if (splits.empty()) {
      part(Half::both, sums.data());
      return {};
    }
    if (duo == nullptr) {
      part(Half::first, sums.data());
      part(Half::second, spare.data());
      for (std::size_t l = 0; l < sums.size(); ++l) sums[l] += spare[l];
      return {};
    }
    double* const own = duo->outgoing(side).data();
    part(present(), own);
    const std::span<const double> incoming = duo->exchange(side);
    for (std::size_t l = 0; l < sums.size(); ++l) sums[l] = own[l] + incoming[l];
    return incoming;
  }

  // What this thread works on.
  [[nodiscard]] Half present() const {
    if (duo == nullptr) return Half::both;
    return side == 0 ? Half::first : Half::second;
  }

 private:
  template <class Value>
  static data::SparseRow<Value> half_of(const data::SparseRow<Value>& row, std::size_t split, Half half) {
    if (half == Half::first) return {row.columns.first(split), row.values.first(split), row.uniform};
    return {row.columns.subspan(split), row.values.subspan(split), row.uniform};
  }
  // Of rows whose features are never halved.
  template <class Value>
  static data::DenseRow<Value> half_of(const data::DenseRow<Value>& row, std::size_t /*split*/, Half /*half*/) {
    return row;
  }
};

}  // namespace fenchel::kernel
