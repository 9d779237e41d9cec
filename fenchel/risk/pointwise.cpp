#include "fenchel/risk/pointwise.hpp"

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::risk {
Pointwise::Pointwise(const data::Design& design, const Sample& sample, const loss::Any& loss, bool free_bias)
    : map_(design),
      sample_(sample),
      loss_(loss),
      free_bias_(free_bias),
      alpha_(design.rows()),
      scaled_(design.rows()) {}

void Pointwise::locate(std::span<const double> w, double bias_hint, State& state) const {
  margins(w, state.z);
  state.b = bias_hint;
  settle(state);
}

void Pointwise::margins(std::span<const double> w, std::vector<double>& z) const {
  z.resize(map_.rows());
  map_.margins(w, z);
}

void Pointwise::settle(State& state) const {
  if (!free_bias_) {
    state.b = 0.0;
  } else if (mu_ > 0.0) {
    state.b = best_smoothed_bias(loss_, sample_, state.z, mu_, state.b);
  } else {
    state.b = best_bias(loss_, sample_, state.z, state.b);
  }
}

void Pointwise::extrapolate(const State& a, const State& b, double t, State& result) const {
  result.z.resize(a.z.size());
  for_each_block(a.z.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) result.z[i] = a.z[i] + t * (b.z[i] - a.z[i]);
  });
  result.b = a.b + t * (b.b - a.b);
  settle(result);
}

void Pointwise::smooth(double mu) {
  if (!(mu > 0.0)) throw Error(Fault::usage, "the level of smoothing has to be positive");
  mu_ = mu;
}

double Pointwise::unsmoothed_value(const State& state) const {
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

// phi_mu(z) = max over t of -phi*(-t) - z t - (mu/2) t^2: what Fenchel-Young leaves of phi at the maximiser, less its square.
double Pointwise::value(const State& state) const {
  if (mu_ == 0.0) return unsmoothed_value(state);
  return std::visit(
      [&](const auto& l) {
        const auto sum = block_sum<CompensatedSum>(state.z.size(), [&](std::size_t i, CompensatedSum& s) {
          const double c = sample_.weight(i);
          if (c == 0.0) return;
          const double y = sample_.targets[i];
          const double z = state.z[i] + state.b;
          const double t = l.dual_step(y, 0.0, z, mu_);
          s.add(c * (l.value(y, z) - l.fenchel_young(y, z, t) - 0.5 * mu_ * t * t));
        });
        return sum.total() / sample_.weight_sum;
      },
      loss_);
}

void Pointwise::gradient(const State& state, std::span<double> gradient) {
  std::visit(
      [&](const auto& l) {
        for_each_block(state.z.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const double z = state.z[i] + state.b;
            const double y = sample_.targets[i];
            alpha_[i] = mu_ > 0.0 ? l.dual_step(y, 0.0, z, mu_) : -l.derivative(y, z);
            scaled_[i] = sample_.weight(i) / sample_.weight_sum * -alpha_[i];
          }
        });
      },
      loss_);
  map_.adjoint(scaled_, gradient);
}

}  // namespace fenchel::risk
