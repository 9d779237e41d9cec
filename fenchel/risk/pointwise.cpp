#include "fenchel/risk/pointwise.hpp"

#include <cmath>

#include "fenchel/base/sum.hpp"

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
Slope slope_at(const L& loss, const Sample& sample, std::span<const double> z, double b) {
  return block_sum<Slope>(z.size(), [&](std::size_t i, Slope& sum) {
    const double c = sample.weight(i);
    if (c == 0.0) return;
    sum.first.add(c * loss.derivative(sample.targets[i], z[i] + b));
    if constexpr (loss::CurvedLoss<L>) sum.second.add(c * loss.second_derivative(sample.targets[i], z[i] + b));
  });
}

// Safeguarded Newton on a non-decreasing function: the bracket [low, high] always holds the root once both ends are
// known; a Newton step outside it, or where there is no curvature, becomes a doubling or a bisection.
template <class L>
double search_bias(const L& loss, const Sample& sample, std::span<const double> z, double start) {
  constexpr int most_steps = 200;
  double low = -infinity, high = infinity, b = start;
  double reach = 1.0 + std::fabs(start) * 0x1p-10;
  double last_step = infinity;
  for (int k = 0; k < most_steps; ++k) {
    const Slope slope = slope_at(loss, sample, z, b);
    const double g = slope.first.total();
    if (!std::isfinite(g) || std::fabs(g) <= 4 * unit_roundoff * sample.weight_sum) return b;
    (g > 0.0 ? high : low) = b;
    double next = b - g / slope.second.total();
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

}  // namespace

double best_bias(const loss::Any& loss, const Sample& sample, std::span<const double> z, double start) {
  return std::visit([&](const auto& l) { return search_bias(l, sample, z, start); }, loss);
}

Pointwise::Pointwise(const data::Design& design, const Sample& sample, const loss::Any& loss, bool free_bias)
    : map_(design),
      sample_(sample),
      loss_(loss),
      free_bias_(free_bias),
      alpha_(design.rows()),
      scaled_(design.rows()) {}

void Pointwise::locate(std::span<const double> w, double bias_hint, State& state) const {
  state.z.resize(map_.rows());
  map_.margins(w, state.z);
  state.b = free_bias_ ? best_bias(loss_, sample_, state.z, bias_hint) : 0.0;
}

void Pointwise::extrapolate(const State& a, const State& b, double t, State& result) const {
  result.z.resize(a.z.size());
  for_each_block(a.z.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) result.z[i] = a.z[i] + t * (b.z[i] - a.z[i]);
  });
  result.b = free_bias_ ? best_bias(loss_, sample_, result.z, a.b + t * (b.b - a.b)) : 0.0;
}

double Pointwise::value(const State& state) const {
  return std::visit(
      [&](const auto& l) {
        const auto sum = block_sum<CompensatedSum>(state.z.size(), [&](std::size_t i, CompensatedSum& s) {
          const double c = sample_.weight(i);
          if (c != 0.0) s.add(c * l.value(sample_.targets[i], state.z[i] + state.b));
        });
        return sum.total() / sample_.weight_sum;
      },
      loss_);
}

void Pointwise::fill_dual(const State& state, std::size_t begin, std::size_t end) {
  std::visit(
      [&](const auto& l) {
        for (std::size_t i = begin; i < end; ++i) {
          const double slope = l.derivative(sample_.targets[i], state.z[i] + state.b);
          alpha_[i] = -slope;
          scaled_[i] = sample_.weight(i) / sample_.weight_sum * slope;
        }
      },
      loss_);
}

void Pointwise::gradient(const State& state, std::span<double> gradient) {
  for_each_block(state.z.size(), [&](std::size_t begin, std::size_t end) { fill_dual(state, begin, end); });
  map_.adjoint(scaled_, gradient);
}

double Pointwise::locate_with_gradient(std::span<const double> w, double bias_hint, State& state,
                                       std::span<double> gradient) {
  if (free_bias_) {
    locate(w, bias_hint, state);
    this->gradient(state, gradient);
    return 2.0;
  }
  state.z.resize(map_.rows());
  state.b = 0.0;
  return map_.margins_and_adjoint(
      w, state.z, [&](std::size_t begin, std::size_t end) { fill_dual(state, begin, end); }, scaled_, gradient);
}

}  // namespace fenchel::risk
