// One sweep of dual coordinate ascent over a given order of rows, templated on storage and link. A link keeps what
// the dual vector induces on the primal side and maps it to weights: u = X'(c alpha)/sum c, w_j = S(u_j, l1_j)/l2_j. As w
// is a pointwise function of u, the elastic net needs no extra work for columns a row does not touch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "fenchel/base/weighted_term.hpp"
#include "fenchel/data/dot.hpp"
#include "fenchel/data/matrix.hpp"
#include "fenchel/kernel/dual_step.hpp"
#include "fenchel/penalty/separable.hpp"

namespace fenchel::kernel {

// x.w where w has to be computed entry by entry.
template <class Link, class Row>
double lazy_dot(const Link& link, const Row& row) {
  double sum = 0.0;
  row.for_each([&](std::size_t j, double x) { sum += x * link.weight(j); });
  return sum;
}

// Pure l2 with one strength: w = u / l2 is kept itself.
struct RidgeLink {
  std::span<double> w;
  double inverse_l2;

  [[nodiscard]] double weight(std::size_t j) const { return w[j]; }
  template <class Row>
  [[nodiscard]] double dot(const Row& row) const {
    return data::dot(row, w.data());
  }
  [[nodiscard]] double scaled(double change) const { return change * inverse_l2; }
  void add(std::size_t j, double change) { w[j] += change; }
};

// l1 and l2 with one strength: u is kept.
struct ElasticNetLink {
  std::span<double> u;
  double l1;
  double inverse_l2;

  [[nodiscard]] double weight(std::size_t j) const { return penalty::soft_threshold(u[j], l1) * inverse_l2; }
  template <class Row>
  [[nodiscard]] double dot(const Row& row) const {
    return lazy_dot(*this, row);
  }
  [[nodiscard]] static double scaled(double change) { return change; }
  void add(std::size_t j, double change) { u[j] += change; }
};

// The same with a strength a coordinate; `extra` is added to every l2.
struct FactoredLink {
  std::span<double> u;
  const penalty::Separable& penalty;
  double extra;

  [[nodiscard]] double weight(std::size_t j) const {
    const penalty::Strength g = penalty[j];
    return penalty::Strength{.l1 = g.l1, .l2 = g.l2 + extra}.conjugate_gradient(u[j]);
  }
  template <class Row>
  [[nodiscard]] double dot(const Row& row) const {
    return lazy_dot(*this, row);
  }
  [[nodiscard]] static double scaled(double change) { return change; }
  void add(std::size_t j, double change) { u[j] += change; }
};

// Why a row can be left out of sweeps: until those that remain have settled, or for much longer.
enum RowRest : std::uint8_t { awake = 0, rests = 1, settled = 2 };

// What a sweep works on besides data, loss and link.
struct SweepState {
  std::span<const std::uint32_t> order;  // rows to visit
  std::span<const double> targets;
  std::span<const double> shares;      // c_i / sum c
  std::span<const double> curvatures;  // q_i
  std::span<double> alpha;
  std::span<std::uint8_t> resting;  // a RowRest, set for rows that can be left out
  double rest_beyond = infinity;    // the clearance above which a row rests
  double gap = infinity;            // at which rows settle
  StepRule rule{};
  double caution = 1.0;          // sigma': a block among several takes its rows' curvature that much larger
  double constant = 0.0;         // value of the constant column, the last coordinate of the link
  double b = 0.0;                // free bias of the proximal subproblem
  double bias_step = 0.0;        // 1/kappa; 0 without a free bias
  std::size_t sample_every = 1;  // Fenchel-Young terms are looked at on every so-many-th visit
  std::size_t until_sample = 0;  // visits left until the next look
  std::size_t fetch_ahead = 4;   // rows by which memory is asked for in advance

  void prefetch(std::size_t i) const {
    for (const auto& list : {targets, shares, curvatures, std::span<const double>(alpha)})
      __builtin_prefetch(&list[i]);
  }
};

// Fenchel-Young terms met before their updates: an estimate of the gap, never a claim.
struct SweepReport {
  double sampled_terms = 0.0;
  double smoothed_terms = 0.0;  // of the loss with smoothing, where there is some
  double sampled_shares = 0.0;
  double violation = 0.0;    // the largest distance of a margin from where its alpha would be optimal
  std::size_t nonzeros = 0;  // visited
  bool changed = false;

