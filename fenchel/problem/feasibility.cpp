#include "fenchel/problem/feasibility.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "fenchel/base/sum.hpp"

namespace fenchel::problem {
namespace {

__extension__ using Int128 = __int128;

double product_toward_zero(double c, double x) {
  if (std::isinf(x)) return x;
  const double product = c * x;
  // Below this the error of the product may itself underflow; 0 is always inside the box.
  if (std::fabs(product) < 0x1p-960) return 0.0;
  const double error = std::fma(c, x, -product);
  const bool too_large = product > 0.0 ? error < 0.0 : error > 0.0;
  return too_large ? std::nextafter(product, 0.0) : product;
}

Interval scaled(Interval domain, double c) {
  if (c == 0.0) return {0.0, 0.0};
  if (c == 1.0) return domain;
  return {product_toward_zero(c, domain.low), product_toward_zero(c, domain.high)};
}

double total(std::span<const double> values) {
  return block_sum<CompensatedSum>(values.size(), [&](std::size_t i, CompensatedSum& s) { s.add(values[i]); })
      .total();
}

// The spacing of a grid that keeps so many bits of the largest entry. Repairs work on 50 bits and checks on 52: a repair
// may carry the largest entry over a power of two, and must still be on the grid of the check.
constexpr int repair_bits = 50;
constexpr int check_bits = 52;
double grid_spacing(std::span<const double> beta, int bits) {
  double largest = 0.0;
  for (const double b : beta) largest = std::max(largest, std::fabs(b));
  return largest == 0.0 ? 0.0 : std::scalbn(1.0, std::max(std::ilogb(largest) - bits, -1022));
}

// The exact sum in grid units, or nothing where an entry is off the grid.
std::optional<Int128> grid_sum(std::span<const double> beta, double spacing) {
  Int128 sum = 0;
  for (const double b : beta) {
    const double units = b / spacing;
    if (std::trunc(units) != units || std::fabs(units) >= 0x1p54) return std::nullopt;
    sum += static_cast<std::int64_t>(units);
  }
  return sum;
}

enum class Repair { active_entries, every_entry };

// Spreads `excess` grid units over the entries, inside their boxes; returns what is left.
Int128 spread(const Problem& problem, std::span<double> beta, double spacing, Int128 excess, Repair repair) {
  const double direction = excess > 0 ? -1.0 : 1.0;
  Int128 left = excess > 0 ? excess : -excess;
  const Int128 share = left / static_cast<Int128>(beta.size()) + 1;
  for (std::size_t i = 0; i < beta.size() && left > 0; ++i) {
    const Interval box = dual_box(problem, i);
    if (repair == Repair::active_entries && dual_room(beta[i], box, problem.sample.weight(i)) == 0.0) continue;
    const double room = direction > 0.0 ? box.high - beta[i] : beta[i] - box.low;
    const double units = std::min({std::floor(room / spacing) - 1.0, static_cast<double>(share), 0x1p50});
    if (!(units >= 1.0)) continue;
    const Int128 moved = std::min(left, static_cast<Int128>(units));
    beta[i] += direction * static_cast<double>(moved) * spacing;
    left -= moved;
  }
  return direction < 0.0 ? left : -left;
}

}  // namespace

Interval dual_box(const Problem& problem, std::size_t i) {
  const Interval domain =
      std::visit([&](const auto& l) { return l.dual_domain(problem.sample.targets[i]); }, problem.loss);
  return scaled(domain, problem.sample.weight(i));
}

double dual_room(double beta, Interval box, double weight) {
  if (beta == 0.0) return 0.0;
  const double room = std::min(beta - box.low, box.high - beta);
  return std::isinf(room) ? weight : std::max(room, 0.0);
}

std::vector<double> weighted_dual(const Problem& problem, std::span<const double> alpha,
                                  std::span<const std::uint32_t> place) {
  std::vector<double> beta(place.empty() ? alpha.size() : place.size());
  for_each_block(beta.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double b = problem.sample.weight(i) * alpha[place.empty() ? i : place[i]];
      beta[i] = std::isfinite(b) ? dual_box(problem, i).clamp(b) : 0.0;
    }
  });
  return beta;
}

bool move_sum(const Problem& problem, std::span<double> beta, double target) {
  const double excess = total(beta) - target;
  if (excess == 0.0) return true;
  const auto room = [&](std::size_t i) {
    return dual_room(beta[i], dual_box(problem, i), problem.sample.weight(i));
  };
  const double all_room =
      block_sum<CompensatedSum>(beta.size(), [&](std::size_t i, CompensatedSum& s) { s.add(room(i)); }).total();
  const bool unbounded = std::visit(
      [](const auto& l) { return std::isinf(l.dual_domain(1.0).low) && std::isinf(l.dual_domain(1.0).high); },
      problem.loss);
  if (all_room > 0.0 && (unbounded || std::fabs(excess) <= all_room)) {
    const double share = excess / all_room;
    for_each_block(beta.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) beta[i] = dual_box(problem, i).clamp(beta[i] - share * room(i));
    });
    return true;
  }
  if (target != 0.0) return false;
  CompensatedSum positive, negative;
  for (const double b : beta) (b > 0.0 ? positive : negative).add(b);
  const bool shrink_positive = excess > 0.0;
  const double ratio =
      shrink_positive ? -negative.total() / positive.total() : -positive.total() / negative.total();
  for (double& b : beta) {
    if ((b > 0.0) == shrink_positive) b *= std::clamp(ratio, 0.0, 1.0);
  }
  return true;
}

void zero_sum(const Problem& problem, std::span<double> beta) {
  if (exactly_feasible(problem, beta)) return;
  move_sum(problem, beta, 0.0);
  const double spacing = grid_spacing(beta, repair_bits);
  if (spacing == 0.0) return;
  // Truncation towards zero keeps every entry inside its box, which contains 0.
  for (double& b : beta) b = std::trunc(b / spacing) * spacing;
  Int128 excess = grid_sum(beta, spacing).value_or(0);
  for (const Repair repair : {Repair::active_entries, Repair::every_entry}) {
    for (int round = 0; round < 8 && excess != 0; ++round) excess = spread(problem, beta, spacing, excess, repair);
  }
  // No room anywhere: the zero vector is feasible for every loss.
  if (!exactly_feasible(problem, beta)) std::fill(beta.begin(), beta.end(), 0.0);
}

bool exactly_feasible(const Problem& problem, std::span<const double> beta) {
  for (std::size_t i = 0; i < beta.size(); ++i) {
    if (!std::isfinite(beta[i]) || !dual_box(problem, i).contains(beta[i])) return false;
  }
  if (!problem.free_bias) return true;
  const double spacing = grid_spacing(beta, check_bits);
  if (spacing == 0.0) return true;
  const std::optional<Int128> sum = grid_sum(beta, spacing);
  return sum && *sum == 0;
}

}  // namespace fenchel::problem
