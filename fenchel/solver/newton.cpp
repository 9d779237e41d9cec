#include "fenchel/solver/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

// The smoothing's first width relative to the mean loss, by what it shrinks, and how small it may become.
constexpr double first_width = 2.0;
constexpr double shrinkage = 0.2;
constexpr double least_width = 1e-10;
// A free bias whose curvature is this small a share of all is kept where it is.
constexpr double bias_ridge = 1e-10;
// The step's own error, relative to what the smoothing costs, at which the smoothing moves on.
constexpr double balance = 0.3;
constexpr int updates_of_the_gradient = 16;

data::Design with_bias(const problem::Problem& problem) {
  data::Design design = problem.design;
  if (problem.free_bias) design.constant = 1.0;
  return design;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace

std::optional<std::string_view> Newton::missing(const loss::Any& /*loss*/, const penalty::Separable& penalty) {
  if (penalty.base().l1 > 0.0 || !(penalty.strong_convexity() > 0.0)) {
    return "an l2 penalty without an l1 part, with lambda > 0 and no penalty factor of 0";
  }
  return std::nullopt;
}

Newton::Newton(const problem::Problem& problem, const Start& start, Chance /*chance*/)
    : problem_(problem),
      design_(with_bias(problem)),
      map_(design_),
      rows_(problem_),
      sums_(design_),
      system_(sums_, problem.rows()),
      dual_start_(start.alpha.begin(), start.alpha.end()),
      ridge_(design_.cols(), 0.0),
      v_(start.w.begin(), start.w.end()) {
  if (problem.rows() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Fault::failure, "newton numbers rows with 32 bits: more than 4294967295 rows need --solver fista");
  }
  const std::size_t n = problem.rows(), d = design_.cols();
  for (std::size_t j = 0; j < problem.dimension(); ++j) ridge_[j] = problem_.penalty[j].l2;
  metric_ = ridge_;
  v_.resize(d, 0.0);
  if (problem.free_bias) v_.back() = start.b;
  for (auto* vector : {&z_, &alpha_, &weights_, &dz_, &changes_, &induced_alpha_, &offered_}) vector->resize(n, 0.0);
  for (auto* vector : {&induced_, &gradient_, &direction_, &residual_}) vector->resize(d, 0.0);
}

double Newton::step() {
  double passes = begin();
  passes += find_direction();
  const double t = search();
  passes += go(t);
  assess(t);
  stationary_ = stationary_ || !std::isfinite(estimate_.gap);
  return passes + sharpen();
}

double Newton::begin() {
  if (begun_) return 0.0;
  begun_ = true;
  map_.margins(v_, z_);
  start_smoothing();
  locate();
  settle_bias();
  return 1.0 + refresh_gradient();
}

void Newton::start_smoothing() {
  if (rows_.smooth()) return;
  std::vector<double> center(problem_.rows(), 0.0);
  if (dual_start_.size() == center.size()) {
    std::visit(
        [&](const auto& loss) {
          for (std::size_t i = 0; i < center.size(); ++i)
            center[i] = loss::project_dual(loss, problem_.sample.targets[i], dual_start_[i]);
        },
        problem_.loss);
  }
  const RowModel::Sums sums = rows_.sums_of(z_, center);
  const double width = std::min(first_width * sums.risk, 10 * sums.brackets);
  rows_.center(center, std::max(width, 1e-300));
}

void Newton::locate() {
  at_z_ = rows_.locate(z_, alpha_, weights_);
  if (!problem_.free_bias) return;
  double sum = 0.0;
  for (const double h : weights_) sum += h;
  metric_.back() = std::max(rows_.scale() * sum, std::numeric_limits<double>::min());
}

double Newton::refresh_gradient() {
  const std::span<const double> shares = rows_.shares();
  double passes = 1.0;
  const bool few = updates_ < updates_of_the_gradient && begun_;
  if (few) {
    sums_.select(alpha_.size(), [&](std::size_t i) { return alpha_[i] != induced_alpha_[i]; }, changed_);
    passes = changed_.nonzeros / sums_.nonzeros();
  }
  if (few && passes < 0.5) {
    for (const std::uint32_t i : changed_.rows) changes_[i] = shares[i] * (alpha_[i] - induced_alpha_[i]);
    sums_.add_rows(changed_, changes_, induced_);
    ++updates_;
  } else {
    for (std::size_t i = 0; i < alpha_.size(); ++i) changes_[i] = shares[i] * alpha_[i];
    map_.adjoint(changes_, induced_);
    updates_ = 0;
    passes = 1.0;
  }
  induced_alpha_ = alpha_;
  for (std::size_t j = 0; j < v_.size(); ++j) gradient_[j] = ridge_[j] * v_[j] - induced_[j];
  return passes;
}

void Newton::settle_bias() {
  if (!problem_.free_bias) return;
  constexpr int most_trials = 60;
  double low = -infinity, high = infinity, b = 0.0, reach = 1.0;
  const RowModel::Slope start = rows_.along(z_, {}, 0.0);
  RowModel::Slope at = start;
  for (int k = 0; k < most_trials && std::fabs(at.first) > 1e-6 * std::fabs(start.first); ++k) {
    (at.first > 0.0 ? high : low) = b;
    double next = b - at.first / at.second;
    if (!(next > low && next < high) || std::fabs(next - b) > 4 * reach) {
      next = std::isfinite(low) && std::isfinite(high) ? 0.5 * (low + high) : at.first > 0.0 ? b - reach : b + reach;
      reach *= 2;
    }
    if (next == b) break;
    b = next;
    at = rows_.along(z_, {}, b);
  }
  if (b == 0.0) return;
  v_.back() += b;
  for (double& z : z_) z += b;
  locate();
}

