// The blocks of DualAscent: rows that are swept side by side, and how what they found is put together.
#include <algorithm>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/solver/block_merge.hpp"
#include "fenchel/solver/dual_ascent.hpp"

namespace fenchel::solver {
namespace {

// Two blocks pay where a sweep is long against the copies of w and against starting a thread. A sweep of parts that are put
// together one by one needs fewer passes than one in which it happens once at the end, by a tenth at most, and each time
// costs more than that where parts are short.
constexpr double entries_a_coordinate = 2.0;
constexpr double entries_a_coordinate_in_a_part = 16.0;
constexpr double least_entries = 1 << 17;

}  // namespace

std::size_t DualAscent::blocks_for(std::span<const std::uint32_t> order) const {
  if (conduct_.ascent.blocks > 0) return conduct_.ascent.blocks;
  const double enough = std::max(2 * entries_a_coordinate * static_cast<double>(induced_.size()), least_entries);
  return ridge() && entries_in(order) >= enough ? 2 : 1;
}

kernel::SweepReport DualAscent::sweep_rows(std::span<const std::uint32_t> order) {
  const std::size_t blocks = std::min(blocks_for(order), std::max<std::size_t>(order.size(), 1));
  if (blocks == 1) {
    kernel::SweepState state = state_of(order);
    const kernel::SweepReport report = run(state, induced_);
    b_ = state.b;
    return report;
  }
  const double part =
      std::max(entries_a_coordinate_in_a_part * static_cast<double>(blocks * induced_.size()), least_entries);
  const auto parts = std::clamp<std::size_t>(static_cast<std::size_t>(entries_in(order) / part), 1, order.size());
  kernel::SweepReport report;
  for (std::size_t k = 0; k < parts; ++k) {
    const std::size_t begin = k * order.size() / parts, end = (k + 1) * order.size() / parts;
    report.add(sweep_blocks(order.subspan(begin, end - begin), blocks));
  }
  return report;
}

// Blocks share no row: rows drawn independently, some of them twice, are dealt out by their number.
std::vector<std::span<const std::uint32_t>> DualAscent::cut(std::span<const std::uint32_t> order,
                                                            std::size_t blocks) {
  std::vector<std::span<const std::uint32_t>> parts(blocks);
  if (conduct_.ascent.sampling == Sampling::permutation) {
    for (std::size_t k = 0; k < blocks; ++k) {
      const std::size_t begin = k * order.size() / blocks, end = (k + 1) * order.size() / blocks;
      parts[k] = order.subspan(begin, end - begin);
    }
    return parts;
  }
  dealt_.resize(order.size());
  std::size_t end = 0;
  for (std::size_t k = 0; k < blocks; ++k) {
    const std::size_t begin = end;
    for (const std::uint32_t i : order) {
      if (i % blocks == k) dealt_[end++] = i;
    }
    parts[k] = std::span(dealt_).subspan(begin, end - begin);
  }
  return parts;
}

kernel::SweepReport DualAscent::sweep_blocks(std::span<const std::uint32_t> order, std::size_t blocks) {
  copies_.resize(blocks);
  alpha_before_.resize(alpha_.size());
  for (const std::uint32_t i : order) alpha_before_[i] = alpha_[i];
  std::vector<kernel::SweepState> states(blocks, state_of({}));
  std::vector<kernel::SweepReport> reports(blocks);
  const std::vector<std::span<const std::uint32_t>> parts = cut(order, blocks);
  parallel_for(blocks, [&](std::size_t k) {
    copies_[k] = induced_;
    states[k].order = parts[k];
    states[k].caution = sigma_;
    states[k].rule.largest_curvature *= sigma_;
    reports[k] = run(states[k], copies_[k]);
  });
  merge(order, states);
  kernel::SweepReport total;
  for (const kernel::SweepReport& report : reports) total.add(report);
  return total;
}

// Adds the blocks' changes; see the top of the header.
void DualAscent::merge(std::span<const std::uint32_t> order, std::span<const kernel::SweepState> states) {
  const std::size_t blocks = states.size();
  const double share = 1.0 / states.front().caution;
  BlockNorms norms = add_changes(induced_, blocks, problem_.penalty.base().l2 + kappa_, share,
                                 [&](std::size_t k) { return std::span<double>(copies_[k]); });
  double moved = 0.0;
  if (bias_step_ > 0.0) {
    moved = norms.measure(1.0 / bias_step_, blocks, [&](std::size_t k) { return states[k].b - b_; });
  }
  const double nu = ridge() ? norms.step(blocks, sigma_) : 1.0;
  std::swap(induced_, copies_.front());
  take_back(induced_, copies_.front(), nu);
  b_ += nu * share * moved;
  if (nu == 1.0) return;
  for (const std::uint32_t i : order) {
    const double change = alpha_[i] - alpha_before_[i];
    if (change == 0.0) continue;
    alpha_before_[i] = alpha_[i] = alpha_before_[i] + nu * change;  // both: a row may be in the order twice
  }
}

}  // namespace fenchel::solver
