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
  result.hint = (1.0 - t) * a.hint + t * b.hint;
}

double inner_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace

AcceleratedGradient::AcceleratedGradient(SmoothPart& smooth, SimplePart& simple, CurvatureSearch search)
    : smooth_(smooth),
      simple_(simple),
      lambda1_(smooth.convexity()),
      lambda2_(simple.convexity()),
      lambda_(lambda1_ + lambda2_),
      search_(search) {}

void AcceleratedGradient::restart(AgmPoint start, double L) {
  lambda1_ = smooth_.convexity();
  lambda2_ = simple_.convexity();
  lambda_ = lambda1_ + lambda2_;
  x_ = std::move(start);
  z_ = x_;
  new_z_.x.resize(x_.x.size());
  gradient_.resize(x_.x.size());
  slope_.assign(x_.x.size(), 0.0);
  pull_.resize(x_.x.size());
  mirrored_.resize(x_.x.size());
  search_.L = L;
  floor_ = 0.0;
  may_fall_ = false;
  offset_ = 0.0;
  first_ = true;
  steps_ = 0;
  stationary_ = false;
}

double AcceleratedGradient::first_trial() const {
  if (!search_.adaptive) return search_.L;
  const double lowered = may_fall_ ? search_.L / curvature_decay : search_.L;
  return std::max({lowered, floor_, lambda1_ * (1.0 + 1e-9)});
}

double AcceleratedGradient::advance() {
  double passes = 0.0;
  for (double L = first_trial();; L *= curvature_growth) {
    Trial trial{.weights = weigh(L)};
    const double theta = trial.weights.theta;
    blend(x_, z_, trial.weights.share, u_);
    trial.value_at_u = smooth_.gradient(u_, gradient_);
    const double tangent = trial.value_at_u - inner_product(gradient_, u_.x);
    trial.offset = (1.0 - theta) * offset_ + theta * tangent;
    blend(slope_, gradient_, theta, new_slope_);
    const double weight = hold(trial);
    new_z_.hint = z_.hint;
    simple_.minimize(pull_, weight, new_z_.x);
    smooth_.locate(new_z_);
    passes += 2.0;
    blend(x_, new_z_, theta, new_x_);
    const double f = smooth_.value(new_x_);
    const double value = f + simple_.value(new_x_.x);
    const double bound = bound_after(trial);
    const double resolution =
        comparison * (std::fabs(value) + std::fabs(bound) + std::fabs(trial.offset) + std::fabs(tangent));
    const bool holds = value <= bound + resolution;
    assert((holds || search_.adaptive) && "J(x) exceeds its bound: L is smaller than the curvature of f");
    const bool sensible = std::isfinite(value) && (floor_ > 0.0 ? L < most_growth * floor_ : std::isfinite(L));
    if (search_.adaptive && !holds && sensible) continue;

    accept(trial);
    smooth_.average(theta);
    may_fall_ = L * simple_.divergence(new_x_.x, u_.x) > 100 * resolution;
    if (floor_ == 0.0) floor_ = least_share_of_first * L;
    stationary_ = new_x_.x == x_.x && new_z_.x == z_.x && u_.x == x_.x;
    std::swap(x_, new_x_);
    std::swap(z_, new_z_);
    std::swap(slope_, new_slope_);
    offset_ = trial.offset;
    smooth_value_ = f;
    value_ = value;
    bound_ = bound;
    resolution_ = resolution;
    search_.L = L;
    first_ = false;
    ++steps_;
    return passes;
  }
}

// Algorithm 1, with alpha = a_{k+1} / A_k in place of a_{k+1}.
AgmInfinity::Weights AgmInfinity::weigh(double L) {
  const double q = L - lambda1_;
  if (first_) {
    new_r_ = q;
    return {.theta = 1.0, .share = 0.0};
  }
  const double p = r_ + 2.0 * lambda_;
  const double alpha = (p + std::sqrt(p * p + 4.0 * q * (r_ + lambda_))) / (2.0 * q);
  const double theta = alpha / (1.0 + alpha);
  new_r_ = r_ / (1.0 + alpha);
  const double t1 = r_ + lambda_;
  const double t2 = lambda1_ * alpha;
  const double t3 = lambda2_ * theta;
  const double t = t1 + t2 + t3;
  return {.theta = theta, .share = alpha * t1 / (t * (1.0 + alpha) - t2 * alpha)};
}

