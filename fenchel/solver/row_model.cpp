#include "fenchel/solver/row_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/base/weighted_term.hpp"

namespace fenchel::solver {
namespace {

// -psi' and psi'' of one row.
struct Derivatives {
  double alpha = 0.0;
  double curvature = 0.0;
};

template <class L>
Derivatives derivatives_of(const L& loss, double y, double z) {
  return {-loss.derivative(y, z), loss.second_derivative(y, z)};
}
// One exponential for both.
inline Derivatives derivatives_of(const loss::Logistic& /*loss*/, double y, double z) {
  const double m = y * z;
  const double e = std::exp(-std::fabs(m));
  const double r = 1.0 / (1.0 + e);
  return {y * (m > 0.0 ? e * r : r), e * r * r};
}

// Curvatures in units of 1/q.
template <class L>
Derivatives smoothed_derivatives(const L& loss, double y, double z, double a, double q) {
  const double t = loss.dual_step(y, a, z, q);
  const Interval domain = loss.dual_domain(y);
  // phi* of these losses bends at the ends of its domain and, at most, at 0.
  const bool inside = t > domain.low && t < domain.high && t != 0.0;
  return {t, inside ? 1.0 : 0.0};
}

// Calls body(derivatives), derivatives(i, z) giving those of row i.
template <class Body>
auto with_derivatives(const loss::Any& any, std::span<const double> targets, std::span<const double> center,
                      double q, Body&& body) {
  return std::visit(
      [&]<class L>(const L& loss) {
        if constexpr (loss::CurvedLoss<L>) {
          return body(loss, [&, targets](std::size_t i, double z) { return derivatives_of(loss, targets[i], z); });
        } else if constexpr (loss::DualStepLoss<L>) {
          return body(loss, [&, targets, center, q](std::size_t i, double z) {
            return smoothed_derivatives(loss, targets[i], z, center[i], q);
          });
        } else {  // refused by missing()
          return body(loss, [](std::size_t, double) { return Derivatives{}; });
        }
      },
      any);
}

bool has_curvature(const loss::Any& any) {
  return std::visit([]<class L>(const L&) { return loss::CurvedLoss<L>; }, any);
}

}  // namespace

// A weight over 1.0 is itself, to the bit.
Shares::Shares(const risk::Sample& sample) : equal_(1.0 / sample.weight_sum) {
  if (!sample.weights.empty() && sample.weight_sum != 1.0) {
    own_.resize(sample.weights.size());
    for (std::size_t i = 0; i < own_.size(); ++i) own_[i] = sample.weights[i] / sample.weight_sum;
  }
  each_ = own_.empty() ? sample.weights : std::span<const double>(own_);
}

RowModel::RowModel(const problem::Problem& problem)
    : loss_(problem.loss),
      targets_(problem.sample.targets),
      smooth_(has_curvature(problem.loss)),
      shares_(problem.sample) {}

void RowModel::center(std::vector<double> alpha, double q) {
  if (smooth_) return;
  center_ = std::move(alpha);
  q_ = q;
}

void RowModel::recenter(List list, std::span<const double> alpha, double q) {
  if (smooth_) return;
  for (const std::uint32_t i : list) center_[i] = alpha[i];
  q_ = q;
}

LineSlope RowModel::along(List list, std::span<const double> z, std::span<const double> dz, double t) const {
  LineSlope sum = with_derivatives(loss_, targets_, center_, q_, [&](const auto& /*loss*/, auto&& derivatives) {
    return block_sum<LineSlope>(list.size(), [&](std::size_t k, LineSlope& local) {
      const std::size_t i = list[k];
      const double move = dz.empty() ? 1.0 : dz[i];
      const Derivatives at = derivatives(i, z[i] + t * move);
      const double weighted = shares_[i] * move;
      local.first -= weighted * at.alpha;
      local.second += weighted * move * at.curvature;
    });
  });
  sum.second *= scale();
  return sum;
}

RowModel::Sums RowModel::locate(List list, std::span<const double> z, std::span<double> alpha,
                                std::span<double> weight, std::span<double> change, bool pending) const {
  return with_derivatives(loss_, targets_, center_, q_, [&]<class L>(const L& loss, auto&& derivatives) {
    return block_sum<Sums>(list.size(), [&](std::size_t k, Sums& local) {
      const std::size_t i = list[k];
      const double s = shares_[i];
      const Derivatives at = derivatives(i, z[i]);
      const double moved = s * (at.alpha - alpha[i]);
      change[i] = pending ? change[i] + moved : moved;
      alpha[i] = at.alpha;
      weight[i] = s * at.curvature;
      local.weight += weight[i];
      local.risk += s * loss.value(targets_[i], z[i]);
      if constexpr (!loss::CurvedLoss<L>) {
        // A dual step that stays at its centre is optimal for z: the bracket is 0, and rounded outward a slow subnormal.
        if (at.alpha != center_[i])
          local.brackets += weighted_term(s, loss.fenchel_young(targets_[i], z[i], at.alpha));
      }
    });
  });
}

void RowModel::secants(List list, std::span<const double> z, std::span<const double> dz, double reach,
                       std::span<const double> alpha, std::span<const double> weight,
                       std::span<double> secant) const {
  with_derivatives(loss_, targets_, center_, q_, [&](const auto& /*loss*/, auto&& derivatives) {
    for_each_block(list.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t i = list[k];
        const double move = reach * dz[i];
        secant[i] = weight[i];
        if (move == 0.0) continue;
        const double mean = (alpha[i] - derivatives(i, z[i] + move).alpha) / (scale() * move);
        secant[i] = std::max(weight[i], shares_[i] * std::min(mean, largest_curvature()));
      }
    });
  });
}

