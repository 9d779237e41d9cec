// One sweep of stochastic subgradient steps over a given order of rows, templated on storage and link. A link keeps the sum s
// of everything that was added, and maps it to weights; the step sizes 1/(lambda t) make w = s / (lambda N) after N rows, so
// that no step touches more of it than its rows do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/data/dot.hpp"
#include "fenchel/data/matrix.hpp"
#include "fenchel/loss/loss.hpp"

namespace fenchel::kernel {

// w_j = s_j / (l2 N)
struct EvenSum {
  std::span<double> s;
  double inverse_l2;

  template <class Row>
  [[nodiscard]] double dot(const Row& row) const {
    return inverse_l2 * data::dot(row, s.data());
  }
  [[nodiscard]] double at(std::size_t j) const { return inverse_l2 * s[j]; }
};

// w_j = s_j / (l2_j N)
struct UnevenSum {
  std::span<double> s;
  std::span<const double> inverse_l2;

  template <class Row>
  [[nodiscard]] double dot(const Row& row) const {
    double sum = 0.0;
    row.for_each([&](std::size_t j, double x) { sum += x * at(j); });
    return sum;
  }
  [[nodiscard]] double at(std::size_t j) const { return inverse_l2[j] * s[j]; }
};

// A bias without a penalty learns by betting (Orabona and Pal, "Coin Betting and Parameter-Free Online Learning"): of a
// wealth that starts with 1, the share (sum of outcomes)/(their number + 1) is put on the next outcome, a mean subgradient
// in [-1, 1]. Its regret is |b| sqrt(t log t) for every b, without a step size.
struct CoinBet {
  double largest = 1.0;  // the size of a subgradient that counts as 1
  double wealth = 1.0;
  double sum = 0.0;
  double count = 0.0;

  [[nodiscard]] double bet() const { return wealth * sum / (count + 1.0); }
  void settle(double outcome) {
    wealth += outcome * bet();
    sum += outcome;
    count += 1.0;
  }
};

struct SubgradientState {
  std::span<const std::uint32_t> order;  // rows to visit
  std::span<const double> targets;
  std::span<const double> factors;  // of rows, with mean 1 over those that are visited
  std::span<double> alpha;          // the average of a row's subgradients
  double epoch = 1.0;               // how often each row has been visited when the sweep is over
  double visited = 0.0;             // N
  std::size_t batch = 1;            // rows a step
  double constant = 0.0;            // value of the constant column, the last coordinate of the link
  CoinBet* bias = nullptr;          // a free bias
  std::size_t fetch_ahead = 4;      // rows by which memory is asked for in advance
  std::vector<double> changes{};    // of the rows of a batch
};

// Sums over the visits, each at its own w: guesses, never a claim.
struct SubgradientReport {
  double losses = 0.0;
  double terms = 0.0;  // Fenchel-Young
};

// The part of a visit that knows the loss and sees no data, called through a pointer as RowVisit is.
class SubgradientVisit {
 public:
  template <class L>
  explicit SubgradientVisit(const L& loss) : loss_(&loss), visit_(&visit<L>) {}

  // The score of row i is z, of which b is the free bias. Returns what its factor makes of the subgradient.
  double operator()(SubgradientState& state, SubgradientReport& report, std::uint32_t i, double z, double b) const {
    return visit_(loss_, state, report, i, z, b);
  }

 private:
  template <class L>
  static double visit(const void* erased, SubgradientState& state, SubgradientReport& report, std::uint32_t i,
                      double z, double b) {
    const L& loss = *static_cast<const L*>(erased);
    const double y = state.targets[i];
    const double u = loss::project_dual(loss, y, -loss.derivative(y, z));
    state.alpha[i] += (u - state.alpha[i]) / state.epoch;
    report.losses += state.factors[i] * loss.value(y, z);
    report.terms += state.factors[i] * (loss.fenchel_young(y, z, state.alpha[i]) - b * state.alpha[i]);
    return state.factors[i] * u;
  }

  const void* loss_;
  double (*visit_)(const void*, SubgradientState&, SubgradientReport&, std::uint32_t, double, double);
};

template <class Rows, class Link>
SubgradientReport subgradient_sweep(const Rows& rows, const SubgradientVisit& visit, Link& link,
                                    SubgradientState& state) {
  SubgradientReport report;
  const std::size_t constant_column = rows.cols();
  const std::span<const std::uint32_t> order = state.order;
  state.changes.resize(state.batch);
  for (std::size_t begin = 0; begin < order.size(); begin += state.batch) {
    const std::size_t end = std::min(order.size(), begin + state.batch);
    const double scale = state.visited > 0.0 ? 1.0 / state.visited : 0.0;
    const double b = state.bias != nullptr ? state.bias->bet() : 0.0;
    double outcome = 0.0;
    for (std::size_t k = begin; k < end; ++k) {
      if (k + state.fetch_ahead < order.size()) rows.prefetch(order[k + state.fetch_ahead]);
      const std::uint32_t i = order[k];
      double z = link.dot(rows.row_in_place(i));
      if (state.constant != 0.0) z += state.constant * link.at(constant_column);
      const double change = visit(state, report, i, scale * z + b, b);
      state.changes[k - begin] = change;
      outcome += change;
    }
    for (std::size_t k = begin; k < end; ++k) {
      const double change = state.changes[k - begin];
      if (change == 0.0) continue;
      rows.row_in_place(order[k]).for_each([&](std::size_t j, double x) { link.s[j] += change * x; });
      if (state.constant != 0.0) link.s[constant_column] += change * state.constant;
    }
    const auto size = static_cast<double>(end - begin);
    state.visited += size;
    if (state.bias != nullptr) state.bias->settle(outcome / (size * state.bias->largest));
  }
  return report;
}

}  // namespace fenchel::kernel
