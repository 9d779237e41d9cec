// The certificate: turns a primal point and a dual point into primal, dual and gap for exactly the problem asked.
//
//     gap = (1/sum c) sum_i c_i [ phi(z_i) + phi*(-alpha_i) + alpha_i z_i ] + sum_j [ g_j(w_j) + g_j*(u_j) - w_j u_j ],
//     z = X w + b,   u = X'(c alpha) / sum c,   sum c alpha = 0 under a free bias,
//
// and under a constraint w in K, with its support function sigma, sigma(u) - <w, u> in place of the sum over j.
//
// Every bracket is non-negative (Fenchel-Young) and is evaluated without cancellation, at the worst corner of what
// rounding leaves uncertain: brackets are convex in each argument, so corners are enough. The gap is therefore never
// negative and includes its own rounding error. This module sees no solver, and believes none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/problem/problem.hpp"
#include "fenchel/problem/unpenalized.hpp"

namespace fenchel::problem {

struct PrimalPoint {
  std::vector<double> w{};
  double b = 0.0;
  LargeVector z{};          // x_i.w + b as computed
  LargeVector z_error{};    // |exact - z_i| <= z_error_i
  double value = infinity;  // P(w, b)
  double value_low = 0.0;   // a lower bound on the exact P(w, b)
};

// The dual vector is scale * (beta + delta) / c for some |delta_i| <= slack_i for which it is exactly feasible.
struct DualPoint {
  std::vector<double> beta{};
  std::vector<double> slack{};  // empty: no uncertainty
  double scale = 1.0;
  LargeVector u{};        // X' beta / sum c as computed, before scaling
  LargeVector u_error{};  // |exact X'(beta + delta) / sum c - u_j| <= u_error_j
  double value = 0.0;     // D, less what the slack may take from it
};

struct Certificate {
  double primal = infinity;
  double dual = 0.0;
  double gap = infinity;
  double rounding = 0.0;  // the part of the gap that bounds rounding errors

  // Whether a bound could be given at all: overflow and NaN never certify.
  [[nodiscard]] bool valid() const { return gap < infinity; }
  [[nodiscard]] double relative_gap() const;
};

class Certifier {
 public:
  explicit Certifier(const Problem& problem);

  // Evaluates (w, b) as it is; one pass over the data. A w outside a constraint has the value infinity.
  [[nodiscard]] PrimalPoint primal(std::span<const double> w, double b) const;
  // Evaluates w, moved into the constraint if there is one, with the best free bias, searched from `b`; one pass.
  [[nodiscard]] PrimalPoint primal_with_best_bias(std::span<const double> w, double b) const;

  // The same point times `factor` > 0, without a pass. Where margins sit at a kink, rounding leaves them on either side of
  // it; a stretch by a few roundings moves them to the cheap side. Under a constraint the point as it is.
  [[nodiscard]] PrimalPoint stretched(const PrimalPoint& point, double factor) const;

  // Makes alpha feasible and evaluates it; one pass (more with unpenalised columns). With places, alpha_i stands at place[i].
  [[nodiscard]] DualPoint dual(std::span<const double> alpha, std::span<const std::uint32_t> place = {}) const;
  // alpha_i = -phi'(z_i), made feasible; one pass.
  [[nodiscard]] DualPoint dual_of(const PrimalPoint& point) const;
  // Takes weighted duals as stored, without repair; an infeasible vector has the value -infinity.
  [[nodiscard]] DualPoint dual_as_given(std::vector<double> beta) const;

  // O(rows + columns), no pass.
  [[nodiscard]] Certificate pair(const PrimalPoint& primal, const DualPoint& dual) const;

  // Encloses the free bias of every optimal solution; the whole line without a free bias or a strongly convex penalty.
  // One pass.
  [[nodiscard]] Interval bias_range(const PrimalPoint& primal, const DualPoint& dual,
                                    const Certificate& certificate) const;

 private:
  enum class BiasSearch { none, best };
  [[nodiscard]] PrimalPoint located(std::span<const double> w, double b, BiasSearch search) const;
  void add_bias(PrimalPoint& point) const;
  void evaluate(PrimalPoint& point) const;
  void evaluate(DualPoint& point) const;

  Problem problem_;
  data::LinearMap map_;
  UnpenalizedColumns unpenalized_;
};

}  // namespace fenchel::problem
