#include "fenchel/projection/box_hyperplane.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fenchel/base/error.hpp"
#include "fenchel/projection/piecewise_root.hpp"

namespace fenchel::projection {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

// The set with what is not given known when the loops are compiled.
template <bool weighted, bool bounded, bool directed>
struct BoxView {
  const double* m;
  const double* d2;
  const double* l;
  const double* u;
  const double* s;

  [[nodiscard, gnu::always_inline]] double direction(std::size_t i) const { return directed ? s[i] : 1.0; }
  [[nodiscard, gnu::always_inline]] double low(std::size_t i) const { return bounded ? l[i] : 0.0; }
  [[nodiscard, gnu::always_inline]] double high(std::size_t i) const { return bounded ? u[i] : 1.0; }
  // s_i / d2_i
  [[nodiscard, gnu::always_inline]] double reach(std::size_t i) const {
    return weighted ? direction(i) / d2[i] : direction(i);
  }
  // The range of s_i a_i; a direction without extent has none, even where the box is infinite.
  [[nodiscard, gnu::always_inline]] Piece range(std::size_t i) const {
    const double t = direction(i);
    if constexpr (!directed) return {0.0, 0.0, low(i), high(i)};
    if constexpr (!bounded) return {0.0, 0.0, std::min(t, 0.0), std::max(t, 0.0)};
    const double at_low = t * low(i), at_high = t * high(i);
    const double lo = std::min(at_low, at_high), hi = std::max(at_low, at_high);
    return {0.0, 0.0, t == 0.0 ? 0.0 : lo, t == 0.0 ? 0.0 : hi};
  }
  [[nodiscard, gnu::always_inline]] Piece operator()(std::size_t i) const {
    Piece piece = range(i);
    piece.c = direction(i) * m[i];
    piece.g = direction(i) * reach(i);
    return piece;
  }
  [[nodiscard, gnu::always_inline]] double clipped(std::size_t i, double a) const {
    return std::min(std::max(a, low(i)), high(i));
  }
  // 0 where the numbers make sense, anything else (a NaN too) where not.
  [[nodiscard, gnu::always_inline]] double nonsense(std::size_t i) const {
    double sum = m[i] - m[i];
    if constexpr (directed) sum += s[i] - s[i];
    if constexpr (weighted) sum += (d2[i] > 0.0 ? 0.0 : 1.0) + (d2[i] - d2[i]);
    if constexpr (bounded) sum += u[i] - l[i] >= 0.0 ? 0.0 : 1.0;  // NaN where both are the same infinity
    return sum;
  }
};

template <class View>
[[noreturn]] void refuse_entry(const View& view, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    if (view.nonsense(i) == 0.0) continue;
    throw Error(Fault::usage,
                fmt::format("projection onto a box and a hyperplane: entry {} is not a finite centre and normal, a "
                            "positive finite weight, and bounds with low <= high",
                            i));
  }
  throw Error(Fault::usage, "projection onto a box and a hyperplane: numbers too large to add");
}

// What the sum of s_i a_i can be.
struct Reach {
  double low = 0.0, high = 0.0;
  double scale = 0.0;  // of the finite ends
};

template <class View>
Reach reach_of(const View& view, std::size_t size) {
  struct Sums {
    CompensatedSum low, high, scale;
    double nonsense = 0.0;
    void add(const Sums& other) {
      low.add(other.low.total());
      high.add(other.high.total());
      scale.add(other.scale.total());
      nonsense += other.nonsense;
    }
  };
  std::vector<Sums> partial((size + rows_in_block - 1) / rows_in_block);
  for_each_block(size, [&](std::size_t begin, std::size_t end) {
    detail::Column low, high, scale, nonsense;
    Sums& sums = partial[begin / rows_in_block];
    detail::for_each_chunk(begin, end, [&](std::size_t start, std::size_t count) {
      for (std::size_t k = 0; k < count; ++k) {
        const Piece range = view.range(start + k);
        low[k] = range.lo;
        high[k] = range.hi;
        nonsense[k] = view.nonsense(start + k);
      }
      for (std::size_t k = 0; k < count; ++k) {
        const double at_low = std::fabs(low[k]), at_high = std::fabs(high[k]);
        scale[k] = (at_low < unbounded ? at_low : 0.0) + (at_high < unbounded ? at_high : 0.0);
      }
      sums.low.add(detail::column_sum(low, count));
      sums.high.add(detail::column_sum(high, count));
      sums.scale.add(detail::column_sum(scale, count));
      sums.nonsense += detail::column_sum(nonsense, count);
    });
  });
  Sums all;
  for (const Sums& block : partial) all.add(block);
  if (!(all.nonsense == 0.0)) refuse_entry(view, size);
  return {all.low.total(), all.high.total(), all.scale.total()};
}

