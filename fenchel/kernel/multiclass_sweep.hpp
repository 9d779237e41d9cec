// One sweep of dual ascent over the rows of a multiclass problem, one block of k dual variables at a time, templated on
// storage, loss and link (see class_rows.hpp for what is stored of the weights).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "fenchel/base/weighted_term.hpp"
#include "fenchel/kernel/class_rows.hpp"
#include "fenchel/kernel/class_supports.hpp"
#include "fenchel/loss/vector_loss.hpp"

namespace fenchel::kernel {

struct MulticlassSweepState {
  std::span<const std::uint32_t> order;  // rows to visit
  std::span<const std::uint32_t> targets;
  std::span<const double> shares;      // c_i / sum c
  std::span<const double> curvatures;  // q_i
  double caution = 1.0;                // sigma': a block among several takes its rows' curvature that much larger
  std::size_t classes = 0;
  std::size_t stride = 0;        // of the stored weights
  std::span<double> stored;      // w, or u where w = S(u, l1)/l2
  double inverse_l2 = 1.0;       // of stored weights that are w; 1 for u
  std::span<double> beta;        // rows x classes
  std::span<double> b;           // of the proximal subproblem; empty without a free bias
  double bias_step = 0.0;        // 1/kappa
  double constant = 0.0;         // value of the constant column, the last one
  std::span<std::uint8_t> idle;  // visits in a row that changed nothing, a row
  std::span<double> gains;       // of the dual, by the last visit, a row
  // Where given, steps are over the row's own class and those with beta > 0 only, and these are read and written here.
  ClassSupports* supports = nullptr;
  std::size_t sample_every = 1;  // Fenchel-Young terms are looked at on every so-many-th visit
};

// Fenchel-Young terms met before their updates: an estimate of the gap, never a claim; and the losses met with them.
struct MulticlassSweepReport {
  double sampled_terms = 0.0;
  double sampled_losses = 0.0;
  double sampled_shares = 0.0;
  double visited_shares = 0.0;
  double gain = 0.0;  // of the dual, at least, from the concavity of the steps' own problems
  double work = 0.0;  // entries x classes looked at
  bool changed = false;

  void add(const MulticlassSweepReport& other) {
    sampled_terms += other.sampled_terms;
    sampled_losses += other.sampled_losses;
    sampled_shares += other.sampled_shares;
    visited_shares += other.visited_shares;
    gain += other.gain;
    work += other.work;
    changed = changed || other.changed;
  }
};

template <class Rows, loss::VectorLoss L, class Weights>
class MulticlassSweep {
 public:
  static constexpr bool can_step_on_support = L::sparse_dual && std::is_same_v<Weights, detail::PlainWeights>;

  MulticlassSweep(const Rows& rows, const L& loss, const Weights& weights, MulticlassSweepState& state)
      : rows_(rows),
        loss_(loss),
        weights_(weights),
        state_(state),
        scores_(state.stride),
        change_(state.stride),
        a_(state.classes),
        all_(state.stride),
        next_(state.classes),
        scratch_(3 * state.classes) {}

  MulticlassSweepReport run() {
    MulticlassSweepReport report;
    std::size_t until_sample = 0;
    const std::span<const std::uint32_t> order = state_.order;
    for (std::size_t n = 0; n < order.size(); ++n) {
      if (n + fetch_ahead < order.size()) rows_.prefetch(order[n + fetch_ahead]);
      const std::uint32_t i = order[n];
      const auto row = rows_.row_in_place(i);
      if (state_.supports != nullptr) {
        if constexpr (can_step_on_support) step_on_support(i, row, report);
        continue;
      }
      margins(row, state_.targets[i]);
      report.work += static_cast<double>(row.values.size() * state_.classes);
      report.visited_shares += state_.shares[i];
      if (until_sample-- == 0) {
        until_sample = state_.sample_every - 1;
        sample(i, report);
      }
      const bool changed = step(i, row, report);
      report.changed = report.changed || changed;
      if (changed) {
        state_.idle[i] = 0;
      } else if (state_.idle[i] < 255) {
        ++state_.idle[i];
      }
    }
    return report;
  }

 private:
  static constexpr std::size_t fetch_ahead = 4;  // rows by which memory is asked for in advance

  // The constant column as a row of its own.
  [[nodiscard]] double* constant_weights() const { return state_.stored.data() + rows_.cols() * state_.stride; }

  template <class Row>
  void margins(const Row& row, std::size_t y) {
    row_scores(row, weights_, state_.stored.data(), state_.stride, scores_.data());
    const std::size_t k = state_.classes;
    if (state_.constant != 0.0) {
      for (std::size_t l = 0; l < state_.stride; l += lanes) {
        detail::Lanes entry, score;
        detail::load(constant_weights() + l, entry);
        detail::load(scores_.data() + l, score);
        weights_.apply(rows_.cols(), entry);
        score += entry * state_.constant;
        detail::store(score, scores_.data() + l);
      }
    }
    if (!state_.b.empty()) {
      for (std::size_t l = 0; l < k; ++l) scores_[l] += state_.b[l];
    }
    const double own = scores_[y];
    for (std::size_t l = 0; l < k; ++l) a_[l] = scores_[l] - own;
  }

