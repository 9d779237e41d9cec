#include "fenchel/solver/accelerated_gradient.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

constexpr double curvature_growth = 2.0;
constexpr double curvature_decay = 1.2;
constexpr double least_share_of_first = 1e-3;  // of the first L that held
constexpr double most_growth = 1e12;           // of L over its floor: beyond, rounding fails the test and not L
// Differences below this share of the terms are rounding, not a violated bound.
constexpr double comparison = 1e-12;

// result = (1 - t) a + t b, exact at both ends.
void blend(const std::vector<double>& a, const std::vector<double>& b, double t, std::vector<double>& result) {
  result.resize(a.size());
  for_each_block(a.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) result[j] = (1.0 - t) * a[j] + t * b[j];
  });
}

void blend(const AgmPoint& a, const AgmPoint& b, double t, AgmPoint& result) {
  blend(a.x, b.x, t, result.x);
  blend(a.image, b.image, t, result.image);
  blend(a.hint, b.hint, t, result.hint);
}

double inner_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace

AcceleratedGradient::AcceleratedGradient(SmoothPart& smooth, SimplePart& simple, CurvatureSearch search)
    : f(smooth),
      psi(simple),
      lambda1(smooth.convexity()),
      lambda2(simple.convexity()),
      lambda(lambda1 + lambda2),
      search_(search) {}

void AcceleratedGradient::restart(AgmPoint start, double L) {
  lambda1 = f.convexity();
  lambda2 = psi.convexity();
  lambda = lambda1 + lambda2;
  at.x = std::move(start);
  at.z = at.x;
  at.new_z.x.resize(at.x.x.size());
  at.gradient.resize(at.x.x.size());
  at.slope.assign(at.x.x.size(), 0.0);
  at.pull.resize(at.x.x.size());
  at.mirrored.resize(at.x.x.size());
  search_.L = L;
  floor_ = 0.0;
  may_fall_ = false;
  offset_ = 0.0;
  first = true;
  steps_ = 0;
  stationary_ = false;
}

double AcceleratedGradient::first_trial() const {
  if (!search_.adaptive) return search_.L;
  const double lowered = may_fall_ ? search_.L / curvature_decay : search_.L;
  return std::max({lowered, floor_, lambda1 * (1.0 + 1e-9)});
}

double AcceleratedGradient::advance() {
  double passes = 0.0;
  for (double L = first_trial();; L *= curvature_growth) {
    Trial trial{.weights = weigh(L)};
    const double theta = trial.weights.theta;
    blend(at.x, at.z, trial.weights.share, at.u);
    trial.value_at_u = f.gradient(at.u, at.gradient);
    const double tangent = trial.value_at_u - inner_product(at.gradient, at.u.x);
    trial.offset = (1.0 - theta) * offset_ + theta * tangent;
    blend(at.slope, at.gradient, theta, at.new_slope);
    const double weight = hold(trial);
    at.new_z.hint = at.u.hint;
    psi.minimize(at.pull, weight, at.new_z.x);
    f.locate(at.new_z);
    passes += 2.0;
    blend(at.x, at.new_z, theta, at.new_x);
    const double risk = f.value(at.new_x);
    const double value = risk + psi.value(at.new_x.x);
    const double bound = bound_after(trial);
    const double resolution =
        comparison * (std::fabs(value) + std::fabs(bound) + std::fabs(trial.offset) + std::fabs(tangent));
    const bool holds = value <= bound + resolution;
    assert((holds || search_.adaptive) && "J(x) exceeds its bound: L is smaller than the curvature of f");
    const bool sensible = std::isfinite(value) && (floor_ > 0.0 ? L < most_growth * floor_ : std::isfinite(L));
    if (search_.adaptive && !holds && sensible) continue;

    accept(trial);
    f.average(theta);
    may_fall_ = L * psi.divergence(at.new_x.x, at.u.x) > 100 * resolution;
    if (floor_ == 0.0) floor_ = least_share_of_first * L;
    stationary_ = at.new_x.x == at.x.x && at.new_z.x == at.z.x && at.u.x == at.x.x;
    std::swap(at.x, at.new_x);
    std::swap(at.z, at.new_z);
    std::swap(at.slope, at.new_slope);
    offset_ = trial.offset;
    smooth_value_ = risk;
    value_ = value;
    bound_ = bound;
    resolution_ = resolution;
    if (holds) search_.L = L;  // else rounding failed the test, not L
    first = false;
    ++steps_;
    return passes;
  }
}

// Algorithm 1, with alpha = a_{k+1} / A_k in place of a_{k+1}.
AgmInfinity::Weights AgmInfinity::weigh(double L) {
  const double q = L - lambda1;
  if (first) {
    new_r_ = q;
    return {.theta = 1.0, .share = 0.0};
  }
  const double p = r_ + 2.0 * lambda;
  const double alpha = (p + std::sqrt(p * p + 4.0 * q * (r_ + lambda))) / (2.0 * q);
  const double theta = alpha / (1.0 + alpha);
  new_r_ = r_ / (1.0 + alpha);
  const double t1 = r_ + lambda;
  const double t2 = lambda1 * alpha;
  const double t3 = lambda2 * theta;
  const double t = t1 + t2 + t3;
  return {.theta = theta, .share = alpha * t1 / (t * (1.0 + alpha) - t2 * alpha)};
}

