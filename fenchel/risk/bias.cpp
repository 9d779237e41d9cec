#include <algorithm>
#include <cmath>
#include <vector>

#include "fenchel/base/line_slope.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/risk/pointwise.hpp"

namespace fenchel::risk {
namespace {

// Derivative and curvature of b -> sum_i c_i phi(y_i, z_i + b).
struct Slope {
  CompensatedSum first;
  CompensatedSum second;
  void add(const Slope& other) {
    first.add(other.first);
    second.add(other.second);
  }
};

template <class L>
LineSlope slope_at(const L& loss, const Sample& sample, std::span<const double> z, double b) {
  const auto sums = block_sum<Slope>(z.size(), [&](std::size_t i, Slope& sum) {
    const double c = sample.weight(i);
    if (c == 0.0) return;
    sum.first.add(c * loss.derivative(sample.targets[i], z[i] + b));
    if constexpr (loss::CurvedLoss<L>) sum.second.add(c * loss.second_derivative(sample.targets[i], z[i] + b));
  });
  return {.first = sums.first.total(), .second = sums.second.total()};
}

// The curvature of phi_mu where alpha is its dual variable. phi_mu(z) = min_v phi(v) + (v - z)^2 / (2 mu) at v = z + mu alpha
// bends like phi at v and the square in series; a piecewise linear phi bends infinitely at its kinks, where alpha is
// strictly between slopes.
template <class L>
double smoothed_curvature(const L& loss, double y, double z, double mu, double alpha) {
  if constexpr (loss::CurvedLoss<L>) {
    const double h = loss.second_derivative(y, z + mu * alpha);
    return h / (1.0 + mu * h);
  } else {
    const Interval domain = loss.dual_domain(y);
    const bool at_kink = alpha > domain.low && alpha < domain.high && alpha != 0.0;
    return at_kink ? 1.0 / mu : 0.0;
  }
}

template <class L>
LineSlope smoothed_slope_at(const L& loss, const Sample& sample, std::span<const double> z, const Levels& levels,
                            double b) {
  return block_sum<LineSlope>(z.size(), [&](std::size_t i, LineSlope& sum) {
    const double c = sample.weight(i);
    if (c == 0.0) return;
    const double y = sample.targets[i];
    const double mu = levels[i];
    const double alpha = loss.dual_step(y, 0.0, z[i] + b, mu);
    sum.first -= c * alpha;
    sum.second += c * smoothed_curvature(loss, y, z[i] + b, mu, alpha);
  });
}

// Safeguarded Newton on a non-decreasing function: the bracket [low, high] always holds the root once both ends are
// known; a Newton step outside it, or where there is no curvature, becomes a doubling or a bisection. A derivative of at most
// `rounding` is zero.
template <class SlopeAt>
double search_root(SlopeAt&& slope_at_bias, double rounding, double start) {
  constexpr int most_steps = 200;
  double low = -infinity, high = infinity, b = start;
  double reach = 1.0 + std::fabs(start) * 0x1p-10;
  double last_step = infinity;
  for (int k = 0; k < most_steps; ++k) {
    const LineSlope slope = slope_at_bias(b);
    const double g = slope.first;
    if (!std::isfinite(g) || std::fabs(g) <= rounding) return b;
    (g > 0.0 ? high : low) = b;
    double next = b - g / slope.second;
    const bool inside = std::isfinite(next) && next > low && next < high;
    if (!inside || 2 * std::fabs(next - b) > last_step) {
      if (std::isfinite(low) && std::isfinite(high)) {
        next = low + (high - low) / 2;
      } else {
        next = g > 0.0 ? b - reach : b + reach;
        reach *= 4;
      }
    }
    last_step = std::fabs(next - b);
    if (next == b || last_step <= 2 * unit_roundoff * std::fabs(b)) return next;
    b = next;
  }
  return b;
}

// A piecewise linear function of b, by the places where its slope jumps and its slope left of all of them.
struct Kink {
  double at;
  double jump;
};
struct Kinks {
  std::vector<Kink> list;
  CompensatedSum leftmost;
  CompensatedSum total;

