#include "fenchel/risk/pointwise.hpp"

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::risk {
namespace {

// phi_mu(z) = min over v of phi(v) + (v - z)^2 / (2 mu), at v = z + mu alpha: two terms that are not negative.
template <class L>
double envelope(const L& loss, double y, double z, double mu, double alpha) {
  return loss.value(y, z + mu * alpha) + 0.5 * mu * alpha * alpha;
}

}  // namespace

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
  } else if (levels_.mu > 0.0) {
    state.b = best_smoothed_bias(loss_, sample_, state.z, levels_, state.b);
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

void Pointwise::smooth(const Levels& levels) {
  if (!(levels.mu > 0.0)) throw Error(Fault::usage, "the level of smoothing has to be positive");
  levels_ = levels;
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

double Pointwise::value(const State& state) const {
  if (levels_.mu == 0.0) return unsmoothed_value(state);
  return std::visit(
      [&](const auto& l) {
        const auto sum = block_sum<CompensatedSum>(state.z.size(), [&](std::size_t i, CompensatedSum& s) {
          const double c = sample_.weight(i);
          if (c == 0.0) return;
          const double z = state.z[i] + state.b;
          const double alpha = l.dual_step(sample_.targets[i], 0.0, z, levels_[i]);
          s.add(c * envelope(l, sample_.targets[i], z, levels_[i], alpha));
        });
        return sum.total() / sample_.weight_sum;
      },
      loss_);
}

double Pointwise::gradient(const State& state, std::span<double> gradient) {
  const double value = std::visit(
      [&](const auto& l) {
        const auto sum = block_sum<CompensatedSum>(state.z.size(), [&](std::size_t i, CompensatedSum& s) {
          const double c = sample_.weight(i);
          const double y = sample_.targets[i];
          const double z = state.z[i] + state.b;
          set_dual(l, i, z);
          if (c != 0.0) s.add(c * (levels_.mu > 0.0 ? envelope(l, y, z, levels_[i], alpha_[i]) : l.value(y, z)));
        });
        return sum.total() / sample_.weight_sum;
      },
      loss_);
  map_.adjoint(scaled_, gradient);
  return value;
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
  const auto fill = [&](std::size_t begin, std::size_t end) {
    std::visit(
        [&](const auto& l) {
          for (std::size_t i = begin; i < end; ++i) set_dual(l, i, state.z[i]);
        },
        loss_);
  };
  return map_.margins_and_adjoint(w, state.z, fill, scaled_, gradient);
}

}  // namespace fenchel::risk
