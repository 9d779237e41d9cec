// Weights of which a row needs those of a few classes at a time: where they lie, a feature's side by side, or copied for as long as
// this lasts, a class's side by side. Both give a row's scores for the classes of a list, and add a row's change to these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/lanes.hpp"
#include "fenchel/base/large_vector.hpp"
#include "fenchel/base/processor.hpp"
#include "fenchel/kernel/class_rows.hpp"
#include "fenchel/kernel/multiclass_state.hpp"

namespace fenchel::kernel {

class WeightsByFeature {
 public:
  explicit WeightsByFeature(const MulticlassSweepState& state)
      : state_(state), all_(state.stride), spare_(state.stride) {}

  // Visits that may be scored at once, one message to another thread for all.
  [[nodiscard]] std::size_t most_at_once() const { return state_.halves.duo == nullptr ? 1 : rows_ahead; }
  // The scores of visits whose lists, and scores, lie side by side: no more numbers than there are classes.
  template <class Visit>
  void score(std::span<const Visit> visits, std::span<const std::uint32_t> lists, std::span<double> scores) {
    const FeatureHalves& halves = state_.halves;
    halves.sum(scores, spare_, [&](FeatureHalves::Half half, double* to) {
      for (const Visit& visit : visits) {
        const std::span<const std::uint32_t> list = lists.subspan(visit.first, visit.listed);
        score_part(halves.entries(visit.support->row, visit.row, half), list, to + visit.first);
        if (state_.constant == 0.0 || !FeatureHalves::has_last(half)) continue;
        for (std::size_t l = 0; l < list.size(); ++l) {
          to[visit.first + l] += state_.constant_weights()[list[l]] * state_.constant;
        }
      }
    });
  }
  template <class Row>
  void add(std::size_t i, const Row& row, std::span<const std::uint32_t> list, const double* change) {
    const FeatureHalves::Half half = state_.halves.present();
    add_part(state_.halves.entries(i, row, half), list, change);
    if (state_.constant == 0.0 || !FeatureHalves::has_last(half)) return;
    for (std::size_t l = 0; l < list.size(); ++l) state_.constant_weights()[list[l]] += change[l] * state_.constant;
  }
  // Of a free one, which is no part of the scores.
  [[nodiscard]] double& bias(std::size_t label) { return state_.b[label]; }

 private:
  template <class Row>
  void score_part(const Row& row, std::span<const std::uint32_t> list, double* scores) {
    const double* const stored = state_.stored.data();
    if (!most_are_listed(list.size())) return listed_scores(row, list, stored, state_.stride, scores);
    row_scores(row, detail::PlainWeights{}, stored, state_.stride, all_.data());
    for (std::size_t l = 0; l < list.size(); ++l) scores[l] = all_[list[l]];
  }
  template <class Row>
  void add_part(const Row& row, std::span<const std::uint32_t> list, const double* change) {
    double* const stored = state_.stored.data();
    if (!most_are_listed(list.size())) return add_listed(row, list, change, state_.stride, stored);
    std::fill(all_.begin(), all_.end(), 0.0);
    for (std::size_t l = 0; l < list.size(); ++l) all_[list[l]] = change[l];
    add_row(row, all_.data(), state_.stride, stored);
  }
  // A vector instruction goes through so many classes at a time that a list of a quarter of them is not shorter.
  [[nodiscard]] bool most_are_listed(std::size_t listed) const { return listed * lanes >= state_.stride; }

