// Sweeps of dual ascent over the supports of rows: steps over a row's own class and those that have a dual variable above 0 now,
// for losses most of whose dual variables are 0, with the weights themselves stored. Templated on storage and loss.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
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
        scratch_(3 * state.classes) {
    visits_.reserve(rows_ahead);
  }

  // Visits the rows at these places of the supports and leaves those places whose rows gained so much and can gain more. Returns
  // the entries x classes looked at. Rows one after the other that have no class in common are scored at once.
  double run(std::vector<std::uint32_t>& order, double least_gain) {
    double work = 0.0;
    std::size_t left = 0;
    for (std::size_t n = 0; n < order.size();) {
      n = gather(order, n);
      if (visits_.empty()) continue;
      const std::size_t listed = visits_.back().first + visits_.back().listed;
      weights_.score(std::span<const Visit>(visits_), std::span<const std::uint32_t>(list_).first(listed),
                     std::span(a_).first(listed));
      for (const Visit& visit : visits_) {
        work += static_cast<double>(visit.row.values.size() * visit.listed);
        const double gain = step_of(visit);
        order[left] = visit.place;  // without a branch, which nobody could foresee
        left += gain >= least_gain ? 1 : 0;
      }
    }
    order.resize(left);
    return work;
  }

 private:
  using Row = decltype(std::declval<const Rows&>().row_in_place(0));
  struct Visit {
    std::uint32_t place;
    const ClassSupports::Row* support;
    Row row;
    std::size_t first, listed;  // its part of the lists below
  };

  // The next visits, from place n of the order on; returns where the ones after them begin.
  std::size_t gather(std::span<const std::uint32_t> order, std::size_t n) {
    visits_.clear();
    const std::size_t most = weights_.most_at_once();
    std::size_t first = 0;
    for (; n < order.size() && visits_.size() < most; ++n) {
      const ClassSupports::Row& support = supports_.rows[order[n]];
      if (!visits_.empty() && meets(support, first)) break;
      prefetch(order, n);
      const std::size_t others = list_classes(support, first);
      if (others == 0) continue;
      visits_.push_back({.place = order[n],
                         .support = &support,
                         .row = rows_.row_in_place(support.row),
                         .first = first,
                         .listed = others + 1});
      first += others + 1;
    }
    return n;
  }

  // Whether one of its classes is among the first ones listed.
  [[nodiscard]] bool meets(const ClassSupports::Row& support, std::size_t listed) const {
    const std::span<const std::uint32_t> taken(list_.data(), listed);
    const auto is_taken = [&](std::uint32_t label) { return std::ranges::find(taken, label) != taken.end(); };
    if (is_taken(support.target)) return true;
    return std::ranges::any_of(supports_.entries_of(support),
                               [&](const ClassSupports::Entry& entry) { return is_taken(entry.label); });
  }

  void prefetch(std::span<const std::uint32_t> order, std::size_t n) const {
    if (n + 2 * rows_ahead < order.size()) __builtin_prefetch(&supports_.rows[order[n + 2 * rows_ahead]]);
    if (n + rows_ahead >= order.size()) return;
    const ClassSupports::Row& later = supports_.rows[order[n + rows_ahead]];
    rows_.prefetch(later.row);
    data::prefetch_all(std::span<const ClassSupports::Entry>(supports_.entries_of(later)));
  }

  // The classes with a dual variable, and the row's own one after them; returns how many the former are.
  std::size_t list_classes(const ClassSupports::Row& support, std::size_t first) {
    std::size_t end = first;
    for (const ClassSupports::Entry& entry : supports_.entries_of(support)) {
      list_[end] = entry.label;
      before_[end] = entry.beta;
      end += entry.beta > 0.0 ? 1 : 0;
    }
    list_[end] = support.target;
    before_[end] = 0.0;
    return end - first;
  }

  // Returns what the dual gains, at least. Most rows have few classes: the loops over so many are no loops.
  double step_of(const Visit& visit) {
    switch (visit.listed) {
      case 2: return step(std::integral_constant<std::size_t, 2>{}, visit);
      case 3: return step(std::integral_constant<std::size_t, 3>{}, visit);
      case 4: return step(std::integral_constant<std::size_t, 4>{}, visit);
      default: return step(visit.listed, visit);
    }
  }

  template <class Count>
  [[gnu::always_inline]] double step(Count listed, const Visit& visit) {
    const ClassSupports::Row& support = *visit.support;
    const std::size_t own = listed - 1;
    const std::span<const std::uint32_t> list(list_.data() + visit.first, listed);
    const double* const before = before_.data() + visit.first;
    double* const a = a_.data() + visit.first;
    double* const next = next_.data();
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
    weights_.add(support.row, visit.row, list, next);
    return 0.5 * share * support.curvature * square;
  }

  const Rows& rows_;
  const L& loss_;
  Weights& weights_;
  const MulticlassSweepState& state_;
  ClassSupports& supports_;
  std::vector<Visit> visits_;
  std::vector<std::uint32_t> list_;  // of classes, and what belongs to them: visit after visit
  std::vector<double> a_, before_;
  std::vector<double> next_, scratch_;  // of one visit
};

}  // namespace fenchel::kernel
