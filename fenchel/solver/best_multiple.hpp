// The best multiple of a point: the t that minimises  R(t z) + t^2 g,  with R the risk at scores z and g the value of a plain l2
// penalty. Where classes can almost be separated, weights on their way to the optimum miss most margins by a little, and pay for
// it at every row; a multiple of them does not.
#pragma once

#include <algorithm>

namespace fenchel::solver {

// Risk and its derivative at a multiple t.
struct Ray {
  double risk = 0.0;
  double slope = 0.0;
  void add(const Ray& other) {
    risk += other.risk;
    slope += other.slope;
  }
};

struct Multiple {
  double factor = 1.0;
  double value = 0.0;
};

// Looks for a change of sign of the slope of a convex function at growing distances from 1, then halves the interval until it is
// narrow against its distance from 1: the better the point, the nearer to 1 is its best multiple. Below `nearest` nothing is gained.
template <class RayAt>
Multiple best_multiple(double penalty, RayAt&& ray_at) {
  constexpr double nearest = 1e-8, farthest = 3.0, growth = 4.0, narrow = 0.05;
  const auto slope_at = [&](double t) { return ray_at(t).slope + 2 * t * penalty; };
  const double sign = slope_at(1.0) < 0.0 ? 1.0 : -1.0;
  const double limit = sign > 0.0 ? farthest : 1.0;
  double near = 0.0, far = nearest;  // distances from 1
  while (far < limit && sign * slope_at(1.0 + sign * far) < 0.0) {
    near = far;
    far = std::min(growth * far, limit);
  }
  while (near > 0.0 && far - near > narrow * far) {
    const double middle = 0.5 * (near + far);
    (sign * slope_at(1.0 + sign * middle) < 0.0 ? near : far) = middle;
  }
  const auto multiple = [&](double t) { return Multiple{.factor = t, .value = ray_at(t).risk + t * t * penalty}; };
  const Multiple itself = multiple(1.0), best = multiple(1.0 + sign * near);
  return best.value < itself.value ? best : itself;
}

}  // namespace fenchel::solver