  const MulticlassSweepState& state_;
  std::vector<double> all_, spare_;
};

namespace detail {

template <class Value>
[[gnu::always_inline]] inline double dot(std::span<const Value> x, const double* w) {
  Lanes sums[2] = {};
  std::size_t n = 0;
  for (; n + 2 * lanes <= x.size(); n += 2 * lanes) {
    for (std::size_t turn = 0; turn < 2; ++turn) {
      Lanes value, weight;
      load(x.data() + n + turn * lanes, value);
      load(w + n + turn * lanes, weight);
      sums[turn] += value * weight;
    }
  }
  for (; n < x.size(); ++n) sums[0][n % lanes] += static_cast<double>(x[n]) * w[n];
  return sum_of(sums[0] + sums[1]);
}

template <class Value>
[[gnu::always_inline]] inline void add_multiple(std::span<const Value> x, double factor, double* w) {
  std::size_t n = 0;
  for (; n + lanes <= x.size(); n += lanes) {
    Lanes value, weight;
    load(x.data() + n, value);
    load(w + n, weight);
    store(weight + value * factor, w + n);
  }
  for (; n < x.size(); ++n) w[n] += static_cast<double>(x[n]) * factor;
}

template <class Value>
[[gnu::always_inline]] inline void score_list(std::span<const Value> x, const double* w, std::size_t pitch,
                                              std::span<const std::uint32_t> list, double* scores) {
  for (std::size_t l = 0; l < list.size(); ++l) scores[l] = dot(x, w + list[l] * pitch);
}
template <class Value>
[[gnu::always_inline]] inline void add_to_list(std::span<const Value> x, double* w, std::size_t pitch,
                                               std::span<const std::uint32_t> list, const double* change) {
  for (std::size_t l = 0; l < list.size(); ++l) add_multiple(x, change[l], w + list[l] * pitch);
}

#if defined(__x86_64__)
template <class Value>
[[gnu::target("avx2")]] void score_list_avx2(std::span<const Value> x, const double* w, std::size_t pitch,
                                             std::span<const std::uint32_t> list, double* scores) {
  score_list(x, w, pitch, list, scores);
}
template <class Value>
[[gnu::target("avx2")]] void add_to_list_avx2(std::span<const Value> x, double* w, std::size_t pitch,
                                              std::span<const std::uint32_t> list, const double* change) {
  add_to_list(x, w, pitch, list, change);
}
#endif

}  // namespace detail

// Of rows without gaps, whose entries meet weights one after the other. The bias of a class, where it is free, stands after them: what
// is done for some classes touches nothing that other classes need.
class WeightsByClass {
 public:
  explicit WeightsByClass(const MulticlassSweepState& state)
      : state_(state),
        features_(state.stored.size() / state.stride),
        pitch_((features_ + lanes) / lanes * lanes + line),
        copy_(state.stride * pitch_) {
    for_each_pair([&](double& there, double& here) { here = there; });
  }
  ~WeightsByClass() {
    for_each_pair([&](double& there, double& here) { there = here; });
  }
  WeightsByClass(const WeightsByClass&) = delete;
  WeightsByClass& operator=(const WeightsByClass&) = delete;

  [[nodiscard]] static std::size_t most_at_once() { return 1; }
  template <class Visit>
  void score(std::span<const Visit> visits, std::span<const std::uint32_t> lists, std::span<double> scores) {
    for (const Visit& visit : visits) {
      const std::span<const std::uint32_t> list = lists.subspan(visit.first, visit.listed);
      double* const to = scores.data() + visit.first;
      score_entries(visit.row.values, list, to);
      for (std::size_t l = 0; state_.constant != 0.0 && l < list.size(); ++l)
        to[l] += last(list[l]) * state_.constant;
    }
  }
  template <class Row>
  void add(std::size_t /*i*/, const Row& row, std::span<const std::uint32_t> list, const double* change) {
    add_entries(row.values, list, change);
    if (state_.constant == 0.0) return;
    for (std::size_t l = 0; l < list.size(); ++l) last(list[l]) += change[l] * state_.constant;
  }
  [[nodiscard]] double& bias(std::size_t label) { return copy_[label * pitch_ + features_]; }

 private:
  template <class Value>
  void score_entries(std::span<const Value> values, std::span<const std::uint32_t> list, double* scores) const {
#if defined(__x86_64__)
    if (has_avx2()) return detail::score_list_avx2(values, copy_.data(), pitch_, list, scores);
#endif
    detail::score_list(values, copy_.data(), pitch_, list, scores);
  }
  template <class Value>
  void add_entries(std::span<const Value> values, std::span<const std::uint32_t> list, const double* change) {
#if defined(__x86_64__)
    if (has_avx2()) return detail::add_to_list_avx2(values, copy_.data(), pitch_, list, change);
#endif
    detail::add_to_list(values, copy_.data(), pitch_, list, change);
  }
  [[nodiscard]] double& last(std::size_t label) { return copy_[label * pitch_ + features_ - 1]; }

  template <class Visit>
  void for_each_pair(Visit&& visit) {
    for (std::size_t j = 0; j < features_; ++j) {
      for (std::size_t l = 0; l < state_.stride; ++l) {
        visit(state_.stored[j * state_.stride + l], copy_[l * pitch_ + j]);
      }
    }
    for (std::size_t l = 0; l < state_.b.size(); ++l) visit(state_.b[l], bias(l));
  }

  static constexpr std::size_t line =
      8;  // of memory, which lies between classes: threads that work on different ones never share any

  const MulticlassSweepState& state_;
  std::size_t features_, pitch_;
  LargeVector copy_;
};

}  // namespace fenchel::kernel
