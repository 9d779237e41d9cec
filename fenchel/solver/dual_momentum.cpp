#include "fenchel/solver/dual_momentum.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

// Leaving a row out of the way takes as long as a step on it. Where more than one moving row in so many is at an end of its domain,
// the others will not go on as they did either.
constexpr std::size_t moving_rows_per_end = 10;

// The derivative of the dual objective at 0 is a difference of terms as large as l2 ||w||^2. Where it is less than so much of them it
// may be rounding; steps by it would carry the errors of w along from start to start.
constexpr double share_of_rounding = 1e-14;

// Where alpha can go without leaving its parabola.
template <loss::ParabolicLoss L>
Interval piece_around(const L& loss, double y, double alpha) {
  const Interval domain = loss.dual_domain(y);
  if constexpr (L::conjugate_shape == loss::ConjugateShape::parabola) return domain;
  return alpha > 0.0 ? Interval{0.0, domain.high} : Interval{domain.low, 0.0};
}

// The derivative of phi*(-alpha), from its value at alpha, or at another point of the parabola that 0 is in.
template <loss::ParabolicLoss L>
double conjugate_slope(const L& loss, double y, double alpha) {
  const Interval domain = loss.dual_domain(y);
  const double at = alpha != 0.0        ? alpha
                    : domain.high > 0.0 ? std::min(1.0, domain.high)
                                        : std::max(-1.0, domain.low);
  return loss.conjugate(y, at) / at + loss.smoothness() * (alpha - 0.5 * at);
}

}  // namespace

// The dual objective on the way: less by slope t + (curvature/2) t^2 than at its beginning.
struct DualMomentum::Along {
  double slope = 0.0;
  double curvature = 0.0;
  double shares = 0.0;  // sum_i c_i d_i, by which a free bias moves
  double size = 0.0;    // l2 ||w||^2

  void add(const Along& other) {
    slope += other.slope;
    curvature += other.curvature;
    shares += other.shares;
    size += other.size;
  }
  [[nodiscard]] double best() const {
    const double t = -slope > share_of_rounding * size ? -slope / curvature : 0.0;
    return std::isfinite(t) ? t : 0.0;
  }
};

bool DualMomentum::takes(const problem::Problem& problem, const Conduct& conduct) {
  const AscentChoices& choices = conduct.ascent;
  if (!choices.momentum || choices.step != kernel::StepOption::exact || choices.sampling != Sampling::permutation ||
      conduct.rows == RowOrder::windows) {
    return false;
  }
  const penalty::Separable& penalty = problem.penalty;
  const bool plain = penalty.uniform() && penalty.base().l1 == 0.0 && penalty.base().l2 > 0.0;
  return plain && std::visit([]<class L>(const L&) { return loss::ParabolicLoss<L>; }, problem.loss);
}

std::size_t DualMomentum::follow(const Objective& objective, const Point& point) {
  const double t = w_move_.empty() ? 0.0 : best_step(objective, point);
  const bool started = !w_start_.empty();
  w_start_.resize(point.w.size());
  if (started) w_move_.resize(point.w.size());
  // The way from the last start to this one takes the place of the one before.
  for_each_block(point.w.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      if (t > 0.0) point.w[j] += t * w_move_[j];
      if (started) w_move_[j] = point.w[j] - w_start_[j];
      w_start_[j] = point.w[j];
    }
  });
  std::visit(
      [&](const auto& loss) {
        for (const Move& move : moves_) {
          double& alpha = point.alpha[move.row];
          alpha = loss::project_dual(loss, objective.problem.sample.targets[move.row], alpha + t * move.by);
        }
      },
      objective.problem.loss);
  moves_.clear();
  alpha_start_.resize(point.alpha.size());
  for (std::size_t i = 0; i < point.alpha.size(); ++i) {
    if (started && point.alpha[i] != alpha_start_[i]) moves_.push_back({i, point.alpha[i] - alpha_start_[i]});
    alpha_start_[i] = point.alpha[i];
  }
  return std::exchange(entries_, 0);
}

double DualMomentum::best_step(const Objective& objective, const Point& point) {
  return std::visit(
      [&]<class L>(const L& loss) {
        if constexpr (loss::ParabolicLoss<L>) {
          const auto piece = [&](std::size_t i) {
            return piece_around(loss, objective.problem.sample.targets[i], point.alpha[i]);
          };
          const auto at_end = [&](const Move& move) {
            const double alpha = point.alpha[move.row];
            return alpha <= piece(move.row).low || alpha >= piece(move.row).high;
          };
          if (!drop(objective, at_end)) return 0.0;
          const double first = along(loss, objective, point).best();
          const auto gets_there = [&](const Move& move) {
            return !piece(move.row).contains(point.alpha[move.row] + first * move.by);
          };
          if (!drop(objective, gets_there) || moves_.empty()) return 0.0;
          double reach = infinity;  // no less than `first`
          for (const Move& move : moves_) {
            const double end = move.by > 0.0 ? piece(move.row).high : piece(move.row).low;
            reach = std::min(reach, (end - point.alpha[move.row]) / move.by);
          }
          const Along rest = along(loss, objective, point);
          const double t = std::min(rest.best(), reach);
          point.b += t * objective.bias_step * rest.shares;
          return t;
        } else {
          return 0.0;
        }
      },
      objective.problem.loss);
}

template <class L>
DualMomentum::Along DualMomentum::along(const L& loss, const Objective& objective, const Point& point) const {
  const double s = objective.l2, gamma = loss.smoothness() + objective.smoothing;
  auto sum = block_sum<Along>(point.w.size(), [&](std::size_t j, Along& part) {
    part.slope += s * point.w[j] * w_move_[j];
    part.size += s * point.w[j] * point.w[j];
    part.curvature += s * w_move_[j] * w_move_[j];
  });
  for (const auto& [i, d] : moves_) {
    const double alpha = point.alpha[i], share = objective.shares[i];
    const double slope =
        conjugate_slope(loss, objective.problem.sample.targets[i], alpha) + objective.smoothing * alpha;
    sum.slope += share * d * slope;
    sum.curvature += share * d * d * gamma;
    sum.shares += share * d;
  }
  if (objective.bias_step > 0.0) {
    sum.slope += point.b * sum.shares;
    sum.curvature += objective.bias_step * sum.shares * sum.shares;
  }
  return sum;
}

template <class Which>
bool DualMomentum::drop(const Objective& objective, Which&& which) {
  const auto dropped = std::stable_partition(moves_.begin(), moves_.end(), std::not_fn(which));
  const auto rows = static_cast<std::size_t>(moves_.end() - dropped);
  if (moving_rows_per_end * rows > moves_.size()) return false;
  const double constant = objective.problem.design.constant;
  std::visit(
      [&](const auto& matrix) {
        for (const auto& [i, d] : std::span(dropped, moves_.end())) {
          const double change = objective.shares[i] * d / objective.l2;
          const auto row = matrix.row(i);
          row.for_each_entry([&](std::size_t j, double x) { w_move_[j] -= change * x; });
          if (constant != 0.0) w_move_[matrix.cols()] -= change * constant;
          entries_ += row.nonzeros();
        }
      },
      objective.problem.design.matrix);
  moves_.erase(dropped, moves_.end());
  return true;
}

}  // namespace fenchel::solver
