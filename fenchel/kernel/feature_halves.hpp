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

  // scores = the sum over both halves of what score(entries, whether the last feature is among theirs, to) writes. `spare` is as long.
  // Returns the other thread's message.
  template <class Row, class Score>
  std::span<const double> score(std::size_t i, const Row& row, std::span<double> scores, std::span<double> spare,
                                Score&& score) const {
    if (splits.empty()) {
      score(row, true, scores.data());
      return {};
    }
    if (duo == nullptr) {
      score(half_of(row, splits[i], 0), false, scores.data());
      score(half_of(row, splits[i], 1), true, spare.data());
      for (std::size_t l = 0; l < scores.size(); ++l) scores[l] += spare[l];
      return {};
    }
    double* const own = duo->outgoing(side).data();
    score(half_of(row, splits[i], side), side == 1, own);
    const std::span<const double> incoming = duo->exchange(side);
    for (std::size_t l = 0; l < scores.size(); ++l) scores[l] = own[l] + incoming[l];
    return incoming;
  }

  // Calls change(entries, whether the last feature is among theirs) for what this thread works on.
  template <class Row, class Change>
  void change(std::size_t i, const Row& row, Change&& change) const {
    if (duo == nullptr) return change(row, true);
    change(half_of(row, splits[i], side), side == 1);
  }

 private:
  template <class Value>
  static data::SparseRow<Value> half_of(const data::SparseRow<Value>& row, std::size_t split, std::size_t side) {
    if (side == 0) return {row.columns.first(split), row.values.first(split), row.uniform};
    return {row.columns.subspan(split), row.values.subspan(split), row.uniform};
  }
  // Of rows whose features are never halved.
  template <class Value>
  static data::DenseRow<Value> half_of(const data::DenseRow<Value>& row, std::size_t /*split*/,
                                       std::size_t /*side*/) {
    return row;
  }
};

}  // namespace fenchel::kernel
