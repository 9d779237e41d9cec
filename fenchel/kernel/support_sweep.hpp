// Sweeps of dual ascent over the supports of rows: steps over a row's own class and those that have a dual variable above 0 now,
// for losses most of whose dual variables are 0, with the weights themselves stored. Templated on storage and loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "fenchel/kernel/class_supports.hpp"
#include "fenchel/kernel/listed_weights.hpp"
#include "fenchel/loss/vector_loss.hpp"

namespace fenchel::kernel {

template <class Rows, loss::VectorLoss L, class Weights>
class SupportSweep {
 public:
  SupportSweep(const Rows& rows, const L& loss, Weights& weights, const MulticlassSweepState& state,
               ClassSupports& supports)
      : rows_(rows),
        loss_(loss),
        weights_(weights),
        state_(state),
        supports_(supports),
        list_(state.classes),
        a_(state.classes),
        before_(state.classes),
        next_(state.classes),
        scratch_(3 * state.classes) {}

  // Visits the rows at these places of the supports and leaves those places whose rows gained so much and can gain more. Returns
  // the entries x classes looked at.
  double run(std::vector<std::uint32_t>& order, double least_gain) {
    double work = 0.0;
    std::size_t left = 0;
    for (std::size_t n = 0; n < order.size(); ++n) {
      prefetch(order, n);
      const ClassSupports::Row& support = supports_.rows[order[n]];
      const auto row = rows_.row_in_place(support.row);
      const std::size_t others = list_classes(support);
      if (others == 0) continue;
      work += static_cast<double>(row.values.size() * (others + 1));
      const double gain = step_of(others + 1, support, row);
      order[left] = order[n];  // without a branch, which nobody could foresee
      left += gain >= least_gain ? 1 : 0;
    }
    order.resize(left);
    return work;
  }

 private:
  void prefetch(std::span<const std::uint32_t> order, std::size_t n) const {
    if (n + 2 * rows_ahead < order.size()) __builtin_prefetch(&supports_.rows[order[n + 2 * rows_ahead]]);
    if (n + rows_ahead >= order.size()) return;
    const ClassSupports::Row& later = supports_.rows[order[n + rows_ahead]];
    rows_.prefetch(later.row);
    data::prefetch_all(std::span<const ClassSupports::Entry>(supports_.entries_of(later)));
  }

  // The classes with a dual variable, and the row's own one after them; returns how many the former are.
  std::size_t list_classes(const ClassSupports::Row& support) {
    std::size_t count = 0;
    for (const ClassSupports::Entry& entry : supports_.entries_of(support)) {
      list_[count] = entry.label;
      before_[count] = entry.beta;
      count += entry.beta > 0.0 ? 1 : 0;
    }
    list_[count] = support.target;
    before_[count] = 0.0;
    return count;
  }

  // Returns what the dual gains, at least. Most rows have few classes: the loops over so many are no loops.
  template <class Row>
  double step_of(std::size_t listed, const ClassSupports::Row& support, const Row& row) {
    switch (listed) {
      case 2: return step(std::integral_constant<std::size_t, 2>{}, support, row);
      case 3: return step(std::integral_constant<std::size_t, 3>{}, support, row);
      case 4: return step(std::integral_constant<std::size_t, 4>{}, support, row);
      default: return step(listed, support, row);
    }
  }

  template <class Count, class Row>
  [[gnu::always_inline]] double step(Count listed, const ClassSupports::Row& support, const Row& row) {
    const std::size_t own = listed - 1;
    const std::span<const std::uint32_t> list(list_.data(), listed);
    const double* const before = before_.data();
    double* const a = a_.data();
    double* const next = next_.data();
    weights_.score(support.row, row, list, a);
    if (!state_.b.empty()) {
      for (std::size_t l = 0; l < listed; ++l) a[l] += weights_.bias(list[l]);
    }
    const double own_score = a[own];
    for (std::size_t l = 0; l < listed; ++l) a[l] -= own_score;
    loss_.dual_step(own, {a, listed}, state_.caution * support.curvature, {before, listed}, {next, listed},
                    scratch_);
    std::size_t n = 0;
    for (ClassSupports::Entry& entry : supports_.entries_of(support)) {
      if (entry.beta > 0.0) entry.beta = next[n++];
    }
    const double share = support.share * state_.caution, scale = share * state_.inverse_l2;
    double moved = 0.0, square = 0.0;
    for (std::size_t l = 0; l < own; ++l) {
      const double delta = next[l] - before[l];
      moved += delta;
      square += delta * delta;
      next[l] = -scale * delta;
    }
    square += moved * moved;
    if (square == 0.0) return 0.0;
    next[own] = scale * moved;
    if (!state_.b.empty()) {
      const double bias_scale = state_.bias_step / state_.inverse_l2;
      for (std::size_t l = 0; l < listed; ++l) weights_.bias(list[l]) += next[l] * bias_scale;
    }
    weights_.add(support.row, row, list, next);
    return 0.5 * share * support.curvature * square;
  }

  const Rows& rows_;
  const L& loss_;
  Weights& weights_;
  const MulticlassSweepState& state_;
  ClassSupports& supports_;
  std::vector<std::uint32_t> list_;  // of classes
  std::vector<double> a_, before_, next_, scratch_;
};

}  // namespace fenchel::kernel