double Newton::find_direction() {
  std::vector<double> ridge = ridge_;
  if (problem_.free_bias) ridge.back() = bias_ridge * metric_.back();
  double passes = system_.assemble(ridge, rows_.scale(), weights_, 0.0);
  std::vector<double> rhs(gradient_.size());
  for (std::size_t j = 0; j < rhs.size(); ++j) rhs[j] = -gradient_[j];
  passes += system_.solve(rhs, metric_, forcing_, direction_, residual_);
  map_.margins(direction_, dz_);
  return passes + 1.0;
}

// The root of the slope along the direction, roughly: F is convex, so that a slope that is still negative means descent.
double Newton::search() const {
  constexpr int most_trials = 30;
  constexpr double overshoot = 0.1, undershoot = 0.5;
  double linear = 0.0, quadratic = 0.0;
  for (std::size_t j = 0; j < v_.size(); ++j) {
    linear += ridge_[j] * v_[j] * direction_[j];
    quadratic += ridge_[j] * direction_[j] * direction_[j];
  }
  const double start = dot(gradient_, direction_);
  if (!(start < 0.0)) return 1.0;
  double low = 0.0, high = infinity, t = 1.0;
  for (int k = 0; k < most_trials; ++k) {
    const RowModel::Slope rows = rows_.along(z_, dz_, t);
    const double slope = linear + t * quadratic + rows.first;
    if (slope <= -overshoot * start && slope >= undershoot * start) return t;
    (slope > 0.0 ? high : low) = t;
    double next = t - slope / (quadratic + rows.second);
    if (!(next > low && next < high)) next = std::isfinite(high) ? 0.5 * (low + high) : 4 * t;
    if (next == t) break;
    t = next;
  }
  return low > 0.0 ? low : t;
}

double Newton::go(double t) {
  double largest = 0.0, move = 0.0;
  for (std::size_t j = 0; j < v_.size(); ++j) {
    move = std::max(move, std::fabs(t * direction_[j]));
    largest = std::max(largest, std::fabs(v_[j]));
    v_[j] += t * direction_[j];
  }
  stationary_ = move <= unit_roundoff * largest && rows_.smooth();
  const std::span<const double> shares = rows_.shares(), held = system_.weights();
  if (rows_.smooth()) {
    linear_alpha_.resize(z_.size());
    for (std::size_t i = 0; i < z_.size(); ++i) {
      linear_alpha_[i] = shares[i] > 0.0 ? alpha_[i] - t * (held[i] / shares[i]) * dz_[i] : 0.0;
    }
  }
  for (std::size_t i = 0; i < z_.size(); ++i) z_[i] += t * dz_[i];
  for (std::size_t j = 0; j < v_.size(); ++j) residual_[j] = (1.0 - t) * gradient_[j] - t * residual_[j];
  locate();
  if (problem_.free_bias && t < 0.5) {
    settle_bias();
    linear_alpha_.clear();
  }
  return refresh_gradient();
}

double Newton::mismatch(std::span<const double> difference) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < difference.size(); ++j) sum += 0.5 * difference[j] * (difference[j] / metric_[j]);
  return sum;
}

void Newton::assess(double t) {
  double penalty = 0.0;
  for (std::size_t j = 0; j < v_.size(); ++j) penalty += 0.5 * ridge_[j] * v_[j] * v_[j];
  const double own = mismatch(gradient_);
  forcing_ = std::clamp(std::sqrt(own / last_mismatch_), 1e-3, 0.1);
  last_mismatch_ = own;
  estimate_ = {.gap = own + at_z_.brackets, .primal = at_z_.risk + penalty, .scatter = 1.2};
  const double linearized = assess_linearized(t);
  if (linearized < estimate_.gap) {
    estimate_.gap = linearized;
    std::swap(offered_, linear_alpha_);
  } else {
    offered_ = alpha_;
  }
}

double Newton::assess_linearized(double /*t*/) {
  if (!rows_.smooth() || linear_alpha_.empty()) return infinity;
  const double brackets = rows_.brackets_of(z_, alpha_, weights_, linear_alpha_, changes_);
  if (brackets >= estimate_.gap) return infinity;
  sums_.select(changes_.size(), [&](std::size_t i) { return changes_[i] != 0.0; }, changed_);
  sums_.add_rows(changed_, changes_, residual_);
  return brackets + mismatch(residual_);
}

double Newton::sharpen() {
  if (rows_.smooth() || last_mismatch_ > balance * at_z_.brackets) return 0.0;
  rows_.center(alpha_, std::max(shrinkage * rows_.q(), 1e-300));
  locate();
  settle_bias();
  last_mismatch_ = infinity;
  return refresh_gradient();
}

problem::Candidate Newton::candidate() {
  return {.w = std::span(v_).first(problem_.dimension()),
          .b = problem_.free_bias ? v_.back() : 0.0,
          .alpha = offered_};
}

}  // namespace fenchel::solver
