// Sweeps of dual ascent over the supports of rows: steps over a row's own class and those that have a dual variable above 0 now,
// for losses most of whose dual variables are 0, with the weights themselves stored. Templated on storage and loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
        scores_(state.classes),
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
      if (step(support, row, others) >= least_gain) order[left++] = order[n];
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

  // Returns what the dual gains, at least.
  template <class Row>
  double step(const ClassSupports::Row& support, const Row& row, std::size_t own) {
    const std::size_t m = own + 1;
    const std::span<const std::uint32_t> list = std::span(list_).first(m);
    score(row, list);
    for (std::size_t l = 0; l < m; ++l) a_[l] = scores_[l] - scores_[own];
    const std::span<double> next = std::span(next_).first(m);
    loss_.dual_step(own, std::span(a_).first(m), state_.caution * support.curvature, std::span(before_).first(m), next,
                    scratch_);
    std::size_t l = 0;
    for (ClassSupports::Entry& entry : supports_.entries_of(support)) {
      if (entry.beta > 0.0) entry.beta = next[l++];
    }
    const double share = support.share * state_.caution;
    double moved = 0.0, square = 0.0;
    double* const change = next_.data();
    for (l = 0; l < own; ++l) {
      const double delta = next[l] - before_[l];
      moved += delta;
      square += delta * delta;
      change[l] = -share * delta;
    }
    square += moved * moved;
    if (square == 0.0) return 0.0;
    change[own] = share * moved;
    add(row, list);
    return 0.5 * share * support.curvature * square;
  }

  template <class Row>
  void score(const Row& row, std::span<const std::uint32_t> list) {
    weights_.score(row, list, scores_.data());
    if (state_.constant != 0.0) {
      for (std::size_t l = 0; l < list.size(); ++l) scores_[l] += weights_.last(list[l]) * state_.constant;
    }
    if (!state_.b.empty()) {
      for (std::size_t l = 0; l < list.size(); ++l) scores_[l] += state_.b[list[l]];
    }
  }

  // The changes in next_, to the weights of the list.
  template <class Row>
  void add(const Row& row, std::span<const std::uint32_t> list) {
    if (!state_.b.empty()) {
      for (std::size_t l = 0; l < list.size(); ++l) state_.b[list[l]] += next_[l] * state_.bias_step;
    }
    for (std::size_t l = 0; l < list.size(); ++l) next_[l] *= state_.inverse_l2;
    if (state_.constant != 0.0) {
      for (std::size_t l = 0; l < list.size(); ++l) weights_.last(list[l]) += next_[l] * state_.constant;
    }
    weights_.add(row, list, next_.data());
  }

  const Rows& rows_;
  const L& loss_;
  Weights& weights_;
  const MulticlassSweepState& state_;
  ClassSupports& supports_;
  std::vector<std::uint32_t> list_;  // of classes
  std::vector<double> scores_, a_, before_, next_, scratch_;
};

}  // namespace fenchel::kernel
