// The certificate of a multiclass problem, in the spirit of certificate.hpp:
//
//     gap = (1/sum c) sum_i c_i [ phi(a_i) + phi*(beta_i) - beta_i.a_i ] + sum_jl [ g_j(w_jl) + g_j*(u_jl) - w_jl u_jl ],
//     a_il = z_il - z_iy,   z = X W + b,   u = X'(c alpha) / sum c,   sum_i c_i alpha_il = 0 under a free bias.
//
// Brackets are bounded by sums of non-negative terms, one a class, at the worst of what rounding leaves open (see
// loss/simplex_family.hpp and loss/entropy_family.hpp). This module sees no solver, and believes none.
#pragma once

#include <span>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/data/class_map.hpp"
#include "fenchel/problem/certificate.hpp"
#include "fenchel/problem/multiclass.hpp"

namespace fenchel::problem {

struct MulticlassPrimal {
  LargeVector w{};          // the k numbers of a feature side by side
  std::vector<double> b{};  // k
  LargeVector z{};          // x_i.w_l as computed, without the bias; the k numbers of a row side by side
  LargeVector z_error{};    // |exact - z_il| <= z_error_i
  double value = infinity;  // P(W, b)
  double value_low = 0.0;   // a lower bound on the exact P(W, b)
};

// The dual vector is beta = scale B / c, which is exactly feasible.
struct MulticlassDual {
  std::vector<double> beta{};  // B, the weighted duals of record; the k numbers of a row side by side
  double scale = 1.0;
  LargeVector u{};                // before scaling; the k numbers of a feature side by side
  std::vector<double> u_error{};  // |exact - u_jl| <= u_error_j + 4 roundings of u_jl
  double value = 0.0;             // D as computed
};

class MulticlassCertifier {
 public:
  explicit MulticlassCertifier(const MulticlassProblem& problem);

  // Evaluates (W, b) as it is; one pass over the data.
  [[nodiscard]] MulticlassPrimal primal(std::span<const double> w, std::span<const double> b) const;
  // Evaluates W with the best free bias found from `b`; one pass.
  [[nodiscard]] MulticlassPrimal primal_with_best_bias(std::span<const double> w, std::span<const double> b) const;
  [[nodiscard]] MulticlassPrimal primal_with_best_bias(LargeVector&& w, std::span<const double> b) const;

  // Makes beta feasible and evaluates it; one pass.
  [[nodiscard]] MulticlassDual dual(std::span<const double> beta) const;
  // The gradient of the loss at the point, made feasible; one pass.
  [[nodiscard]] MulticlassDual dual_of(const MulticlassPrimal& point) const;
  // Takes weighted duals as stored, without repair; an infeasible vector has the value -infinity.
  [[nodiscard]] MulticlassDual dual_as_given(std::vector<double> B) const;

  // O((rows + columns) classes), no pass.
  [[nodiscard]] Certificate pair(const MulticlassPrimal& primal, const MulticlassDual& dual) const;

 private:
  [[nodiscard]] MulticlassPrimal located(LargeVector w, std::span<const double> b, bool search) const;
  void evaluate(MulticlassPrimal& point) const;
  void evaluate(MulticlassDual& point) const;

  MulticlassProblem problem_;
  data::ClassMap map_;
};

}  // namespace fenchel::problem
