#include "fenchel/problem/circulation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fenchel/base/sum.hpp"

namespace fenchel::problem {
namespace {

__extension__ using Int128 = __int128;

// With the largest weight in [1, 2): checks work in units of 2^-60, which leave room for small weights; repairs in units of
// 2^-52, in which every number up to the largest weight is a double.
constexpr int finest_bits = 60;
constexpr int coarse_bits = 52;

double unit(const MulticlassProblem& problem, int bits) {
  const std::span<const double> weights = problem.sample.weights;
  const double largest = weights.empty() ? 1.0 : *std::max_element(weights.begin(), weights.end());
  return std::scalbn(1.0, std::ilogb(largest) - bits);
}

std::int64_t units_of(double value, double spacing) { return static_cast<std::int64_t>(value / spacing); }

// The largest double that is at most so many units.
double value_of(std::int64_t units, double spacing) {
  auto value = static_cast<double>(units);
  if (value > 0x1p53 && static_cast<std::int64_t>(value) > units) value = std::nextafter(value, 0.0);
  return value * spacing;
}

void fit_row(std::span<double> row, double weight, double spacing) {
  const std::int64_t limit = units_of(weight, spacing);
  const auto truncate = [&](double scale) {
    Int128 sum = 0;
    for (double& b : row) {
      b = value_of(units_of(b * scale, spacing), spacing);
      sum += units_of(b, spacing);
    }
    return sum;
  };
  double total = 0.0;
  for (double& b : row) total += b;
  double scale = total > weight ? weight / total : 1.0;
  for (Int128 sum = truncate(scale); sum > limit; sum = truncate(scale)) scale = 1.0 - 0x1p-50;
}

using Flow = std::vector<Int128>;  // k x k: from the class of a row to the class of an entry

Flow flow_of(const MulticlassProblem& problem, std::span<const double> B, double spacing) {
  const std::size_t k = problem.classes();
  Flow flow(k * k, 0);
  for (std::size_t i = 0; i < problem.rows(); ++i) {
    Int128* const from = flow.data() + problem.sample.targets[i] * k;
    for (std::size_t l = 0; l < k; ++l) from[l] += units_of(B[i * k + l], spacing);
  }
  return flow;
}

// What leaves a class beyond what enters it.
std::vector<Int128> surplus_of(const Flow& flow, std::size_t k) {
  std::vector<Int128> surplus(k, 0);
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t l = 0; l < k; ++l) {
      surplus[j] += flow[j * k + l];
      surplus[l] -= flow[j * k + l];
    }
  }
  return surplus;
}

// The shortest path along positive flow from `source` to a class with a deficit, as the predecessors of its classes; returns
// its end. There is one: every flow decomposes into cycles and paths from surplus to deficit.
std::size_t find_deficit(const Flow& flow, const std::vector<Int128>& surplus, std::size_t source,
                         std::vector<std::size_t>& before) {
  const std::size_t k = surplus.size();
  before.assign(k, k);
  before[source] = source;
  std::vector<std::size_t> queue{source};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::size_t j = queue[head];
    if (surplus[j] < 0) return j;
    for (std::size_t l = 0; l < k; ++l) {
      if (before[l] != k || flow[j * k + l] == 0) continue;
      before[l] = j;
      queue.push_back(l);
    }
  }
  return k;
}

// How much to take off each entry of the flow; the flow becomes the circulation that is left.
Flow excess_over_circulation(Flow& flow, std::size_t k) {
  Flow excess(k * k, 0);
  std::vector<Int128> surplus = surplus_of(flow, k);
  std::vector<std::size_t> before;
  for (std::size_t source = 0; source < k; ++source) {
    while (surplus[source] > 0) {
      const std::size_t end = find_deficit(flow, surplus, source, before);
      if (end == k) return excess;  // cannot be; the check that follows would notice
      Int128 amount = std::min(surplus[source], -surplus[end]);
      for (std::size_t l = end; l != source; l = before[l]) amount = std::min(amount, flow[before[l] * k + l]);
      for (std::size_t l = end; l != source; l = before[l]) {
        flow[before[l] * k + l] -= amount;
        excess[before[l] * k + l] += amount;
      }
      surplus[source] -= amount;
      surplus[end] += amount;
    }
  }
  return excess;
}

// Takes the excess off the rows: from each in proportion, then the units that rounding left from the first that have them.
void take_off(const MulticlassProblem& problem, std::span<double> B, double spacing, const Flow& kept,
              Flow excess) {
  const std::size_t k = problem.classes();
  std::vector<double> ratios(k * k, 0.0);
  for (std::size_t e = 0; e < ratios.size(); ++e) {
    if (excess[e] > 0) ratios[e] = static_cast<double>(excess[e]) / static_cast<double>(excess[e] + kept[e]);
  }
  for (const bool greedy : {false, true}) {
    for (std::size_t i = 0; i < problem.rows(); ++i) {
      const std::size_t first = problem.sample.targets[i] * k;
      for (std::size_t l = 0; l < k; ++l) {
        double& b = B[i * k + l];
        if (excess[first + l] == 0 || b == 0.0) continue;
        const std::int64_t units = units_of(b, spacing);
        const auto share = static_cast<std::int64_t>(static_cast<double>(units) * ratios[first + l]);
        const Int128 taken = std::min<Int128>(greedy ? units : std::min(units, share), excess[first + l]);
        excess[first + l] -= taken;
        b = value_of(units - static_cast<std::int64_t>(taken), spacing);
      }
    }
  }
}