// z = argmin <slope, x> + r Delta(x, x0) + lambda1 sum theta_i Delta(x, u_i) + Psi(x)
double AgmInfinity::hold(const Trial& trial) {
  const double theta = trial.weights.theta;
  if (first) {
    anchor_ = at.x.x;
    mirrored_anchor_.resize(anchor_.size());
    psi.mirror(anchor_, mirrored_anchor_);
    model_pull_.assign(lambda1 > 0.0 ? anchor_.size() : 0, 0.0);
    model_constant_ = 0.0;
  }
  for (std::size_t j = 0; j < at.pull.size(); ++j) at.pull[j] = new_r_ * mirrored_anchor_[j] - at.new_slope[j];
  if (lambda1 == 0.0) return new_r_;
  psi.mirror(at.u.x, at.mirrored);
  blend(model_pull_, at.mirrored, theta, new_model_pull_);
  new_model_constant_ = (1.0 - theta) * model_constant_ + theta * psi.divergence(anchor_, at.u.x);
  for (std::size_t j = 0; j < at.pull.size(); ++j) at.pull[j] += lambda1 * new_model_pull_[j];
  return new_r_ + lambda1;
}

double AgmInfinity::bound_after(const Trial& trial) {
  const double away = psi.divergence(at.new_z.x, anchor_);
  double bound = trial.offset + inner_product(at.new_slope, at.new_z.x) + new_r_ * away + psi.value(at.new_z.x);
  if (lambda1 > 0.0) {
    double turned = 0.0;
    for (std::size_t j = 0; j < anchor_.size(); ++j) {
      turned += (mirrored_anchor_[j] - new_model_pull_[j]) * (at.new_z.x[j] - anchor_[j]);
    }
    bound += lambda1 * (away + turned + new_model_constant_);
  }
  return bound;
}

void AgmInfinity::accept(const Trial& /*trial*/) {
  r_ = new_r_;
  std::swap(model_pull_, new_model_pull_);
  model_constant_ = new_model_constant_;
}

// Algorithm 3: a is the root in (0, 1] of (L + lambda2) a^2 + (c - lambda) a - c = 0.
AgmOne::Weights AgmOne::weigh(double L) {
  trial_L_ = L;
  if (first) {
    new_c_ = L + lambda2;
    return {.theta = 1.0, .share = 0.0};
  }
  const double curvature = L + lambda2;
  const double half = c_ - lambda;
  const double root = std::sqrt(half * half + 4.0 * curvature * c_);
  const double a = std::min(1.0, half >= 0.0 ? 2.0 * c_ / (half + root) : (root - half) / (2.0 * curvature));
  new_c_ = (1.0 - a) * c_ + lambda * a;
  const double t1 = (1.0 - a) * c_;
  const double t2 = lambda1 * a;
  const double t3 = lambda2 * a * (1.0 - a);
  const double t = t1 + t2 + t3;
  return {.theta = a, .share = t > 0.0 ? t1 * a / (t - t2 * a) : 0.0};
}

// z = argmin (1 - a) c Delta(x, z) + a (lambda1 Delta(x, u) + <f'(u), x> + Psi(x)), divided by a
double AgmOne::hold(const Trial& trial) {
  const double a = trial.weights.theta;
  const double back = first ? trial_L_ : (1.0 - a) * c_ / a;
  psi.mirror(first ? at.u.x : at.z.x, at.mirrored);
  for (std::size_t j = 0; j < at.pull.size(); ++j) at.pull[j] = back * at.mirrored[j] - at.gradient[j];
  if (first || lambda1 == 0.0) return back;
  psi.mirror(at.u.x, at.mirrored);
  for (std::size_t j = 0; j < at.pull.size(); ++j) at.pull[j] += lambda1 * at.mirrored[j];
  return back + lambda1;
}

double AgmOne::bound_after(const Trial& trial) {
  const double a = trial.weights.theta;
  double model = trial.value_at_u + psi.value(at.new_z.x);
  for (std::size_t j = 0; j < at.gradient.size(); ++j) model += at.gradient[j] * (at.new_z.x[j] - at.u.x[j]);
  if (first) return new_q_ = trial_L_ * psi.divergence(at.new_z.x, at.u.x) + model;
  if (lambda1 > 0.0) model += lambda1 * psi.divergence(at.new_z.x, at.u.x);
  return new_q_ = (1.0 - a) * (c_ * psi.divergence(at.new_z.x, at.z.x) + q_) + a * model;
}

void AgmOne::accept(const Trial& trial) {
  if (first) {
    first_curvature_ = trial_L_;
    remaining_ = 1.0;
  } else {
    remaining_ *= 1.0 - trial.weights.theta;
  }
  c_ = new_c_;
  q_ = new_q_;
}

}  // namespace fenchel::solver
