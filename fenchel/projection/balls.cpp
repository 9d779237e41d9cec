#include "fenchel/projection/balls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fenchel/base/error.hpp"
#include "fenchel/projection/piecewise_root.hpp"

namespace fenchel::projection {
namespace {

constexpr double no_end = std::numeric_limits<double>::infinity();

void check_ball(std::span<const double> point, double radius) {
  if (!(radius >= 0.0 && radius < no_end))
    throw Error(Fault::usage, fmt::format("a radius of {} is not a finite number >= 0", radius));
  for (std::size_t j = 0; j < point.size(); ++j) {
    if (!std::isfinite(point[j]))
      throw Error(Fault::usage, fmt::format("entry {} of a point to project is not finite", j));
  }
}

void check_simplex(std::span<const double> point, double radius) {
  check_ball(point, radius);
  if (point.empty() && radius > 0.0)
    throw Error(Fault::usage, fmt::format("a simplex without coordinates has no point with the sum {}", radius));
}

void check_elastic_net(std::span<const double> point, double rho, double radius) {
  check_ball(point, radius);
  if (!(rho >= 0.0 && rho <= 1.0))
    throw Error(Fault::usage, fmt::format("a share {} of the l1 norm is not between 0 and 1", rho));
}

double largest_magnitude(std::span<const double> list) {
  double largest = 0.0;
  for (const double x : list) largest = std::max(largest, std::fabs(x));
  return largest;
}

template <class Term>
double exact_sum(std::size_t count, const Term& term) {
  return block_sum<CompensatedSum>(count, [&](std::size_t j, CompensatedSum& sum) { sum.add(term(j)); }).total();
}

double euclidean_norm(std::span<const double> list) {
  const double largest = largest_magnitude(list);
  if (largest == 0.0) return 0.0;
  const double squares =
      exact_sum(list.size(), [&](std::size_t j) { return (list[j] / largest) * (list[j] / largest); });
  return largest * std::sqrt(squares);
}

template <class Write>
void write_each(std::span<double> result, const Write& write) {
  for_each_block(result.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) result[j] = write(j);
  });
}

void copy_point(std::span<const double> point, std::span<double> result) {
  write_each(result, [&](std::size_t j) { return point[j]; });
}

// Where the elastic-net ball's boundary is met, as a function of the multiplier theta:
//     a_j = [|p_j| - theta rho]_+ / (start + theta kappa),
// with start = 1 for the projection and 0 for the support function. Points are scaled to largest magnitude 1 (for the
// projection kappa and r with them), so that no square overflows.
struct ElasticNetBoundary {
  double rho = 0.0, kappa = 0.0, radius = 0.0, start = 0.0;
  double theta = 0.0, shift = 0.0;  // the multiplier in more digits than one double has

  [[nodiscard]] double coordinate(double p) const {
    const double above = (std::fabs(p) - theta * rho) - shift * rho;
    return above > 0.0 ? std::copysign(above / ((start + theta * kappa) + shift * kappa), p) : 0.0;
  }

  // Newton's steps on theta for what rounding left over of the condition: da/dtheta = -(rho + kappa a)/(start + theta kappa).
  template <class Entry>
  void refine(std::size_t count, const Entry& entry) {
    struct Sums {
      CompensatedSum size;
      double square = 0.0;
      void add(const Sums& other) { size.add(other.size), square += other.square; }
    };
    constexpr int most_corrections = 3;
    for (int k = 0; k < most_corrections; ++k) {
      Sums sums = block_sum<Sums>(count, [&](std::size_t j, Sums& sum) {
        const double a = std::fabs(coordinate(entry(j)));
        if (a == 0.0) return;
        sum.size.add(a * (rho + 0.5 * kappa * a));
        sum.square += (rho + kappa * a) * (rho + kappa * a);
      });
      sums.size.add(-radius);
      const double excess = sums.size.total();
      if (std::fabs(excess) <= 4 * unit_roundoff * radius || sums.square == 0.0) break;
      shift += excess * (start + theta * kappa) / sums.square;
    }
  }
};

// The multiplier of a point outside; `scale` is its largest magnitude.
ElasticNetBoundary project_boundary(std::span<const double> point, double scale, double rho, double radius) {
  ElasticNetBoundary ball{.rho = rho, .kappa = (1.0 - rho) * scale, .radius = radius / scale, .start = 1.0};
  const std::size_t count = point.size();
  const auto pieces = [&](std::size_t j) -> Piece {
    const double size = std::fabs(point[j]) / scale;
    return {size * (2 * rho + ball.kappa * size), rho * rho, 0.0, no_end};
  };
  const double tau = std::max(0.0, -piecewise_root(pieces, count, 2 * ball.radius, 2 * ball.radius * ball.kappa));
  ball.theta = tau / (1.0 + std::sqrt(1.0 + ball.kappa * tau));
  ball.refine(count, [&](std::size_t j) { return point[j] / scale; });
  return ball;
}

// That of the support function; rho < 1, and u is not 0.
ElasticNetBoundary support_boundary(std::span<const double> u, double scale, double rho, double radius) {
  ElasticNetBoundary ball{.rho = rho, .kappa = 1.0 - rho, .radius = radius, .start = 0.0};
  const std::size_t count = u.size();
  const auto pieces = [&](std::size_t j) -> Piece {
    const double size = std::fabs(u[j]) / scale;
    return {size * size, rho * rho, 0.0, no_end};
  };
  ball.theta = std::sqrt(std::max(0.0, -piecewise_root(pieces, count, 0.0, 2 * ball.radius * ball.kappa)));
  ball.refine(count, [&](std::size_t j) { return u[j] / scale; });
  return ball;
}