RowModel::Sums RowModel::sums_of(List list, std::span<const double> z, std::span<const double> alpha) const {
  return std::visit(
      [&](const auto& loss) {
        return block_sum<Sums>(list.size(), [&](std::size_t k, Sums& local) {
          const std::size_t i = list[k];
          local.risk += shares_[i] * loss.value(targets_[i], z[i]);
          local.brackets += weighted_term(shares_[i], loss.fenchel_young(targets_[i], z[i], alpha[i]));
        });
      },
      loss_);
}

// Where phi is curved, a bracket is about (other - alpha)^2 / (2 phi'').
double RowModel::brackets_of(List list, std::span<const double> z, std::span<const double> alpha,
                             std::span<const double> weight, std::span<double> other,
                             std::span<double> clipped) const {
  return std::visit(
      [&](const auto& loss) {
        return block_sum<Sums>(list.size(),
                               [&](std::size_t k, Sums& local) {
                                 const std::size_t i = list[k];
                                 const double s = shares_[i];
                                 const double inside = loss.dual_domain(targets_[i]).clamp(other[i]);
                                 clipped[i] = s * (other[i] - inside);
                                 other[i] = inside;
                                 const double miss = inside - alpha[i];
                                 if (miss == 0.0) return;
                                 local.brackets +=
                                     weight[i] > 0.0
                                         ? 0.5 * (s * miss) * (s * miss / weight[i])
                                         : weighted_term(s, loss.fenchel_young(targets_[i], z[i], inside));
                               })
            .brackets;
      },
      loss_);
}

double RowModel::moving(std::span<const double> z, std::span<const float> norms, double radius,
                        LargeList& list) const {
  std::vector<std::uint8_t> moves(z.size());
  const double risk =
      with_derivatives(loss_, targets_, center_, q_, [&]<class L>(const L& loss, auto&& derivatives) {
        return block_sum<Sums>(z.size(),
                               [&](std::size_t i, Sums& local) {
                                 if (shares_[i] == 0.0) return;
                                 const double reach = static_cast<double>(norms[i]) * radius;
                                 const Derivatives low = derivatives(i, z[i] - reach);
                                 bool fixed = low.curvature == 0.0;
                                 if constexpr (!loss::CurvedLoss<L>) fixed = fixed && low.alpha == center_[i];
                                 if (fixed) {
                                   const Derivatives high = derivatives(i, z[i] + reach);
                                   fixed = low.alpha == high.alpha && high.curvature == 0.0;
                                 }
                                 moves[i] = fixed ? 0 : 1;
                                 if (fixed) local.risk += shares_[i] * loss.value(targets_[i], z[i]);
                               })
            .risk;
      });
  list.clear();
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (moves[i] != 0) list.push_back(static_cast<std::uint32_t>(i));
  }
  return risk;
}

}  // namespace fenchel::solver