// The end of the box where the sum is least or largest, and the nearest multiplier that leads there.
template <class View>
double take_corner(const View& view, bool upper, std::span<double> result) {
  double farthest = 0.0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Piece piece = view(i);
    const bool at_high = view.direction(i) > 0.0 ? upper : !upper;
    result[i] = view.direction(i) == 0.0 ? view.clipped(i, view.m[i]) : at_high ? view.high(i) : view.low(i);
    if (piece.g == 0.0) continue;
    const double kink = ((upper ? piece.hi : piece.lo) - piece.c) / piece.g;
    farthest = upper ? std::max(farthest, kink) : std::min(farthest, kink);
  }
  return farthest;
}

struct Missing {
  double sum = 0.0;        // level - sum_i s_i a_i
  double slope = 0.0;      // of the sum as a function of Lambda
  double magnitude = 0.0;  // |level| + sum_i |s_i a_i|
};

// result_i = entry(i); entries strictly between their bounds count for the slope.
template <class View, class Entry>
Missing write_entries(const View& view, double level, std::span<double> result, const Entry& entry) {
  struct Block {
    CompensatedSum sum;
    double slope = 0.0, magnitude = 0.0;
  };
  std::vector<Block> blocks((result.size() + rows_in_block - 1) / rows_in_block);
  for_each_block(result.size(), [&](std::size_t begin, std::size_t end) {
    Block& block = blocks[begin / rows_in_block];
    detail::Column term, slope, magnitude;
    detail::for_each_chunk(begin, end, [&](std::size_t start, std::size_t count) {
      double* const to = result.data() + start;
      for (std::size_t k = 0; k < count; ++k) to[k] = entry(start + k);
      for (std::size_t k = 0; k < count; ++k) {
        const double a = to[k], s = view.direction(start + k);
        term[k] = s * a;
        magnitude[k] = std::fabs(term[k]);
        const double room = std::min(a - view.low(start + k), view.high(start + k) - a);
        slope[k] = (room > 0.0 ? 1.0 : 0.0) * (s * view.reach(start + k));
      }
      block.sum.add(detail::exact_column_sum(term, count));
      block.magnitude += detail::column_sum(magnitude, count);
      block.slope += detail::column_sum(slope, count);
    });
  });
  CompensatedSum sum;
  Missing missing{.sum = 0.0, .slope = 0.0, .magnitude = std::fabs(level)};
  sum.add(level);
  for (const Block& block : blocks) {
    sum.subtract(block.sum);
    missing.slope += block.slope;
    missing.magnitude += block.magnitude;
  }
  missing.sum = sum.total();
  return missing;
}

// Where the centres are so large that an entry crosses its whole range within the rounding of lambda, no slope is left:
// such entries take what is missing one after the other, each within its own rounding.
template <class View>
void spend(const View& view, double missing, double lambda, std::span<double> result) {
  for (std::size_t i = 0; i < result.size() && missing != 0.0; ++i) {
    const double s = view.direction(i), step = view.reach(i) * lambda;
    if (s == 0.0) continue;
    const double doubt = 4 * unit_roundoff * (std::fabs(view.m[i]) + std::fabs(step));
    const double free = view.m[i] + step;
    const double wanted = std::clamp(result[i] + missing / s, free - doubt, free + doubt);
    const double a = view.clipped(i, wanted);
    missing -= s * (a - result[i]);
    result[i] = a;
  }
}