// z = argmin <slope, x> + r Delta(x, x0) + lambda1 sum theta_i Delta(x, u_i) + Psi(x)
double AgmInfinity::hold(const Trial& trial) {
  const double theta = trial.weights.theta;
  if (first_) {
    anchor_ = x_.x;
    mirrored_anchor_.resize(anchor_.size());
    simple_.mirror(anchor_, mirrored_anchor_);
    model_pull_.assign(lambda1_ > 0.0 ? anchor_.size() : 0, 0.0);
    model_constant_ = 0.0;
  }
  for (std::size_t j = 0; j < pull_.size(); ++j) pull_[j] = new_r_ * mirrored_anchor_[j] - new_slope_[j];
  if (lambda1_ == 0.0) return new_r_;
  simple_.mirror(u_.x, mirrored_);
  blend(model_pull_, mirrored_, theta, new_model_pull_);
  new_model_constant_ = (1.0 - theta) * model_constant_ + theta * simple_.divergence(anchor_, u_.x);
  for (std::size_t j = 0; j < pull_.size(); ++j) pull_[j] += lambda1_ * new_model_pull_[j];
  return new_r_ + lambda1_;
}

double AgmInfinity::bound_after(const Trial& trial) {
  const double away = simple_.divergence(new_z_.x, anchor_);
  double psi = trial.offset + inner_product(new_slope_, new_z_.x) + new_r_ * away + simple_.value(new_z_.x);
  if (lambda1_ > 0.0) {
    double turned = 0.0;
    for (std::size_t j = 0; j < anchor_.size(); ++j) {
      turned += (mirrored_anchor_[j] - new_model_pull_[j]) * (new_z_.x[j] - anchor_[j]);
    }
    psi += lambda1_ * (away + turned + new_model_constant_);
  }
  return psi;
}

void AgmInfinity::accept(const Trial& /*trial*/) {
  r_ = new_r_;
  std::swap(model_pull_, new_model_pull_);
  model_constant_ = new_model_constant_;
}

// Algorithm 3: a is the root in (0, 1] of (L + lambda2) a^2 + (c - lambda) a - c = 0.
AgmOne::Weights AgmOne::weigh(double L) {
  trial_L_ = L;
  if (first_) {
    new_c_ = L + lambda2_;
    return {.theta = 1.0, .share = 0.0};
  }
  const double curvature = L + lambda2_;
  const double half = c_ - lambda_;
  const double root = std::sqrt(half * half + 4.0 * curvature * c_);
  const double a = std::min(1.0, half >= 0.0 ? 2.0 * c_ / (half + root) : (root - half) / (2.0 * curvature));
  new_c_ = (1.0 - a) * c_ + lambda_ * a;
  const double t1 = (1.0 - a) * c_;
  const double t2 = lambda1_ * a;
  const double t3 = lambda2_ * a * (1.0 - a);
  const double t = t1 + t2 + t3;
  return {.theta = a, .share = t > 0.0 ? t1 * a / (t - t2 * a) : 0.0};
}

// z = argmin (1 - a) c Delta(x, z) + a (lambda1 Delta(x, u) + <f'(u), x> + Psi(x)), divided by a
double AgmOne::hold(const Trial& trial) {
  const double a = trial.weights.theta;
  const double back = first_ ? trial_L_ : (1.0 - a) * c_ / a;
  simple_.mirror(first_ ? u_.x : z_.x, mirrored_);
  for (std::size_t j = 0; j < pull_.size(); ++j) pull_[j] = back * mirrored_[j] - gradient_[j];
  if (first_ || lambda1_ == 0.0) return back;
  simple_.mirror(u_.x, mirrored_);
  for (std::size_t j = 0; j < pull_.size(); ++j) pull_[j] += lambda1_ * mirrored_[j];
  return back + lambda1_;
}

double AgmOne::bound_after(const Trial& trial) {
  const double a = trial.weights.theta;
  double model = trial.value_at_u + simple_.value(new_z_.x);
  for (std::size_t j = 0; j < gradient_.size(); ++j) model += gradient_[j] * (new_z_.x[j] - u_.x[j]);
  if (first_) return new_q_ = trial_L_ * simple_.divergence(new_z_.x, u_.x) + model;
  if (lambda1_ > 0.0) model += lambda1_ * simple_.divergence(new_z_.x, u_.x);
  return new_q_ = (1.0 - a) * (c_ * simple_.divergence(new_z_.x, z_.x) + q_) + a * model;
}

void AgmOne::accept(const Trial& trial) {
  if (first_) {
    first_curvature_ = trial_L_;
    remaining_ = 1.0;
  } else {
    remaining_ *= 1.0 - trial.weights.theta;
  }
  c_ = new_c_;
  q_ = new_q_;
}

}  // namespace fenchel::solver
