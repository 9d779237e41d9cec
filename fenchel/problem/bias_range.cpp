// An interval that holds the free bias of every optimal solution. For a dual vector alpha in its box with sum
// s = sum c alpha / sum c of either sign, h(b) = min_w P(w, b) >= K(alpha) - s b, a line; and h(b*) <= P(w, b_hat). With
// F the Fenchel-Young gap of (w, b_hat) and alpha, this reads  s (b_hat - b*) <= F:  a bound on b* from one side.
// The trial vectors are beta - theta room: all of them follow from the dual point and one more pass.
#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/problem/certificate.hpp"
#include "fenchel/problem/feasibility.hpp"

namespace fenchel::problem {
namespace {

// The direction in which the sum of the dual vector is moved, with its image under X'.
struct Direction {
  std::vector<double> room;
  std::vector<double> image;  // X' room / sum c
  std::vector<double> image_error;
  double sum = 0.0;  // sum room / sum c, rounded down
};

DualPoint moved(const DualPoint& dual, const Direction& direction, double theta) {
  DualPoint result = dual;
  result.slack.resize(dual.beta.size());
  for (std::size_t i = 0; i < dual.beta.size(); ++i) {
    const double move = theta * direction.room[i];
    result.beta[i] = dual.beta[i] - move;
    result.slack[i] = move == 0.0 ? 0.0 : widen(2 * unit_roundoff * (std::fabs(dual.beta[i]) + std::fabs(move)), 2);
  }
  for (std::size_t j = 0; j < dual.u.size(); ++j) {
    const double move = theta * direction.image[j];
    result.u[j] = dual.u[j] - move;
    result.u_error[j] = widen(dual.u_error[j] + std::fabs(theta) * direction.image_error[j] +
                                  2 * unit_roundoff * (std::fabs(dual.u[j]) + std::fabs(move)),
                              6);
  }
  return result;
}

// F(theta) is about gap + A theta^2 with A unknown, so F/theta falls and then rises: walks towards the least value on a
// geometric grid from `start`, of either sign, up or down. Every value is a bound; a few steps bring a good one.
template <class DistanceAt>
double least_distance(double start, DistanceAt&& distance_at) {
  constexpr double stride = 8.0;
  constexpr int most_steps = 4;
  double best = distance_at(start);
  for (const double factor : {stride, 1.0 / stride}) {
    const double first = best;
    double theta = start * factor;
    for (int k = 0; k < most_steps && std::fabs(theta) <= 0.5; ++k, theta *= factor) {
      const double distance = distance_at(theta);
      if (!(distance < best)) break;
      best = distance;
    }
    if (best < first) break;
  }
  return best;
}

}  // namespace

Interval Certifier::bias_range(const PrimalPoint& primal, const DualPoint& dual,
                               const Certificate& certificate) const {
  const Interval unknown{};
  if (!problem_.free_bias || !(problem_.penalty.strong_convexity() > 0.0) || !certificate.valid()) return unknown;

  Direction direction;
  CompensatedSum sum;
  direction.room.resize(dual.beta.size());
  for (std::size_t i = 0; i < dual.beta.size(); ++i) {
    direction.room[i] = dual_room(dual.beta[i], dual_box(problem_, i), problem_.sample.weight(i));
    sum.add(direction.room[i]);
  }
  direction.sum = narrow(sum.total() / problem_.sample.weight_sum, 16);
  if (!(direction.sum > 0.0)) return unknown;
  direction.image.resize(dual.u.size());
  direction.image_error.resize(dual.u.size());
  map_.adjoint(direction.room, direction.image, direction.image_error);
  for (std::size_t j = 0; j < dual.u.size(); ++j) {
    direction.image[j] /= problem_.sample.weight_sum;
    direction.image_error[j] = widen(map_.adjoint_error(direction.image_error[j]) / problem_.sample.weight_sum +
                                         4 * unit_roundoff * std::fabs(direction.image[j]),
                                     8);
  }

  // beta - theta room has the sum -theta sum(room): for theta > 0 it bounds b* from above, for theta < 0 from below.
  const auto distance_at = [&](double theta) {
    const double gap = pair(primal, moved(dual, direction, theta)).gap;
    return widen(gap / narrow(std::fabs(theta) * direction.sum), 4);
  };
  const double relative =
      certificate.gap > 0.0 ? certificate.gap / std::max(certificate.primal, certificate.gap) : 0.0;
  const double start = std::clamp(std::sqrt(relative), 0x1p-40, 0.5);
  const double above = least_distance(start, distance_at);
  const double below = least_distance(-start, distance_at);
  const double low = primal.b - below, high = primal.b + above;
  return {low - 2 * unit_roundoff * std::fabs(low), high + 2 * unit_roundoff * std::fabs(high)};
}

}  // namespace fenchel::problem