// Tilts the rows so that the flow is nearly a circulation (see the header). That is the best bias of a softmax risk whose
// scores are log p_il.
void tilt(const MulticlassProblem& problem, std::span<double> B) {
  const std::size_t k = problem.classes();
  const auto tilted = [&](std::size_t i, std::span<const double> nu, std::span<double> p) {
    const double c = problem.sample.weight(i);
    const std::size_t y = problem.sample.targets[i];
    double sum = 0.0, mass = 0.0;
    for (std::size_t l = 0; l < k; ++l) sum += p[l] = B[i * k + l] / c;
    if (sum == 0.0) return 0.0;
    p[y] = std::max(0.0, 1.0 - sum);
    for (std::size_t l = 0; l < k; ++l) mass += p[l] = p[l] == 0.0 ? 0.0 : p[l] * std::exp(nu[l] - nu[y]);
    for (std::size_t l = 0; l < k; ++l) p[l] /= mass;
    return mass;
  };
  const auto at = [&](std::span<const double> nu) {
    return risk::sum_shift_models(problem.rows(), k,
                                  [&](std::size_t i, risk::ShiftModel& model, std::span<double> scratch) {
                                    const double share = problem.sample.weight(i) / problem.sample.weight_sum;
                                    if (share == 0.0) return;
                                    const std::span<double> p = scratch.first(k);
                                    const double mass = tilted(i, nu, p);
                                    if (mass == 0.0) return;
                                    const std::size_t y = problem.sample.targets[i];
                                    model.value += share * std::log(mass);
                                    for (std::size_t l = 0; l < k; ++l) model.gradient[l] += share * p[l];
                                    model.gradient[y] -= share;
                                    loss::spread::add(y, p, share, model.curvature);
                                  });
  };
  std::vector<double> nu = risk::minimize_shifts(std::vector<double>(k, 0.0), at);
  // Where there is no solution inside, nu runs away; then the paths have to do most of the work.
  constexpr double most = 5.0;
  const auto [low, high] = std::minmax_element(nu.begin(), nu.end());
  const double spread = *high - *low;
  if (!std::isfinite(spread)) return;
  if (spread > most) {
    for (double& v : nu) v *= most / spread;
  }
  for_each_block(problem.rows(), [&](std::size_t begin, std::size_t end) {
    std::vector<double> p(k);
    for (std::size_t i = begin; i < end; ++i) {
      const double c = problem.sample.weight(i);
      if (c == 0.0 || tilted(i, nu, p) == 0.0) continue;
      p[problem.sample.targets[i]] = 0.0;
      for (std::size_t l = 0; l < k; ++l) B[i * k + l] = c * p[l];
    }
  });
}

}  // namespace

std::vector<double> weighted_duals(const MulticlassProblem& problem, std::span<const double> beta) {
  const std::size_t k = problem.classes();
  const double spacing = unit(problem, finest_bits);
  std::vector<double> B(beta.size());
  for_each_block(problem.rows(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double c = problem.sample.weight(i);
      if (c == 0.0) continue;
      for (std::size_t l = 0; l < k; ++l) {
        const double b = c * beta[i * k + l];
        B[i * k + l] = l != problem.sample.targets[i] && b > 0.0 ? std::min(b, c) : 0.0;
      }
      fit_row(std::span(B).subspan(i * k, k), c, spacing);
    }
  });
  return B;
}

void make_circulation(const MulticlassProblem& problem, std::span<double> B) {
  const std::size_t k = problem.classes();
  if (exactly_feasible(problem, B)) return;
  tilt(problem, B);
  const double spacing = unit(problem, coarse_bits);
  for_each_block(problem.rows(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) fit_row(B.subspan(i * k, k), problem.sample.weight(i), spacing);
  });
  Flow flow = flow_of(problem, B, spacing);
  const Flow excess = excess_over_circulation(flow, k);
  take_off(problem, B, spacing, flow, excess);
  if (!exactly_feasible(problem, B)) std::fill(B.begin(), B.end(), 0.0);  // feasible for every loss
}

bool exactly_feasible(const MulticlassProblem& problem, std::span<const double> B) {
  const std::size_t k = problem.classes();
  const double spacing = unit(problem, finest_bits);
  std::vector<Int128> surplus(k, 0);  // what leaves a class beyond what enters it
  for (std::size_t i = 0; i < problem.rows(); ++i) {
    const double c = problem.sample.weight(i);
    const std::int64_t limit = units_of(c, spacing);
    Int128 sum = 0;
    for (std::size_t l = 0; l < k; ++l) {
      const double b = B[i * k + l];
      if (!(b >= 0.0 && b <= c) || (b != 0.0 && l == problem.sample.targets[i])) return false;
      const std::int64_t units = units_of(b, spacing);
      if (static_cast<double>(units) * spacing != b) return false;  // off the grid
      sum += units;
      surplus[l] -= units;
    }
    surplus[problem.sample.targets[i]] += sum;
    if (sum > limit) return false;
  }
  if (!problem.free_bias) return true;
  return std::all_of(surplus.begin(), surplus.end(), [](Int128 s) { return s == 0; });
}

}  // namespace fenchel::problem