  void sample(std::uint32_t i, MulticlassSweepReport& report) {
    const std::size_t y = state_.targets[i];
    const std::span<const double> beta = block(i);
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
    const std::span<double> beta = block(i);
    loss_.dual_step(y, a_, state_.caution * state_.curvatures[i], beta, next_, scratch_);
    const double share = state_.shares[i] * state_.caution;
    beta[y] = next_[y];
    double moved[4] = {}, squares[4] = {};
    for (std::size_t l = 0; l < k; ++l) {
      const double delta = next_[l] - beta[l];
      beta[l] = next_[l];
      change_[l] = -share * delta;
      moved[l % 4] += delta;
      squares[l % 4] += delta * delta;
    }
    const double own = (moved[0] + moved[1]) + (moved[2] + moved[3]);
    const double square = own * own + ((squares[0] + squares[1]) + (squares[2] + squares[3]));
    note_gain(i, 0.5 * share * state_.curvatures[i] * square, report);
    if (square == 0.0) return false;
    change_[y] = share * own;
    for (std::size_t l = 0; l < state_.b.size(); ++l) state_.b[l] += change_[l] * state_.bias_step;
    for (std::size_t l = 0; l < k; ++l) change_[l] *= state_.inverse_l2;
    if (few_changed()) {
      for (std::size_t m = 0; m < list_.size(); ++m) scratch_[m] = change_[list_[m]];
      add_listed(row, list_, scratch_.data(), state_.stride, state_.stored.data());
    } else {
      add_row(row, change_.data(), state_.stride, state_.stored.data());
    }
    if (state_.constant != 0.0) {
      for (std::size_t l = 0; l < k; ++l) constant_weights()[l] += change_[l] * state_.constant;
    }
    return true;
  }

  // The step over the row's own class and those that have a dual variable now; not where there is none.
  template <class Row>
  void step_on_support(std::uint32_t i, const Row& row, MulticlassSweepReport& report) {
    ClassSupports& supports = *state_.supports;
    const auto [first, last] = supports.of_row[i];
    double* const few = change_.data();  // beta of the list, then its change
    list_.clear();
    std::size_t own = 0;
    for (std::size_t e = first; e < last; ++e) {
      if (!(supports.beta[e] > 0.0)) continue;
      list_.push_back(supports.classes[e]);
      few[own++] = supports.beta[e];
    }
    if (own == 0) return;
    list_.push_back(state_.targets[i]);
    const std::size_t m = own + 1;
    report.work += static_cast<double>(row.values.size() * m);
    const bool many = m * lanes >= state_.stride;  // a vector instruction does that many classes at a time
    if (many) {
      row_scores(row, weights_, state_.stored.data(), state_.stride, all_.data());
      for (std::size_t l = 0; l < m; ++l) scores_[l] = all_[list_[l]];
    } else {
      listed_scores(row, list_, state_.stored.data(), state_.stride, scores_.data());
    }
    for (std::size_t l = 0; l < m; ++l) {
      if (state_.constant != 0.0) scores_[l] += constant_weights()[list_[l]] * state_.constant;
      if (!state_.b.empty()) scores_[l] += state_.b[list_[l]];
    }
    const std::span<double> a = std::span(a_).first(m), next = std::span(next_).first(m);
    few[own] = 0.0;
    for (std::size_t l = 0; l < m; ++l) a[l] = scores_[l] - scores_[own];
    loss_.dual_step(own, a, state_.caution * state_.curvatures[i], {few, m}, next, scratch_);
    const double share = state_.shares[i] * state_.caution;
    double moved = 0.0, square = 0.0;
    for (std::size_t e = first, l = 0; l < own; ++e) {
      if (!(supports.beta[e] > 0.0)) continue;
      supports.beta[e] = next[l++];
    }
    for (std::size_t l = 0; l < own; ++l) {
      const double delta = next[l] - few[l];
      moved += delta;
      square += delta * delta;
      few[l] = -share * delta;
    }
    square += moved * moved;
    note_gain(i, 0.5 * share * state_.curvatures[i] * square, report);
    if (square == 0.0) return;
    few[own] = share * moved;
    for (std::size_t l = 0; l < m; ++l) {
      if (!state_.b.empty()) state_.b[list_[l]] += few[l] * state_.bias_step;
      few[l] *= state_.inverse_l2;
      if (state_.constant != 0.0) constant_weights()[list_[l]] += few[l] * state_.constant;
    }
    if (many) {
      std::fill(all_.begin(), all_.end(), 0.0);
      for (std::size_t l = 0; l < m; ++l) all_[list_[l]] = few[l];
      add_row(row, all_.data(), state_.stride, state_.stored.data());
    } else {
      add_listed(row, list_, few, state_.stride, state_.stored.data());
    }
  }

  void note_gain(std::uint32_t i, double gain, MulticlassSweepReport& report) const {
    state_.gains[i] = gain;
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

  [[nodiscard]] std::span<double> block(std::uint32_t i) const {
    return state_.beta.subspan(std::size_t{i} * state_.classes, state_.classes);
  }

  const Rows& rows_;
  const L& loss_;
  const Weights& weights_;
  MulticlassSweepState& state_;
  std::vector<double> scores_, change_, a_, all_, next_, scratch_;
  std::vector<std::uint32_t> list_;  // of classes
};

}  // namespace fenchel::kernel
