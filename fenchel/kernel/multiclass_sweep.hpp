// One sweep of dual ascent over the rows of a multiclass problem, one block of k dual variables at a time, templated on
// storage, loss and link (see class_rows.hpp for what is stored of the weights).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/weighted_term.hpp"
#include "fenchel/kernel/class_rows.hpp"
#include "fenchel/kernel/multiclass_state.hpp"
#include "fenchel/loss/vector_loss.hpp"

namespace fenchel::kernel {

template <class Rows, loss::VectorLoss L, class Weights>
class MulticlassSweep {
 public:
  MulticlassSweep(const Rows& rows, const L& loss, const Weights& weights, MulticlassSweepState& state)
      : rows_(rows),
        loss_(loss),
        weights_(weights),
        state_(state),
        scores_(state.stride),
        spare_(state.stride),
        followed_(state.halves.follows() ? state.classes : 0),
        change_(state.stride),
        a_(state.classes),
        next_(state.classes),
        scratch_(3 * state.classes) {
    list_.reserve(state.classes);
  }

  MulticlassSweepReport run() {
    MulticlassSweepReport report;
    std::size_t until_sample = 0;
    const std::span<const std::uint32_t> order = state_.order;
    for (std::size_t n = 0; n < order.size(); ++n) {
      if (n + rows_ahead < order.size()) {
        rows_.prefetch(order[n + rows_ahead]);
        state_.prefetch(order[n + rows_ahead]);
      }
      const std::uint32_t i = order[n];
      const auto row = rows_.row_in_place(i);
      margins(i, row);
      report.work += static_cast<double>(row.values.size() * state_.classes);
      report.visited_shares += state_.shares[i];
      if (until_sample-- == 0) {
        until_sample = state_.sample_every - 1;
        sample(i, report);
      }
      const bool changed = step(i, row, report);
      report.changed = report.changed || changed;
      if (state_.halves.follows()) continue;
      if (changed) {
        state_.idle[i] = 0;
      } else if (state_.idle[i] < 255) {
        ++state_.idle[i];
      }
    }
    return report;
  }

 private:
  template <class Row>
  void margins(std::uint32_t i, const Row& row) {
    const FeatureHalves& halves = state_.halves;
    const std::size_t k = state_.classes, y = state_.targets[i];
    if (halves.duo != nullptr && !halves.follows()) {
      std::ranges::copy(state_.dual_of(i),
                        halves.duo->outgoing(0).begin() + static_cast<std::ptrdiff_t>(state_.stride));
    }
    const std::span<const double> incoming =
        halves.sum(scores_, spare_, [&](FeatureHalves::Half half, double* scores) {
          row_scores(halves.entries(i, row, half), weights_, state_.stored.data(), state_.stride, scores);
          if (state_.constant != 0.0 && FeatureHalves::has_last(half)) add_constant(scores);
        });
    if (halves.follows()) std::ranges::copy(incoming.subspan(state_.stride, k), followed_.begin());
    if (!state_.b.empty()) {
      for (std::size_t l = 0; l < k; ++l) scores_[l] += state_.b[l];
    }
    const double own = scores_[y];
    for (std::size_t l = 0; l < k; ++l) a_[l] = scores_[l] - own;
  }

  void add_constant(double* scores) const {
    for (std::size_t l = 0; l < state_.stride; l += lanes) {
      Lanes entry, score;
      load(state_.constant_weights() + l, entry);
      load(scores + l, score);
      weights_.apply(rows_.cols(), entry);
      score += entry * state_.constant;
      store(score, scores + l);
    }
  }

  [[nodiscard]] std::span<double> dual_of(std::uint32_t i) {
    return state_.halves.follows() ? std::span(followed_) : state_.dual_of(i);
  }

  void sample(std::uint32_t i, MulticlassSweepReport& report) {
    const std::size_t y = state_.targets[i];
    const std::span<const double> beta = dual_of(i);
    double rest = 1.0;
    for (std::size_t l = 0; l < beta.size(); ++l) rest -= l == y ? 0.0 : beta[l];
    report.sampled_terms += weighted_term(
        state_.shares[i], loss_.fenchel_young({.y = y, .a = a_, .beta = beta, .rest = std::max(0.0, rest)}));
    report.sampled_losses += state_.shares[i] * loss_.value(y, a_);
    report.sampled_shares += state_.shares[i];
  }

  template <class Row>
  bool step(std::uint32_t i, const Row& row, MulticlassSweepReport& report) {
    const std::size_t k = state_.classes;
    const std::size_t y = state_.targets[i];
    const std::span<double> beta = dual_of(i);
    loss_.dual_step(y, a_, state_.caution * state_.curvatures[i], beta, next_, scratch_);
    const double share = state_.shares[i] * state_.caution;
    beta[y] = next_[y];
    double moved = 0.0;
    const double squares = take_duals(next_, -share * state_.inverse_l2, beta.data(), change_.data(), moved);
    const double square = moved * moved + squares;
    note_gain(i, 0.5 * share * state_.curvatures[i] * square, report);
    if (square == 0.0) return false;
    change_[y] = share * state_.inverse_l2 * moved;
    for (std::size_t l = 0; l < state_.b.size(); ++l) {
      state_.b[l] += change_[l] * (state_.bias_step / state_.inverse_l2);
    }
    const bool few = few_changed();
    for (std::size_t m = 0; few && m < list_.size(); ++m) scratch_[m] = change_[list_[m]];
    const FeatureHalves::Half half = state_.halves.present();
    const Row entries = state_.halves.entries(i, row, half);
    if (few) {
      add_listed(entries, list_, scratch_.data(), state_.stride, state_.stored.data());
    } else {
      add_row(entries, change_.data(), state_.stride, state_.stored.data());
    }
    if (state_.constant != 0.0 && FeatureHalves::has_last(half)) {
      for (std::size_t l = 0; l < k; ++l) state_.constant_weights()[l] += change_[l] * state_.constant;
    }
    return true;
  }

  void note_gain(std::uint32_t i, double gain, MulticlassSweepReport& report) const {
    if (!state_.halves.follows()) state_.gains[i] = gain;
    report.gain += gain;
  }

  // Lists the classes that have changed, where they are so few that going through the list is the shorter way: a vector
  // instruction does four classes at a time.
  bool few_changed() {
    const std::size_t most = state_.stride / 16;
    if (most < 2) return false;
    list_.clear();
    for (std::size_t l = 0; l < state_.classes && list_.size() <= most; ++l) {
      if (change_[l] != 0.0) list_.push_back(static_cast<std::uint32_t>(l));
    }
    return list_.size() <= most;
  }

  const Rows& rows_;
  const L& loss_;
  const Weights& weights_;
  MulticlassSweepState& state_;
  std::vector<double> scores_, spare_;
  std::vector<double> followed_;  // the dual variables of the row at hand, where another thread has them
  std::vector<double> change_, a_, next_, scratch_;
  std::vector<std::uint32_t> list_;  // of classes
};

}  // namespace fenchel::kernel