void put_at_first(std::span<double> result, std::size_t place, double value) {
  std::fill(result.begin(), result.end(), 0.0);
  if (!result.empty()) result[place] = value;
}

}  // namespace

void project_simplex(std::span<const double> point, double radius, std::span<double> result) {
  check_simplex(point, radius);
  if (radius == 0.0) return std::fill(result.begin(), result.end(), 0.0);
  const auto pieces = [&](std::size_t j) -> Piece { return {point[j], 1.0, 0.0, no_end}; };
  const PreciseRoot root = precise_root(pieces, point.size(), radius);
  write_each(result, [&](std::size_t j) { return root.apply(pieces(j)); });
}

void project_l1_ball(std::span<const double> point, double radius, std::span<double> result) {
  check_ball(point, radius);
  if (exact_sum(point.size(), [&](std::size_t j) { return std::fabs(point[j]); }) <= radius)
    return copy_point(point, result);
  if (radius == 0.0) return std::fill(result.begin(), result.end(), 0.0);
  const auto pieces = [&](std::size_t j) -> Piece { return {std::fabs(point[j]), 1.0, 0.0, no_end}; };
  const PreciseRoot root = precise_root(pieces, point.size(), radius);
  write_each(result, [&](std::size_t j) {
    const double size = root.apply(pieces(j));
    return size > 0.0 ? std::copysign(size, point[j]) : 0.0;
  });
}

void project_l2_ball(std::span<const double> point, double radius, std::span<double> result) {
  check_ball(point, radius);
  const double norm = euclidean_norm(point);
  if (norm <= radius) return copy_point(point, result);
  write_each(result, [&](std::size_t j) { return radius * (point[j] / norm); });
}

void project_elastic_net_ball(std::span<const double> point, double rho, double radius, std::span<double> result) {
  check_elastic_net(point, rho, radius);
  if (rho == 1.0) return project_l1_ball(point, radius, result);
  if (elastic_net_size(point, rho) <= radius) return copy_point(point, result);
  if (radius == 0.0) return std::fill(result.begin(), result.end(), 0.0);
  const double scale = largest_magnitude(point);
  const ElasticNetBoundary ball = project_boundary(point, scale, rho, radius);
  write_each(result, [&](std::size_t j) { return scale * ball.coordinate(point[j] / scale); });
}

double support_simplex(std::span<const double> u, double radius) {
  check_simplex(u, radius);
  return u.empty() ? 0.0 : radius * *std::max_element(u.begin(), u.end());
}

double support_l1_ball(std::span<const double> u, double radius) {
  check_ball(u, radius);
  return radius * largest_magnitude(u);
}

double support_l2_ball(std::span<const double> u, double radius) {
  check_ball(u, radius);
  return radius * euclidean_norm(u);
}

double support_elastic_net_ball(std::span<const double> u, double rho, double radius) {
  check_elastic_net(u, rho, radius);
  if (rho == 1.0) return support_l1_ball(u, radius);
  const double scale = largest_magnitude(u);
  if (scale == 0.0 || radius == 0.0) return 0.0;
  const ElasticNetBoundary ball = support_boundary(u, scale, rho, radius);
  return scale * exact_sum(u.size(), [&](std::size_t j) { return u[j] / scale * ball.coordinate(u[j] / scale); });
}

void maximize_simplex(std::span<const double> u, double radius, std::span<double> result) {
  check_simplex(u, radius);
  const auto largest = std::max_element(u.begin(), u.end());
  put_at_first(result, static_cast<std::size_t>(largest - u.begin()), radius);
}

void maximize_l1_ball(std::span<const double> u, double radius, std::span<double> result) {
  check_ball(u, radius);
  const auto smaller = [](double x, double y) { return std::fabs(x) < std::fabs(y); };
  const auto largest = std::max_element(u.begin(), u.end(), smaller);
  const bool zero = u.empty() || *largest == 0.0;
  const double value = zero ? 0.0 : std::copysign(radius, *largest);
  put_at_first(result, static_cast<std::size_t>(largest - u.begin()), value);
}

void maximize_l2_ball(std::span<const double> u, double radius, std::span<double> result) {
  check_ball(u, radius);
  const double norm = euclidean_norm(u);
  write_each(result, [&](std::size_t j) { return norm > 0.0 ? radius * (u[j] / norm) : 0.0; });
}

void maximize_elastic_net_ball(std::span<const double> u, double rho, double radius, std::span<double> result) {
  check_elastic_net(u, rho, radius);
  if (rho == 1.0) return maximize_l1_ball(u, radius, result);
  const double scale = largest_magnitude(u);
  if (scale == 0.0 || radius == 0.0) return std::fill(result.begin(), result.end(), 0.0);
  const ElasticNetBoundary ball = support_boundary(u, scale, rho, radius);
  write_each(result, [&](std::size_t j) { return ball.coordinate(u[j] / scale); });
}

double elastic_net_size(std::span<const double> w, double rho) {
  return exact_sum(w.size(), [&](std::size_t j) {
    const double size = std::fabs(w[j]);
    return size * (rho + 0.5 * (1.0 - rho) * size);
  });
}

}  // namespace fenchel::projection
