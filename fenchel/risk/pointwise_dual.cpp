#include "fenchel/risk/pointwise_dual.hpp"

#include "fenchel/base/sum.hpp"

namespace fenchel::risk {

PointwiseDual::PointwiseDual(const data::Design& design, const Sample& sample, const loss::Any& loss,
                             bool free_bias)
    : map_(design),
      sample_(sample),
      loss_(loss),
      free_bias_(free_bias),
      rho_(design.rows()),
      scratch_(design.rows()) {
  for (std::size_t i = 0; i < rho_.size(); ++i) rho_[i] = sample.weight(i) / sample.weight_sum;
}

void PointwiseDual::induce(std::span<const double> alpha, std::span<double> u) {
  for (std::size_t i = 0; i < rho_.size(); ++i) scratch_[i] = rho_[i] * alpha[i];
  map_.adjoint(scratch_, u);
}

double PointwiseDual::mean_square_norm(std::span<const double> scale) const {
  const LargeVector norms = map_.row_square_norms(scale);
  double sum = 0.0;
  for (std::size_t i = 0; i < norms.size(); ++i) sum += rho_[i] * norms[i];
  return sum;
}

double PointwiseDual::conjugate(std::span<const double> alpha) const {
  return std::visit(
      [&](const auto& l) {
        const auto sum = block_sum<CompensatedSum>(alpha.size(), [&](std::size_t i, CompensatedSum& s) {
          if (rho_[i] == 0.0) return;
          const double y = sample_.targets[i];
          s.add(rho_[i] * l.conjugate(y, loss::project_dual(l, y, alpha[i])));
        });
        return sum.total();
      },
      loss_);
}

double PointwiseDual::half_square_distance(std::span<const double> alpha, std::span<const double> centre) const {
  const auto sum = block_sum<CompensatedSum>(alpha.size(), [&](std::size_t i, CompensatedSum& s) {
    const double difference = centre.empty() ? alpha[i] : alpha[i] - centre[i];
    s.add(length_weight(i) * difference * difference);
  });
  return 0.5 * sum.total();
}

// With the square about the centre multiplied out, this is the dual variable of the loss smoothed at the levels q s, at scores
// z - q s centre: so is its bias.
double PointwiseDual::step(std::span<const double> z, std::span<const double> centre, double q, double bias_hint,
                           std::span<double> alpha) {
  const Levels levels{.mu = q, .factors = lengths_.factors};
  double b = 0.0;
  if (free_bias_) {
    for (std::size_t i = 0; i < rho_.size(); ++i)
      scratch_[i] = centre.empty() ? z[i] : z[i] - levels[i] * centre[i];
    b = best_smoothed_bias(loss_, sample_, scratch_, levels, bias_hint);
  }
  std::visit(
      [&](const auto& l) {
        for_each_block(alpha.size(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const double from = centre.empty() ? 0.0 : centre[i];
            alpha[i] = rho_[i] > 0.0 ? l.dual_step(sample_.targets[i], from, z[i] + b, levels[i]) : 0.0;
          }
        });
      },
      loss_);
  return b;
}

}  // namespace fenchel::risk
