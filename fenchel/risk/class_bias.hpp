// The best free bias of a multiclass risk: k numbers b that minimise sum_i c_i phi(y_i, z_i + b). Only the quality of a point
// depends on it, never the validity of its certificate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fenchel/loss/any_vector.hpp"

namespace fenchel::risk {

// One class a row and, where they are not all 1, one weight c_i >= 0 a row.
struct ClassSample {
  std::span<const std::uint32_t> targets;
  std::size_t classes = 0;
  std::span<const double> weights;  // empty: all 1
  double weight_sum = 0.0;

  [[nodiscard]] double weight(std::size_t i) const { return weights.empty() ? 1.0 : weights[i]; }
};

// a_l = (z_l + b_l) - (z_y + b_y); b may be empty. The spans may be the same.
inline void margins_of(std::span<const double> z, std::span<const double> b, std::size_t y, std::span<double> a) {
  const double own = b.empty() ? z[y] : z[y] + b[y];
  for (std::size_t l = 0; l < z.size(); ++l) a[l] = (b.empty() ? z[l] : z[l] + b[l]) - own;
}

// The mean loss of scores z_i + b.
double mean_loss(const loss::AnyVector& loss, const ClassSample& sample, std::span<const double> z,
                 std::span<const double> b);

// The search ends where no class is out of balance by more than the precision, in shares of the rows.
std::vector<double> best_biases(const loss::AnyVector& loss, const ClassSample& sample, std::span<const double> z,
                                std::vector<double> start, double precision = 0.0);

// A convex function of k shifts with its derivatives.
struct ShiftModel {
  double value = 0.0;
  std::vector<double> gradient;
  std::vector<double> curvature;  // k x k
};
// Newton's method, damped where that is needed, for functions that do not change along (1, ..., 1).
std::vector<double> minimize_shifts(std::vector<double> start,
                                    const std::function<ShiftModel(std::span<const double>)>& at,
                                    double precision = 0.0);

// Sums such models over rows, in blocks: add(i, model) adds the terms of row i.
ShiftModel sum_shift_models(std::size_t rows, std::size_t classes,
                            const std::function<void(std::size_t, ShiftModel&, std::span<double>)>& add);

}  // namespace fenchel::risk