template <class View>
double project(const View& view, double level, std::span<double> result) {
  const Reach reach = reach_of(view, result.size());
  const double tolerance = 1e-12 * (reach.scale + std::fabs(level));
  if (!(level >= reach.low - tolerance && level <= reach.high + tolerance)) {
    throw Error(
        Fault::usage,
        fmt::format(
            "projection onto a box and a hyperplane: no point of the box has the sum {}; it can be from {} to {}",
            level, reach.low, reach.high));
  }
  if (level <= reach.low) return take_corner(view, false, result);
  if (level >= reach.high) return take_corner(view, true, result);

  double lambda = piecewise_root(view, result.size(), level);
  Missing missing = write_entries(
      view, level, result, [&, lambda ](std::size_t i) __attribute__((always_inline)) {
        return view.clipped(i, view.m[i] + view.reach(i) * lambda);
      });
  // Free entries carry what rounding left over, in digits that lambda may not have.
  constexpr int most_corrections = 3;
  for (int k = 0; k < most_corrections; ++k) {
    if (std::fabs(missing.sum) <= 8 * unit_roundoff * missing.magnitude) break;
    if (missing.slope == 0.0) {
      spend(view, missing.sum, lambda, result);
      break;
    }
    const double shift = missing.sum / missing.slope;
    lambda += shift;
    missing = write_entries(
        view, level, result, [&, shift ](std::size_t i) __attribute__((always_inline)) {
          const double a = result[i];
          const bool free = (a > view.low(i)) & (a < view.high(i));
          return free ? view.clipped(i, a + view.reach(i) * shift) : a;
        });
  }
  return lambda;
}

// Empty or one entry a centre.
void check_size(std::span<const double> list, std::size_t size, const char* name) {
  if (list.empty() || list.size() == size) return;
  throw Error(Fault::usage, fmt::format("projection onto a box and a hyperplane: {} has {} entries, the centre {}",
                                        name, list.size(), size));
}

}  // namespace

double project_box_hyperplane(const BoxHyperplane& set, std::span<double> result) {
  const std::size_t size = set.centre.size();
  check_size(set.weight, size, "the weight");
  check_size(set.low, size, "the lower bound");
  check_size(set.high, size, "the upper bound");
  check_size(set.normal, size, "the normal");
  if (result.size() != size)
    throw Error(Fault::usage, "projection onto a box and a hyperplane: the result has another size");
  if (result.data() == set.centre.data() && size > 0)
    throw Error(Fault::usage, "projection onto a box and a hyperplane: the result lies where the centre is");
  if (!std::isfinite(set.level))
    throw Error(Fault::usage, "projection onto a box and a hyperplane: the level is not finite");

  std::vector<double> constant;  // of the bound that is not given where the other one is
  std::span<const double> low = set.low, high = set.high;
  if (low.empty() != high.empty()) {
    constant.assign(size, low.empty() ? 0.0 : 1.0);
    (low.empty() ? low : high) = constant;
  }
  const auto run = [&]<bool weighted, bool bounded, bool directed>() {
    const BoxView<weighted, bounded, directed> view{set.centre.data(), set.weight.data(), low.data(), high.data(),
                                                    set.normal.data()};
    return project(view, set.level, result);
  };
  const bool directed = !set.normal.empty();
  const auto with_weight = [&]<bool weighted>() {
    if (low.empty())
      return directed ? run.template operator()<weighted, false, true>()
                      : run.template operator()<weighted, false, false>();
    return directed ? run.template operator()<weighted, true, true>()
                    : run.template operator()<weighted, true, false>();
  };
  return set.weight.empty() ? with_weight.template operator()<false>() : with_weight.template operator()<true>();
}

}  // namespace fenchel::projection