  void add(double at, double jump) {
    list.push_back({at, jump});
    total.add(jump);
  }
};

void add_kinks(const loss::Hinge& /*loss*/, double y, double z, double c, Kinks& kinks) {
  kinks.add(y - z, c);
  if (y > 0.0) kinks.leftmost.add(-c);
}
void add_kinks(const loss::Absolute& /*loss*/, double y, double z, double c, Kinks& kinks) {
  kinks.add(y - z, 2 * c);
  kinks.leftmost.add(-c);
}
void add_kinks(const loss::Quantile& loss, double y, double z, double c, Kinks& kinks) {
  kinks.add(y - z, c);
  kinks.leftmost.add(-c * loss.tau);
}
void add_kinks(const loss::EpsilonInsensitive& loss, double y, double z, double c, Kinks& kinks) {
  kinks.add(y - z - loss.epsilon, c);
  kinks.add(y - z + loss.epsilon, c);
  kinks.leftmost.add(-c);
}

template <class L>
concept PiecewiseLinear = requires(const L& loss, Kinks& kinks) {
  add_kinks(loss, 1.0, 0.0, 1.0, kinks);
};

// Where the function is least: selection by halves, in time linear in the number of kinks. Slopes that are zero but for
// the rounding of their sums count as zero.
Interval flat_part(Kinks& kinks) {
  std::vector<Kink>& list = kinks.list;
  const double rounding = 8 * unit_roundoff * kinks.total.total();
  const auto before = [](const Kink& a, const Kink& b) { return a.at < b.at; };
  const auto least = [&](auto begin) {
    return begin == list.end() ? infinity : std::min_element(begin, list.end(), before)->at;
  };
  if (kinks.leftmost.total() >= -rounding) return {-infinity, least(list.begin())};
  auto begin = list.begin();
  auto end = list.end();
  CompensatedSum slope = kinks.leftmost;  // right of all kinks that are known to lie left
  while (end - begin > 1) {
    const auto middle = begin + (end - begin - 1) / 2;
    std::nth_element(begin, middle, end, before);
    CompensatedSum beyond = slope;
    for (auto kink = begin; kink != middle + 1; ++kink) beyond.add(kink->jump);
    if (beyond.total() >= -rounding) {
      end = middle + 1;
    } else {
      slope = beyond;
      begin = middle + 1;
    }
  }
  slope.add(begin->jump);
  return {begin->at, slope.total() <= rounding ? least(begin + 1) : begin->at};
}

// Inside where there is room: at an end, rounding would leave rows on either side of their kink.
double choose_inside(const Interval& flat, double start) {
  if (start > flat.low && start < flat.high) return start;
  if (std::isfinite(flat.low) && std::isfinite(flat.high)) return flat.low + (flat.high - flat.low) / 2;
  const double step = 0x1p-10;
  if (std::isfinite(flat.low)) return flat.low + step * (1.0 + std::fabs(flat.low));
  if (std::isfinite(flat.high)) return flat.high - step * (1.0 + std::fabs(flat.high));
  return start;
}

template <PiecewiseLinear L>
double select_bias(const L& loss, const Sample& sample, std::span<const double> z, double start) {
  Kinks kinks;
  kinks.list.reserve(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double c = sample.weight(i);
    if (c == 0.0) continue;
    if (!std::isfinite(z[i])) return start;
    add_kinks(loss, sample.targets[i], z[i], c, kinks);
  }
  return choose_inside(flat_part(kinks), start);
}

}  // namespace

double best_bias(const loss::Any& loss, const Sample& sample, std::span<const double> z, double start) {
  return std::visit(
      [&]<class L>(const L& l) {
        if constexpr (PiecewiseLinear<L>) {
          return select_bias(l, sample, z, start);
        } else {
          return search_root([&](double b) { return slope_at(l, sample, z, b); },
                             4 * unit_roundoff * sample.weight_sum, start);
        }
      },
      loss);
}

double best_smoothed_bias(const loss::Any& loss, const Sample& sample, std::span<const double> z,
                          const Levels& levels, double start) {
  return std::visit(
      [&](const auto& l) {
        return search_root([&](double b) { return smoothed_slope_at(l, sample, z, levels, b); },
                           64 * unit_roundoff * sample.weight_sum, start);
      },
      loss);
}

}  // namespace fenchel::risk
