// Smooth multiclass hinge:  phi = max over {beta >= 0, sum beta <= 1} of sum_{j != y} beta_j (1 + z_j - z_y) - (gamma/2) ||beta||^2,
// at most gamma/2 below the multiclass hinge. (k/gamma)-smooth in the scores, since a = z_j - z_y has the norm sqrt(k).
#pragma once

#include <array>

#include "fenchel/loss/simplex_family.hpp"

namespace fenchel::loss {

struct SmoothMulticlassHinge {
  double gamma = 1.0;

  static constexpr std::string_view name = "smooth-multiclass-hinge";
  static constexpr std::string_view formula =
      "max over b >= 0, sum b <= 1 of sum_{j != y} b_j (1 + z_j - z_y) - gamma/2 ||b||^2";
  static constexpr Task task = Task::classification;
  static constexpr bool sparse_dual = true;
  static constexpr std::array<Field<SmoothMulticlassHinge>, 1> fields{
      {{"gamma", &SmoothMulticlassHinge::gamma, 0.0, infinity, true,
        "width of the smoothing; towards 0 it is the hinge"}}};

  [[nodiscard]] double smoothness(std::size_t classes) const { return gamma / static_cast<double>(classes); }
  // t + sum_j max(v_j - t, 0)^2 / (2 gamma) at the best t: a sum of non-negative terms.
  [[nodiscard]] double value(std::size_t y, std::span<const double> a) const {
    const double t = simplex_family::threshold(y, a, gamma);
    double sum = t;
    for (std::size_t j = 0; j < a.size(); ++j) {
      const double excess = j == y ? 0.0 : std::max(0.0, (1.0 + a[j]) - t);
      sum += 0.5 * excess * (excess / gamma);
    }
    return sum;
  }
  void dual(std::size_t y, std::span<const double> a, std::span<double> result) const {
    simplex_family::project(y, a, gamma, result);
    simplex_family::set_rest(y, result);
  }
  [[nodiscard]] double conjugate(std::size_t y, std::span<const double> beta) const {
    return simplex_family::conjugate(y, beta, gamma);
  }
  [[nodiscard]] double fenchel_young(const RowPoint& point) const {
    return simplex_family::fenchel_young(point, gamma, simplex_family::threshold(point.y, point.a, gamma));
  }
  void curvature(std::size_t y, std::span<const double> beta, std::span<double> result) const {
    simplex_family::curvature(y, beta, gamma, result);
  }
  void proximal_curvature(std::size_t y, std::span<const double> beta, double q, std::span<double> result) const {
    simplex_family::proximal_curvature(y, beta, gamma, q, result);
  }
  void dual_step(std::size_t y, std::span<const double> a, double q, std::span<const double> beta,
                 std::span<double> result, std::span<double> scratch) const {
    simplex_family::dual_step(y, a, q, gamma, beta, result, scratch);
  }
};

static_assert(VectorLoss<SmoothMulticlassHinge>);

}  // namespace fenchel::loss
