#include "fenchel/solver/simplex_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fenchel/base/dense.hpp"
#include "fenchel/base/interval.hpp"

namespace fenchel::solver {
namespace {

constexpr int pairs_a_round = 50;
constexpr int most_qp_rounds = 1000;
// Added to the diagonal of the system on the support, relative to its largest entry: repeated cuts make it singular.
constexpr double least_ridge = 1e-13;

class SimplexQp {
 public:
  using Vector = dense::Vector;

  SimplexQp(std::span<const double> Q, std::span<const double> b, std::span<double> theta)
      : Q_(Q.data(), static_cast<Eigen::Index>(b.size()), static_cast<Eigen::Index>(b.size())),
        b_(Eigen::Map<const Vector>(b.data(), static_cast<Eigen::Index>(b.size()))),
        theta_(theta.data(), static_cast<Eigen::Index>(theta.size())) {
    refresh();
  }

  double maximize(double tolerance) {
    double least = gap();
    for (int round = 0; round < most_qp_rounds && least > tolerance; ++round) {
      for (int k = 0; k < pairs_a_round && gap() > tolerance; ++k) {
        if (!move_pair()) break;
      }
      polish();
      const double now = gap();
      // On the way down the gap may rise, while the objective never falls: only a standstill ends the loop.
      const bool moved = refresh_value();
      if (now <= tolerance || (!moved && !(now < least))) return now;
      least = std::min(least, now);
    }
    return gap();
  }

 private:
  void refresh() {
    theta_ /= theta_.sum();
    g_ = b_ - Q_ * theta_;
  }

  // Recomputes the derivatives and tells whether the objective has grown since the last time.
  bool refresh_value() {
    refresh();
    const double value = 0.5 * theta_.dot(g_ + b_);
    const bool grown = value > value_;
    value_ = std::max(value_, value);
    return grown;
  }

  [[nodiscard]] double gap() const {
    // Written as a sum of non-negative terms.
    const double most = g_.maxCoeff();
    return theta_.dot((most - g_.array()).matrix());
  }

  bool move_pair() {
    Eigen::Index to = 0;
    g_.maxCoeff(&to);
    Eigen::Index from = -1;
    double best_gain = 0.0, best_step = 0.0;
    for (Eigen::Index j = 0; j < theta_.size(); ++j) {
      if (!(theta_[j] > 0.0) || j == to) continue;
      const double rise = g_[to] - g_[j];
      if (!(rise > 0.0)) continue;
      const double curvature = Q_(to, to) + Q_(j, j) - 2 * Q_(to, j);
      const double step = curvature * theta_[j] > rise ? rise / curvature : theta_[j];
      const double gain = step * (rise - 0.5 * std::max(curvature, 0.0) * step);
      if (gain > best_gain) {
        best_gain = gain;
        best_step = step;
        from = j;
      }
    }
    if (from < 0) return false;
    theta_[to] += best_step;
    theta_[from] = best_step == theta_[from] ? 0.0 : theta_[from] - best_step;
    g_ -= best_step * (Q_.col(to) - Q_.col(from));
    return true;
  }

  // Newton steps on the support, each until a coordinate vanishes or all derivatives agree.
  void polish() {
    for (Eigen::Index k = 0; k <= theta_.size(); ++k) {
      refresh();
      if (step_on_support()) return;
    }
  }

  // Whether the step was taken whole. Directions are differences to the coordinate of the largest weight.
  bool step_on_support() {
    Eigen::Index base = 0;
    theta_.maxCoeff(&base);
    support_.clear();
    for (Eigen::Index j = 0; j < theta_.size(); ++j) {
      if (theta_[j] > 0.0 && j != base) support_.push_back(j);
    }
    if (support_.empty()) return true;
    const auto size = static_cast<Eigen::Index>(support_.size());
    dense::Matrix M(size, size);
    Vector rise(size);
    for (Eigen::Index p = 0; p < size; ++p) {
      const Eigen::Index j = support_[static_cast<std::size_t>(p)];
      rise[p] = g_[j] - g_[base];
      for (Eigen::Index q = 0; q <= p; ++q) {
        const Eigen::Index k = support_[static_cast<std::size_t>(q)];
        M(p, q) = M(q, p) = (Q_(j, k) - Q_(j, base)) - (Q_(base, k) - Q_(base, base));
      }
    }
    const Vector change = solve(M, rise);
    const double at_base = -change.sum();
    if (!change.allFinite() || !(rise.dot(change) > 0.0)) return true;

    double step = 1.0;
    Eigen::Index leaving = -1;
    const auto limit = [&](Eigen::Index j, double d) {
      if (d < 0.0 && theta_[j] < -d * step) {
        step = theta_[j] / -d;
        leaving = j;
      }
    };
    for (Eigen::Index p = 0; p < size; ++p) limit(support_[static_cast<std::size_t>(p)], change[p]);
    limit(base, at_base);
    for (Eigen::Index p = 0; p < size; ++p) {
      double& t = theta_[support_[static_cast<std::size_t>(p)]];
      t = std::max(0.0, t + step * change[p]);
    }
    theta_[base] = std::max(0.0, theta_[base] + step * at_base);
    if (leaving >= 0) theta_[leaving] = 0.0;
    refresh();
    return leaving < 0;
  }

  static Vector solve(dense::Matrix& M, Vector rise) {
    const double scale = std::max(M.diagonal().maxCoeff(), std::numeric_limits<double>::min());
    double added = 0.0;
    dense::Cholesky cholesky;
    for (double ridge = least_ridge; ridge < 1.0; ridge *= 100) {
      M.diagonal().array() += ridge * scale - added;
      added = ridge * scale;
      if (!cholesky.factorize(M)) continue;
      cholesky.solve_in_place(rise);
      return rise;
    }
    return rise / scale;
  }

  Eigen::Map<const dense::Matrix> Q_;
  Vector b_;
  Eigen::Map<Vector> theta_;
  Vector g_;
  double value_ = -infinity;
  std::vector<Eigen::Index> support_;
};

}  // namespace

double maximize_on_simplex(std::span<const double> Q, std::span<const double> b, std::span<double> theta,
                           double tolerance) {
  return SimplexQp(Q, b, theta).maximize(tolerance);
}

}  // namespace fenchel::solver