  void add(const SweepReport& other) {
    sampled_terms += other.sampled_terms;
    smoothed_terms += other.smoothed_terms;
    sampled_shares += other.sampled_shares;
    violation = std::max(violation, other.violation);
    nonzeros += other.nonzeros;
    changed = changed || other.changed;
  }
};

// What a visit does to the dual variable of a row: the part of a sweep that knows the loss and sees no data. The part that
// knows the storage calls it through a pointer, which costs nothing next to two walks along a row; templates over
// both would be an order of magnitude more code to compile.
class RowVisit {
 public:
  template <class L>
  explicit RowVisit(const L& loss) : loss_(&loss), visit_(&visit<L>) {}

  // The score of row i is z. Returns by how much c_i alpha_i / sum c changes.
  double operator()(SweepState& state, SweepReport& report, std::uint32_t i, double z) const {
    return visit_(loss_, state, report, i, z);
  }

 private:
  template <class L>
  static double visit(const void* loss, SweepState& state, SweepReport& report, std::uint32_t i, double z);

  const void* loss_;
  double (*visit_)(const void*, SweepState&, SweepReport&, std::uint32_t, double);
};

template <class L>
double RowVisit::visit(const void* which, SweepState& state, SweepReport& report, std::uint32_t i, double z) {
  const L& loss = *static_cast<const L*>(which);
  const double y = state.targets[i];
  const double old_alpha = state.alpha[i];
  if (state.until_sample-- == 0) {
    state.until_sample = state.sample_every - 1;
    report.sampled_terms += weighted_term(state.shares[i], loss.fenchel_young(y, z, old_alpha));
    if (state.rule.smoothing > 0.0) {
      report.smoothed_terms +=
          weighted_term(state.shares[i], smooth_term(state.rule.smoothing, loss, y, z, old_alpha));
    }
    report.sampled_shares += state.shares[i];
  }
  if constexpr (loss::RestingLoss<L>) {
    // Smoothing moves the optimal range of z by g alpha.
    const double clearance = loss.clearance(y, old_alpha, z + state.rule.smoothing * old_alpha);
    if (clearance > 0.0) {
      if (clearance > state.rest_beyond) state.resting[i] = rests;
      // The Gap Safe radius: with w = w(alpha), gap >= l2 ||w - w*||^2, so that z is within ||x_i|| sqrt(gap / l2) of its
      // optimum, whose square is gap q_i / share_i.
      if (clearance * clearance * state.shares[i] > state.gap * state.curvatures[i]) state.resting[i] = settled;
      return 0.0;  // the exact step would stay where it is, and so do all others
    }
    report.violation = std::max(report.violation, -clearance);
  }
  const double new_alpha = dual_step(state.rule, loss, y, old_alpha, z, state.caution * state.curvatures[i]);
  const double change = (new_alpha - old_alpha) * state.shares[i] * state.caution;
  if (change == 0.0) return 0.0;
  report.changed = true;
  state.alpha[i] = new_alpha;
  return change;
}

template <class Rows, class Link>
SweepReport dual_sweep(const Rows& rows, const RowVisit& visit, Link& link, SweepState& state) {
  SweepReport report;
  const std::size_t constant_column = rows.cols();
  const std::span<const std::uint32_t> order = state.order;
  for (std::size_t k = 0; k < order.size(); ++k) {
    // Rows come from all over memory; waiting for each would cost as much as the work on it.
    if (k + state.fetch_ahead < order.size()) {
      const std::uint32_t later = order[k + state.fetch_ahead];
      rows.prefetch(later);
      state.prefetch(later);
    }
    const std::uint32_t i = order[k];
    const auto row = rows.row_in_place(i);
    report.nonzeros += row.nonzeros();
    double z = state.b + link.dot(row);
    if (state.constant != 0.0) z += state.constant * link.weight(constant_column);

    const double change = visit(state, report, i, z);
    if (change == 0.0) continue;
    const double scaled = link.scaled(change);
    row.for_each_entry([&](std::size_t j, double x) { link.add(j, scaled * x); });
    if (state.constant != 0.0) link.add(constant_column, scaled * state.constant);
    state.b += change * state.bias_step;
  }
  return report;
}

}  // namespace fenchel::kernel
