// Softmax (multinomial logistic):  phi = log sum_j exp(z_j - z_y); see entropy_family.hpp. (1/2)-smooth in the scores.
#pragma once

#include <array>

#include "fenchel/loss/entropy_family.hpp"

namespace fenchel::loss {

struct Softmax {
  static constexpr std::string_view name = "softmax";
  static constexpr std::string_view formula = "log sum_j exp(z_j - z_y)";
  static constexpr Task task = Task::classification;
  static constexpr bool sparse_dual = false;
  static constexpr std::array<Field<Softmax>, 0> fields{};

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
  [[nodiscard]] static EntropyFamily family() { return {.gamma = 1.0, .margin = 0.0}; }
};

static_assert(VectorLoss<Softmax>);

}  // namespace fenchel::loss
