// Soft-max of hinges:  phi = gamma log(1 + sum_{j != y} exp((1 + z_j - z_y) / gamma)); see entropy_family.hpp. It lies above the
// multiclass hinge, by at most gamma log k. (1/(2 gamma))-smooth in the scores.
#pragma once

#include <array>

#include "fenchel/loss/entropy_family.hpp"

namespace fenchel::loss {

struct SoftMaxOfHinge {
  double gamma = 1.0;

  static constexpr std::string_view name = "soft-max-of-hinge";
  static constexpr std::string_view formula = "gamma log(1 + sum_{j != y} exp((1 + z_j - z_y)/gamma))";
  static constexpr Task task = Task::classification;
  static constexpr bool sparse_dual = false;
  static constexpr std::array<Field<SoftMaxOfHinge>, 1> fields{
      {{"gamma", &SoftMaxOfHinge::gamma, 0.0, infinity, true,
        "temperature; towards 0 it is the multiclass hinge"}}};

  [[nodiscard]] double smoothness(std::size_t /*classes*/) const { return family().smoothness(); }
  [[nodiscard]] double value(std::size_t y, std::span<const double> a) const { return family().value(y, a); }
  void dual(std::size_t y, std::span<const double> a, std::span<double> result) const {
    family().dual(y, a, result);
  }
  [[nodiscard]] double conjugate(std::size_t y, std::span<const double> beta) const {
    return family().conjugate(y, beta);
  }
  [[nodiscard]] double fenchel_young(const RowPoint& point) const { return family().fenchel_young(point); }
  void curvature(std::size_t y, std::span<const double> beta, std::span<double> result) const {
    family().curvature(y, beta, result);
  }
  void dual_step(std::size_t y, std::span<const double> a, double q, std::span<const double> beta,
                 std::span<double> result, std::span<double> scratch) const {
    family().dual_step(y, a, q, beta, result, scratch);
  }

 private:
  [[nodiscard]] EntropyFamily family() const { return {.gamma = gamma, .margin = 1.0}; }
};

static_assert(VectorLoss<SoftMaxOfHinge>);

}  // namespace fenchel::loss
