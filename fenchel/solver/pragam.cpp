#include "fenchel/solver/pragam.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/solver/metric.hpp"

namespace fenchel::solver {
namespace {

constexpr double pragam_growth = 2.0;
constexpr double pragam_decay = 1.2;
constexpr double pragam_floor = 1e-3;        // of the first L that held
constexpr double pragam_resolution = 1e-14;  // of the objective: below lies rounding

void mix(const std::vector<double>& a, const std::vector<double>& b, double t, std::vector<double>& result) {
  for_each_block(a.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) result[k] = (1.0 - t) * a[k] + t * b[k];
  });
}

// The start's alpha if it is feasible, else 0.
std::vector<double> feasible_centre(const problem::Problem& problem, std::span<const double> alpha) {
  std::vector<double> centre(problem.rows(), 0.0);
  if (alpha.empty()) return centre;
  CompensatedSum sum;
  for (std::size_t i = 0; i < centre.size(); ++i) {
    if (problem.sample.weight(i) == 0.0) continue;
    const Interval domain =
        std::visit([&](const auto& l) { return l.dual_domain(problem.sample.targets[i]); }, problem.loss);
    centre[i] = domain.clamp(alpha[i]);
    sum.add(problem.sample.weight(i) * centre[i]);
  }
  const bool feasible = !problem.free_bias || std::fabs(sum.total()) <= 1e-12 * problem.sample.weight_sum;
  if (!feasible) std::fill(centre.begin(), centre.end(), 0.0);
  return centre;
}

}  // namespace

std::optional<std::string_view> Pragam::missing(const loss::Any& /*loss*/, const penalty::Separable& penalty) {
  if (!(penalty.strong_convexity() > 0.0)) return "a penalty that is strongly convex in every feature";
  return std::nullopt;
}

Pragam::Pragam(const problem::Problem& problem, const Start& start, const Conduct& conduct)
    : problem_(problem),
      dual_(problem.design, problem.sample, problem.loss, problem.free_bias),
      risk_(problem.design, problem.sample, problem.loss, problem.free_bias),
      adaptive_(conduct.gradient.curvature == Curvature::search),
      L_(std::max((adaptive_ ? 0.1 : 1.0) * conjugate_curvature(problem.penalty, dual_), 1e-300)),
      centre_(feasible_centre(problem, start.alpha)),
      b_(start.b) {
  const std::size_t n = problem.rows();
  const std::size_t d = problem.dimension();
  for (auto* rows : {&beta_z_, &alpha_, &peak_, &v_}) rows->resize(n);
  for (auto* columns : {&w_, &beta_w_, &alpha_u_, &peak_u_, &beta_u_, &v_u_}) columns->resize(d);
  at_w_.z.resize(n);
  beta_ = centre_;
}

double Pragam::step() {
  double passes = 0.0;
  if (!begun_) return begin();
  b_ = dual_.step(at_w_.z, centre_, mu_, b_, peak_);
  dual_.induce(peak_, peak_u_);
  passes += 1.0;
  double tau = 0.0;
  for (double L = may_fall_ ? std::max(L_ / pragam_decay, least_L_) : L_;; L *= pragam_growth) {
    const double q = (mu_ + dual_.convexity()) / L;
    tau = 2.0 * q / (q + std::sqrt(q * q + 4.0 * q));
    mix(alpha_, peak_, tau, beta_);
    mix(alpha_u_, peak_u_, tau, beta_u_);
    passes += 2.0;
    if (advance_from_beta(L)) break;
  }
  stationary_ = v_ == alpha_ && beta_w_ == w_;
  std::swap(alpha_, v_);
  std::swap(alpha_u_, v_u_);
  mix(w_, beta_w_, tau, w_);
  mix(at_w_.z, beta_z_, tau, at_w_.z);
  mu_ *= 1.0 - tau;
  look();
  assert(excess() >= -1e-10 * scale_ && "the excessive gap is lost");
  return passes;
}

// From the centre: w = w(centre), alpha = v(centre), mu = L.
double Pragam::begin() {
  double passes = 0.0;
  dual_.induce(centre_, beta_u_);
  scale_ = std::fabs(dual_.conjugate(centre_)) + risk_.unsmoothed_value(at_w_);
  for (passes += 1.0;; L_ *= pragam_growth) {
    passes += 2.0;
    if (advance_from_beta(L_)) break;
  }
  least_L_ = pragam_floor * L_;
  mu_ = L_;
  std::swap(alpha_, v_);
  std::swap(alpha_u_, v_u_);
  w_ = beta_w_;
  at_w_.z = beta_z_;
  begun_ = true;
  look();
  return passes;
}

void Pragam::take_conjugate_gradient() {
  for (std::size_t j = 0; j < beta_w_.size(); ++j) {
    beta_w_[j] = problem_.penalty[j].conjugate_gradient(beta_u_[j]);
  }
}

bool Pragam::advance_from_beta(double L) {
  take_conjugate_gradient();
  dual_.margins(beta_w_, beta_z_);
  v_bias_ = dual_.step(beta_z_, beta_, L, v_bias_, v_);
  dual_.induce(v_, v_u_);
  // Omega* above its tangent at u(beta) is the Fenchel-Young term of w(beta) and u(v): no cancellation.
  double excess = 0.0;
  for (std::size_t j = 0; j < v_u_.size(); ++j) excess += problem_.penalty[j].fenchel_young(beta_w_[j], v_u_[j]);
  const double model = L * dual_.half_square_distance(v_, beta_);
  const double rounding = pragam_resolution * scale_;
  if (adaptive_ && excess > model + rounding && std::isfinite(excess) && std::isfinite(L)) return false;
  may_fall_ = adaptive_ && model > 100 * rounding;
  L_ = L;
  return true;
}

double Pragam::dual_value() const {
  double conjugate = 0.0;
  for (std::size_t j = 0; j < alpha_u_.size(); ++j) conjugate += problem_.penalty[j].conjugate(alpha_u_[j]);
  return -conjugate - dual_.conjugate(alpha_);
}

void Pragam::look() {
  at_w_.b = b_;
  const double primal = risk_.unsmoothed_value(at_w_) + problem_.penalty.value(w_);
  estimate_ = {.gap = primal - dual_value(), .primal = primal, .scatter = 1.1};
  scale_ = std::max(std::fabs(primal), 1e-300);
}

double Pragam::excess() {
  dual_.step(at_w_.z, centre_, mu_, b_, peak_);
  CompensatedSum linear;
  for (std::size_t i = 0; i < peak_.size(); ++i) linear.add(-dual_.rho()[i] * at_w_.z[i] * peak_[i]);
  const double smoothed = linear.total() - dual_.conjugate(peak_) -
                          mu_ * dual_.half_square_distance(peak_, centre_) + problem_.penalty.value(w_);
  return dual_value() - smoothed;
}

}  // namespace fenchel::solver
