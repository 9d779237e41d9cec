#include "fenchel/risk/class_bias.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "fenchel/base/dense.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::risk {
namespace {

template <class L>
ShiftModel risk_at(const L& loss, const ClassSample& sample, std::span<const double> z, std::span<const double> b) {
  const std::size_t k = sample.classes;
  return sum_shift_models(sample.targets.size(), k,
                          [&](std::size_t i, ShiftModel& model, std::span<double> scratch) {
                            const double share = sample.weight(i) / sample.weight_sum;
                            if (share == 0.0) return;
                            const std::size_t y = sample.targets[i];
                            const std::span<double> a = scratch.first(k), beta = scratch.subspan(k, k);
                            const std::span<double> h = scratch.subspan(2 * k, k);
                            margins_of(z.subspan(i * k, k), b, y, a);
                            loss.dual(y, a, beta);
                            double sum = 0.0, product = 0.0;
                            for (std::size_t l = 0; l < k; ++l) {
                              if (l == y) continue;
                              model.gradient[l] += share * beta[l];
                              sum += beta[l];
                              product += beta[l] * a[l];
                            }
                            // The value by way of its maximiser, which is at hand, where that is the shorter way.
                            constexpr bool by_dual = L::sparse_dual;
                            model.value += share * (by_dual ? product - loss.conjugate(y, beta) : loss.value(y, a));
                            model.gradient[y] -= share * sum;
                            loss.curvature(y, beta, h);
                            loss::spread::add(y, h, share, model.curvature);
                          });
}

template <class L>
std::vector<double> search(const L& loss, const ClassSample& sample, std::span<const double> z,
                           std::vector<double> start, double precision) {
  return minimize_shifts(
      std::move(start), [&](std::span<const double> b) { return risk_at(loss, sample, z, b); }, precision);
}

// Where the loss has kinks, a smoothed one shows the way, from far to near; every stop is judged by the loss itself.
std::vector<double> search(const loss::MulticlassHinge& hinge, const ClassSample& sample, std::span<const double> z,
                           std::vector<double> start, double /*precision*/) {
  constexpr double as_near_as_the_smoothing = 1e-6;
  std::vector<double> best = start;
  double least = mean_loss(hinge, sample, z, best);
  for (const double gamma : {1e-1, 1e-2, 1e-3, 1e-4}) {
    start = search(loss::SmoothMulticlassHinge{gamma}, sample, z, std::move(start), as_near_as_the_smoothing);
    const double value = mean_loss(hinge, sample, z, start);
    if (!(value < least)) continue;
    least = value;
    best = start;
  }
  return best;
}

}  // namespace

double mean_loss(const loss::AnyVector& loss, const ClassSample& sample, std::span<const double> z,
                 std::span<const double> b) {
  const std::size_t k = sample.classes;
  return std::visit(
      [&](const auto& l) {
        std::vector<CompensatedSum> blocks((sample.targets.size() + rows_in_block - 1) / rows_in_block);
        for_each_block(sample.targets.size(), [&](std::size_t begin, std::size_t end) {
          std::vector<double> a(k);
          for (std::size_t i = begin; i < end; ++i) {
            if (sample.weight(i) == 0.0) continue;
            margins_of(z.subspan(i * k, k), b, sample.targets[i], a);
            blocks[begin / rows_in_block].add(sample.weight(i) * l.value(sample.targets[i], a));
          }
        });
        CompensatedSum sum;
        for (const CompensatedSum& block : blocks) sum.add(block);
        return sum.total() / sample.weight_sum;
      },
      loss);
}

ShiftModel sum_shift_models(std::size_t rows, std::size_t classes,
                            const std::function<void(std::size_t, ShiftModel&, std::span<double>)>& add) {
  const auto empty = [&] {
    return ShiftModel{.value = 0.0,
                      .gradient = std::vector<double>(classes),
                      .curvature = std::vector<double>(classes * classes)};
  };
  // Few slabs of rows, whatever their number: each keeps k^2 numbers.
  constexpr std::size_t rows_in_slab = 256, most_slabs = 16;
  const std::size_t slabs = std::clamp<std::size_t>(rows / rows_in_slab, 1, most_slabs);
  std::vector<ShiftModel> blocks(slabs);
  parallel_for(slabs, [&](std::size_t slab) {
    ShiftModel model = empty();
    std::vector<double> scratch(3 * classes);
    for (std::size_t i = slab * rows / slabs; i < (slab + 1) * rows / slabs; ++i) add(i, model, scratch);
    blocks[slab] = std::move(model);
  });
  ShiftModel total = empty();
  for (const ShiftModel& block : blocks) {
    total.value += block.value;
    for (std::size_t l = 0; l < classes; ++l) total.gradient[l] += block.gradient[l];
    for (std::size_t l = 0; l < classes * classes; ++l) total.curvature[l] += block.curvature[l];
  }
  return total;
}

std::vector<double> minimize_shifts(std::vector<double> start,
                                    const std::function<ShiftModel(std::span<const double>)>& at,
                                    double precision) {
  constexpr int most_steps = 200;
  constexpr double enough = 1e-4;  // of the decrease that the slope promises
  constexpr double beyond_values = 1e-12;
  // Added to the curvature, in its units: along (1, ..., 1), and along classes that no row holds in place, there is none. Where
  // a step gains too little, shorter ones follow in the manner of Levenberg and Marquardt.
  constexpr double least_damping = 1e-9, most_damping = 1e12, growth = 10.0;
  const auto k = static_cast<Eigen::Index>(start.size());
  ShiftModel here = at(start);
  double damping = least_damping;
  for (int step = 0; step < most_steps && std::isfinite(here.value); ++step) {
    const Eigen::Map<const dense::Vector> gradient(here.gradient.data(), k);
    if (gradient.lpNorm<Eigen::Infinity>() <= std::max(precision, 4 * unit_roundoff)) break;
    dense::Matrix system = Eigen::Map<const dense::Matrix>(here.curvature.data(), k, k);
    system.diagonal().array() += damping * std::max(system.diagonal().maxCoeff(), 1e-3);
    const dense::Vector direction = -dense::solve_semidefinite(system, gradient);
    const double slope = gradient.dot(direction);
    if (!(slope < 0.0)) break;
    std::vector<double> next(start.size());
    for (std::size_t l = 0; l < next.size(); ++l) next[l] = start[l] + direction[static_cast<Eigen::Index>(l)];
    ShiftModel there = at(next);
    // What values cannot tell any more, gradients can: of a piecewise quadratic function the last step is exact.
    if (-slope <= beyond_values * std::fabs(here.value)) {
      const auto largest = [](const ShiftModel& model) {
        double result = 0.0;
        for (const double g : model.gradient) result = std::max(result, std::fabs(g));
        return result;
      };
      if (!(largest(there) < 0.5 * largest(here))) break;
      start = std::move(next);
      here = std::move(there);
      continue;
    }
    if (!(there.value <= here.value + enough * slope)) {
      if (damping > most_damping) break;
      damping *= growth;
      continue;
    }
    const bool settled = damping == least_damping && here.value - there.value <= 1e-15 * std::fabs(here.value);
    start = std::move(next);
    here = std::move(there);
    if (settled) break;
    damping = std::max(least_damping, damping / growth);
  }
  return start;
}

std::vector<double> best_biases(const loss::AnyVector& loss, const ClassSample& sample, std::span<const double> z,
                                std::vector<double> start, double precision) {
  return std::visit([&](const auto& l) { return search(l, sample, z, std::move(start), precision); }, loss);
}

}  // namespace fenchel::risk
