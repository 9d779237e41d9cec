// Multiclass hinge (Crammer and Singer):  phi = max(0, max_{j != y} 1 + z_j - z_y),  phi*(beta) = -sum beta.
#pragma once

#include <array>

#include "fenchel/loss/simplex_family.hpp"

namespace fenchel::loss {

struct MulticlassHinge {
  static constexpr std::string_view name = "multiclass-hinge";
  static constexpr std::string_view formula = "max_j (1[j != y] + z_j - z_y)";
  static constexpr Task task = Task::classification;
  static constexpr bool sparse_dual = true;
  static constexpr std::array<Field<MulticlassHinge>, 0> fields{};

  [[nodiscard]] double smoothness(std::size_t /*classes*/) const { return 0.0; }
  [[nodiscard]] double value(std::size_t y, std::span<const double> a) const {
    return simplex_family::largest_violation(y, a);
  }
  void dual(std::size_t y, std::span<const double> a, std::span<double> result) const {
    simplex_family::to_vertex(y, a, result);
    simplex_family::set_rest(y, result);
  }
  [[nodiscard]] double conjugate(std::size_t y, std::span<const double> beta) const {
    return simplex_family::conjugate(y, beta, 0.0);
  }
  [[nodiscard]] double fenchel_young(const RowPoint& point) const {
    double t = 0.0;
    for (std::size_t j = 0; j < point.classes(); ++j) {
      if (j != point.y) t = std::max(t, (1.0 + point.a[j]) + point.error(j, 1.0));
    }
    return simplex_family::fenchel_young(point, 0.0, t == 0.0 ? 0.0 : widen(t));
  }
  void curvature(std::size_t /*y*/, std::span<const double> /*beta*/, std::span<double> result) const {
    std::fill(result.begin(), result.end(), 0.0);
  }
  void proximal_curvature(std::size_t y, std::span<const double> beta, double q, std::span<double> result) const {
    simplex_family::proximal_curvature(y, beta, 0.0, q, result);
  }
  void dual_step(std::size_t y, std::span<const double> a, double q, std::span<const double> beta,
                 std::span<double> result, std::span<double> scratch) const {
    simplex_family::dual_step(y, a, q, 0.0, beta, result, scratch);
  }
};

static_assert(VectorLoss<MulticlassHinge>);

}  // namespace fenchel::loss
