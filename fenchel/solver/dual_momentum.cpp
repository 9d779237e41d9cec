#include "fenchel/solver/dual_momentum.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/base/sum_in_parts.hpp"

namespace fenchel::solver {
namespace {

// Leaving a row out of the way takes as long as a step on it. Where more than one moving row in so many is at an end of its domain,
// the others will not go on as they did either.
constexpr std::size_t moving_rows_per_end = 10;

// The derivative of the dual objective at 0 is a difference of terms as large as l2 ||w||^2. Where it is less than so much of them it
// may be rounding; steps by it would carry the errors of w along from start to start.
constexpr double share_of_rounding = 1e-14;

// Products with m are found anew where leaving rows out has taken all but so much of ||m||^2.
constexpr double least_left = 1e-6;

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

// Inner products of w and m.
struct DualMomentum::Products {
  double w_m = 0.0, m_m = 0.0, w_w = 0.0;

  void add(const Products& other) {
    w_m += other.w_m;
    m_m += other.m_m;
    w_w += other.w_w;
  }
};

// The dual objective on the way: less by slope t + (curvature/2) t^2 than at its beginning.
struct DualMomentum::Along {
  double slope = 0.0, curvature = 0.0;  // of the rows' part
  double shares = 0.0;                  // sum_i c_i d_i, by which a free bias moves
  double gamma = 0.0;                   // by which rows curve
  Products products;

  void count(const Move& move, double share) {
    slope += move.slope;
    curvature += gamma * share * move.by * move.by;
    shares += share * move.by;
  }
  [[nodiscard]] double best(const Objective& objective, double b) const {
    const double s = objective.l2, bias = objective.bias_step > 0.0 ? b * shares : 0.0;
    const double down = s * products.w_m + slope + bias;
    const double curved = s * products.m_m + curvature + objective.bias_step * shares * shares;
    const double t = -down > share_of_rounding * s * products.w_w ? -down / curved : 0.0;
    return std::isfinite(t) && t > 0.0 ? t : 0.0;
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
  if (t > 0.0) {
    std::visit(
        [&](const auto& loss) {
          for (const Move& move : moves()) {
            double& alpha = point.alpha[move.row];
            alpha = loss::project_dual(loss, objective.problem.sample.targets[move.row], alpha + t * move.by);
          }
        },
        objective.problem.loss);
  }
  if (started) {
    find_moves(point.alpha);
  } else {
    alpha_start_.assign(point.alpha.begin(), point.alpha.end());
  }
  return std::exchange(entries_, 0);
}

// From the last start to this one, which takes its place. Which rows move looks like chance to the processor: every row is written
// down, and most are written over.
void DualMomentum::find_moves(std::span<const double> alpha) {
  moves_.resize(alpha.size());
  moving_ = 0;
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    const double by = alpha[i] - alpha_start_[i];
    moves_[moving_].row = i;
    moves_[moving_].by = by;
    moving_ += by != 0.0 ? 1 : 0;
    alpha_start_[i] = alpha[i];
  }
}

double DualMomentum::best_step(const Objective& objective, const Point& point) {
  if (moving_ == 0) return 0.0;
  Along along = std::visit([&](const auto& loss) { return look_ahead(loss, objective, point.alpha); },
                           objective.problem.loss);
  if (!drop(objective, point.w, 0.0, along)) return 0.0;
  along.products = products_with(point.w);
  const double first = along.best(objective, point.b), length = along.products.m_m;
  if (first == 0.0 || !drop(objective, point.w, first, along)) return 0.0;
  if (along.products.m_m < least_left * length) along.products = products_with(point.w);
  double reach = infinity;
  for (const Move& move : moves()) reach = std::min(reach, move.reach);
  const double t = std::min(along.best(objective, point.b), reach);
  point.b += t * objective.bias_step * along.shares;
  return t;
}

auto DualMomentum::products_with(std::span<const double> w) const -> Products {
  return sum_of_blocks<Products>(
      w.size(), rows_in_block, [&](std::size_t begin, std::size_t end, Products& products) {
        const std::span<const double> w_part = w.subspan(begin, end - begin),
                                      m_part = std::span(w_move_).subspan(begin, end - begin);
        products = {.w_m = product_in_parts(w_part, m_part),
                    .m_m = product_in_parts(m_part, m_part),
                    .w_w = product_in_parts(w_part, w_part)};
      });
}

template <class L>
auto DualMomentum::look_ahead(const L& loss, const Objective& objective, std::span<const double> alpha) -> Along {
  Along along;
  if constexpr (loss::ParabolicLoss<L>) {
    along.gamma = loss.smoothness() + objective.smoothing;
    for (Move& move : moves()) {
      const double at = alpha[move.row], y = objective.problem.sample.targets[move.row],
                   share = objective.shares[move.row];
      const Interval piece = piece_around(loss, y, at);
      const bool at_end = at <= piece.low || at >= piece.high;
      move.reach = at_end ? 0.0 : ((move.by > 0.0 ? piece.high : piece.low) - at) / move.by;
      move.slope = share * move.by * (conjugate_slope(loss, y, at) + objective.smoothing * at);
      along.count(move, share);
    }
  }
  return along;
}

bool DualMomentum::drop(const Objective& objective, std::span<const double> w, double reach, Along& along) {
  const auto stops = [reach](const Move& move) { return move.reach <= reach; };
  const auto stopping = static_cast<std::size_t>(std::ranges::count_if(moves(), stops));
  if (stopping == 0) return true;
  if (moving_rows_per_end * stopping > moving_) return false;
  const double constant = objective.problem.design.constant;
  Along left{.gamma = along.gamma, .products = along.products};
  std::visit(
      [&](const auto& matrix) {
        const auto leave_out = [&](const Move& move) {
          const double change = objective.shares[move.row] * move.by / objective.l2;
          double x_w = 0.0, x_m = 0.0, x_x = 0.0;
          const auto take = [&](std::size_t j, double x) {
            x_w += x * w[j];
            x_m += x * w_move_[j];
            x_x += x * x;
            w_move_[j] -= change * x;
          };
          const auto row = matrix.row(move.row);
          row.for_each_entry(take);
          if (constant != 0.0) take(matrix.cols(), constant);
          left.products.w_m -= change * x_w;
          left.products.m_m += change * (change * x_x - 2.0 * x_m);
          entries_ += row.nonzeros();
        };
        std::size_t kept = 0;
        for (const Move& move : moves()) {
          if (stops(move)) {
            leave_out(move);
          } else {
            left.count(move, objective.shares[move.row]);
            moves_[kept++] = move;
          }
        }
        moving_ = kept;
      },
      objective.problem.design.matrix);
  along = left;
  return true;
}

}  // namespace fenchel::solver
