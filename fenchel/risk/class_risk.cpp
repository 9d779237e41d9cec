#include "fenchel/risk/class_risk.hpp"

#include <algorithm>
#include <cmath>
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
  // A risk is asked for many times, and every step of the search costs about a pass.
  constexpr double precision = 5e-14;
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

ClassRisk::DualQuality ClassRisk::dual_quality(const State& state) const {
  const std::size_t k = sample_.classes;
  const auto add_row = [&](const auto& smoothed, const auto& exact, std::size_t i, ShiftModel& model,
                           std::span<double> scratch) {
    const double share = sample_.weight(i) / sample_.weight_sum;
    if (share == 0.0) return;
    const std::size_t y = sample_.targets[i];
    const std::span<double> a = scratch.first(k), beta = scratch.subspan(k, k);
    margins_of(std::span(state.z).subspan(i * k, k), state.b, y, a);
    smoothed.dual(y, a, beta);
    beta[y] = 0.0;
    double product = 0.0, sum = 0.0;
    for (std::size_t l = 0; l < k; ++l) {
      product += beta[l] * a[l];
      sum += beta[l];
      model.gradient[l] += share * beta[l];
    }
    model.gradient[y] -= share * sum;
    model.value += share * std::max(exact.value(y, a) + exact.conjugate(y, beta) - product, 0.0);
  };
  const ShiftModel total = std::visit(
      [&](const auto& smoothed, const auto& exact) {
        return sum_shift_models(sample_.targets.size(), k,
                                [&](std::size_t i, ShiftModel& model, std::span<double> scratch) {
                                  add_row(smoothed, exact, i, model, scratch);
                                });
      },
      used_, loss_);
  DualQuality quality{.shortfall = total.value};
  for (const double sum : total.gradient) quality.imbalance = std::max(quality.imbalance, std::fabs(sum));
  return quality;
}

double ClassRisk::offset() const {
  const std::size_t k = sample_.classes;
  return std::visit(
      [&](const auto& l) {
        const auto sum = block_sum<CompensatedSum>(sample_.targets.size(), [&](std::size_t i, CompensatedSum& s) {
          const double c = sample_.weight(i);
          if (c != 0.0) s.add(-c * l.conjugate(sample_.targets[i], std::span(beta_).subspan(i * k, k)));
        });
        return sum.total() / sample_.weight_sum;
      },
      loss_);
}

}  // namespace fenchel::risk
