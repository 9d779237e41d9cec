// What a sweep over the rows of a multiclass problem works on, and what it tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/data/matrix.hpp"
#include "fenchel/kernel/feature_halves.hpp"

namespace fenchel::kernel {

inline constexpr std::size_t rows_ahead = 4;  // by which memory is asked for in advance

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
  std::size_t sample_every = 1;  // Fenchel-Young terms are looked at on every so-many-th visit
  // Where a thread follows another one, the dual variables and what is known of rows are the other one's to read and write.
  FeatureHalves halves;

  [[nodiscard]] std::span<double> dual_of(std::size_t i) const { return beta.subspan(i * classes, classes); }
  // The constant column's weights.
  [[nodiscard]] double* constant_weights() const { return stored.data() + (stored.size() - stride); }
  // Asks memory for what a visit needs of a row besides its entries.
  void prefetch(std::size_t i) const {
    __builtin_prefetch(&targets[i]);
    __builtin_prefetch(&shares[i]);
    __builtin_prefetch(&curvatures[i]);
    if (!halves.follows()) data::prefetch_all(std::span<const double>(dual_of(i)));
  }
};

// The same for a thread that follows, which has biases of its own.
struct FollowingState {
  explicit FollowingState(const MulticlassSweepState& leader) : b(leader.b.begin(), leader.b.end()), state(leader) {
    state.b = b;
    state.halves.side = 1;
  }
  FollowingState(const FollowingState&) = delete;
  FollowingState& operator=(const FollowingState&) = delete;

  std::vector<double> b;
  MulticlassSweepState state;
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

}  // namespace fenchel::kernel
