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

namespace fenchel::kernel {

class WeightsByFeature {
 public:
  WeightsByFeature(std::span<double> stored, std::size_t stride) : stored_(stored), stride_(stride), all_(stride) {}

  template <class Row>
  void score(const Row& row, std::span<const std::uint32_t> list, double* scores) {
    if (!most_are_listed(list.size())) return listed_scores(row, list, stored_.data(), stride_, scores);
    row_scores(row, detail::PlainWeights{}, stored_.data(), stride_, all_.data());
    for (std::size_t l = 0; l < list.size(); ++l) scores[l] = all_[list[l]];
  }
  template <class Row>
  void add(const Row& row, std::span<const std::uint32_t> list, const double* change) {
    if (!most_are_listed(list.size())) return add_listed(row, list, change, stride_, stored_.data());
    std::fill(all_.begin(), all_.end(), 0.0);
    for (std::size_t l = 0; l < list.size(); ++l) all_[list[l]] = change[l];
    add_row(row, all_.data(), stride_, stored_.data());
  }
  // Of the last feature.
  [[nodiscard]] double& last(std::size_t label) { return stored_[stored_.size() - stride_ + label]; }

 private:
  // A vector instruction goes through so many classes at a time that a list of a quarter of them is not shorter.
  [[nodiscard]] bool most_are_listed(std::size_t listed) const { return listed * lanes >= stride_; }

  std::span<double> stored_;
  std::size_t stride_;
  std::vector<double> all_;
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

// Of rows without gaps, whose entries meet weights one after the other.
class WeightsByClass {
 public:
  WeightsByClass(std::span<double> stored, std::size_t stride)
      : stored_(stored),
        stride_(stride),
        features_(stored.size() / stride),
        pitch_((features_ + lanes - 1) / lanes * lanes),
        copy_(stride * pitch_) {
    for_each_pair([&](double& there, double& here) { here = there; });
  }
  ~WeightsByClass() {
    for_each_pair([&](double& there, double& here) { there = here; });
  }
  WeightsByClass(const WeightsByClass&) = delete;
  WeightsByClass& operator=(const WeightsByClass&) = delete;

  template <class Row>
  void score(const Row& row, std::span<const std::uint32_t> list, double* scores) const {
#if defined(__x86_64__)
    if (has_avx2()) return detail::score_list_avx2(row.values, copy_.data(), pitch_, list, scores);
#endif
    detail::score_list(row.values, copy_.data(), pitch_, list, scores);
  }
  template <class Row>
  void add(const Row& row, std::span<const std::uint32_t> list, const double* change) {
#if defined(__x86_64__)
    if (has_avx2()) return detail::add_to_list_avx2(row.values, copy_.data(), pitch_, list, change);
#endif
    detail::add_to_list(row.values, copy_.data(), pitch_, list, change);
  }
  [[nodiscard]] double& last(std::size_t label) { return copy_[label * pitch_ + features_ - 1]; }

 private:
  template <class Visit>
  void for_each_pair(Visit&& visit) {
    for (std::size_t j = 0; j < features_; ++j) {
      for (std::size_t l = 0; l < stride_; ++l) visit(stored_[j * stride_ + l], copy_[l * pitch_ + j]);
    }
  }

  std::span<double> stored_;
  std::size_t stride_, features_, pitch_;
  LargeVector copy_;
};

}  // namespace fenchel::kernel
