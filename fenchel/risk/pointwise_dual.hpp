// The dual side of the empirical risk of a scalar loss, as an oracle for batch solvers that work on its dual vector:
//     R(w) = max over alpha of  -<u(alpha), w> - R*(alpha),   u(alpha) = X'(rho alpha),   rho = c / sum c,
//     R*(alpha) = sum_i rho_i phi*(-alpha_i),  with sum_i rho_i alpha_i = 0 under a free bias.
// Lengths are ||alpha||^2 = sum_i rho_i s_i alpha_i^2, with s = 1 or the factors of Levels. Rows of weight 0 have alpha_i = 0.
#pragma once

#include <span>
#include <vector>

#include "fenchel/risk/pointwise.hpp"

namespace fenchel::risk {

class PointwiseDual {
 public:
  PointwiseDual(const data::Design& design, const Sample& sample, const loss::Any& loss, bool free_bias);

  [[nodiscard]] std::size_t rows() const { return map_.rows(); }
  [[nodiscard]] std::size_t dimension() const { return map_.cols(); }
  [[nodiscard]] std::span<const double> rho() const { return rho_; }
  // Sets s, for a loss that is not smooth; it has to outlive this.
  void measure_by(std::span<const double> factors) { lengths_.factors = factors; }
  // rho_i s_i
  [[nodiscard]] double length_weight(std::size_t i) const { return rho_[i] * lengths_.factor(i); }
  // The modulus of strong convexity of R*.
  [[nodiscard]] double convexity() const { return loss::smoothness(loss_); }

  // z = X w; one pass.
  void margins(std::span<const double> w, std::span<double> z) const { map_.margins(w, z); }
  // u = X'(rho alpha); one pass.
  void induce(std::span<const double> alpha, std::span<double> u);
  // sum_i rho_i x_i' diag(scale) x_i: with scale the largest curvatures of the penalty's conjugate, a bound on the curvature of
  // alpha -> Omega*(u(alpha)).
  [[nodiscard]] double mean_square_norm(std::span<const double> scale) const;

  // R*(alpha); entries outside their domain count as its nearest point, since averages leave it by a rounding.
  [[nodiscard]] double conjugate(std::span<const double> alpha) const;
  [[nodiscard]] double half_square_distance(std::span<const double> alpha, std::span<const double> centre) const;
  // alpha = argmax of -R*(alpha) - <rho z, alpha - centre> - (q/2) ||alpha - centre||^2, an empty centre being 0. Returns the
  // multiplier of sum rho alpha = 0, which is the bias; it is searched from `bias_hint`.
  double step(std::span<const double> z, std::span<const double> centre, double q, double bias_hint,
              std::span<double> alpha);

 private:
  data::LinearMap map_;
  Sample sample_;
  loss::Any loss_;
  bool free_bias_;
  Levels lengths_{.mu = 1.0};
  std::vector<double> rho_;
  std::vector<double> scratch_;
};

}  // namespace fenchel::risk
