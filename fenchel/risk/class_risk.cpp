#include "fenchel/risk/class_risk.hpp"

#include <utility>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::risk {

ClassRisk::ClassRisk(const data::Design& design, const ClassSample& sample, const loss::AnyVector& loss,
                     bool free_bias)
    : map_(design, sample.classes),
      sample_(sample),
      loss_(loss),
      used_(loss),
      free_bias_(free_bias),
      beta_(design.rows() * sample.classes),
      scaled_(design.rows() * sample.classes) {}

void ClassRisk::smooth(double mu) {
  if (!(mu > 0.0)) throw Error(Fault::usage, "the level of smoothing has to be positive");
  if (!std::holds_alternative<loss::MulticlassHinge>(loss_)) {
    throw Error(Fault::usage, "of the losses of all classes, only multiclass-hinge has corners to smooth");
  }
  used_ = loss::SmoothMulticlassHinge{mu};
  mu_ = mu;
}

void ClassRisk::locate(std::span<const double> w, std::vector<double> bias_hint, State& state) const {
  margins(w, state.z);
  state.b = std::move(bias_hint);
  settle(state);
}

void ClassRisk::margins(std::span<const double> w, std::vector<double>& z) const {
  z.resize(map_.rows() * map_.classes());
  map_.margins(w, z);
}

void ClassRisk::settle(State& state) const {
  if (!free_bias_) {
    state.b.clear();
    return;
  }
  state.b.resize(sample_.classes, 0.0);
  // Newton's last step is far better than its promise; a risk is asked for many times, and each costs several passes.
  constexpr double precision = 1e-11;
  state.b = best_biases(used_, sample_, state.z, std::move(state.b), precision);
}

void ClassRisk::extrapolate(const State& a, const State& b, double t, State& result) const {
  result.z.resize(a.z.size());
  for_each_block(a.z.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) result.z[e] = a.z[e] + t * (b.z[e] - a.z[e]);
  });
  result.b.resize(a.b.size());
  for (std::size_t l = 0; l < a.b.size(); ++l) result.b[l] = a.b[l] + t * (b.b[l] - a.b[l]);
  settle(result);
}

double ClassRisk::value(const State& state) const { return mean_loss(used_, sample_, state.z, state.b); }

double ClassRisk::unsmoothed_value(const State& state) const { return mean_loss(loss_, sample_, state.z, state.b); }

double ClassRisk::gradient(const State& state, std::span<double> gradient) {
  const std::size_t k = sample_.classes;
  std::visit(
      [&](const auto& l) {
        for_each_block(sample_.targets.size(), [&](std::size_t begin, std::size_t end) {
          std::vector<double> a(k);
          for (std::size_t i = begin; i < end; ++i) {
            const std::size_t y = sample_.targets[i];
            const std::span<double> beta = std::span(beta_).subspan(i * k, k);
            margins_of(std::span(state.z).subspan(i * k, k), state.b, y, a);
            l.dual(y, a, beta);
            beta[y] = 0.0;
            const double share = sample_.weight(i) / sample_.weight_sum;
            double sum = 0.0;
            for (std::size_t j = 0; j < k; ++j) {
              scaled_[i * k + j] = share * beta[j];
              sum += beta[j];
            }
            scaled_[i * k + y] = -share * sum;
          }
        });
      },
      used_);
  map_.adjoint(scaled_, gradient);
  return value(state);
}

}  // namespace fenchel::risk
