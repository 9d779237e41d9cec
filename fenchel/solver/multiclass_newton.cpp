#include "fenchel/solver/multiclass_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/solver/class_vectors.hpp"

namespace fenchel::solver {
namespace {

// What keeps the matrix positive definite under free biases, relative to the biases' own entry.
constexpr double ridge_of_biases = 1e-10;
// How exactly conjugate gradients solve a system, depending on how the last one went.
constexpr double loosest_forcing = 0.2;
constexpr double tightest_forcing = 1e-3;
// A step of such a share of the direction was too long a one, and one that went all the way may be followed by one that much
// longer.
constexpr double too_long_a_step = 0.25;
constexpr double growth_of_radius = 2.0;
constexpr double slope_left = 0.5;  // by a search, of that at its start
// Of the smoothing, as in newton.cpp: the first width relative to the mean loss, by what it shrinks, how small it may become
// relative to the first, and the step's own error, relative to what the smoothing costs, at which it moves on.
constexpr double first_class_width = 2.0;
// The first width is no less than this part of the rows' mean curvature in the dual, ||x||^2 / (lambda n): the systems of a narrower
// one are harder than they need be while the duals are far from theirs.
constexpr double width_of_curvature = 0.02;
constexpr double class_shrinkage = 0.6;
constexpr double least_class_width = 1e-10;
constexpr double class_balance = 2.0;

std::vector<std::uint32_t> counted_rows(const problem::MulticlassProblem& problem) {
  if (problem.rows() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Fault::failure, "newton numbers rows with 32 bits: more than 4294967295 rows need --solver fista");
  }
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < problem.rows(); ++i) {
    if (problem.sample.weight(i) / problem.sample.weight_sum > 0.0) rows.push_back(static_cast<std::uint32_t>(i));
  }
  return rows;
}

data::Design with_biases(const problem::MulticlassProblem& problem) {
  data::Design design = problem.design;
  if (problem.free_bias) design.constant = 1.0;
  return design;
}

// k numbers side by side, `from` of them a place becoming `to`, and zeros in between where there is room.
std::vector<double> laid_out(std::span<const double> values, std::size_t from, std::size_t to) {
  std::vector<double> result(values.size() / from * to, 0.0);
  const std::size_t count = std::min(from, to);
  for (std::size_t place = 0; place * from < values.size(); ++place) {
    for (std::size_t l = 0; l < count; ++l) result[place * to + l] = values[place * from + l];
  }
  return result;
}

}  // namespace

std::optional<std::string_view> MulticlassNewton::missing(const loss::AnyVector& /*loss*/,
                                                          const penalty::Separable& penalty) {
  if (penalty.base().l1 > 0.0 || !(penalty.strong_convexity() > 0.0)) {
    return "an l2 penalty without an l1 part, with lambda > 0 and no penalty factor of 0";
  }
  return std::nullopt;
}

MulticlassNewton::MulticlassNewton(const problem::MulticlassProblem& problem, const MulticlassStart& start,
                                   Conduct /*conduct*/)
    : problem_(problem),
      design_(with_biases(problem)),
      sums_(design_, problem.classes(), counted_rows(problem)),
      rows_(problem_, sums_.stride()),
      system_(problem_, design_, sums_),
      stride_(sums_.stride()),
      ridge_(design_.cols(), 0.0),
      v_(laid_out(start.w, problem.classes(), stride_)),
      dual_start_(rows_.smoothed() ? laid_out(start.beta, problem.classes(), stride_) : std::vector<double>()) {
  for (std::size_t j = 0; j < problem.dimension(); ++j) ridge_[j] = problem_.penalty[j].l2;
  metric_ = ridge_;
  v_.resize(design_.cols() * stride_, 0.0);
  if (problem.free_bias && start.b.size() == problem.classes()) {
    std::copy(start.b.begin(), start.b.end(), v_.end() - static_cast<std::ptrdiff_t>(stride_));
  }
  for (auto* vector : {&gradient_, &direction_, &residual_}) vector->assign(v_.size(), 0.0);
  for (auto* vector : {&z_, &dz_, &beta_, &slope_, &h_, &linear_, &offered_}) {
    vector->assign(problem.rows() * stride_, 0.0);
  }
}

double MulticlassNewton::step() {
  double passes = begin();
  passes += find_direction();
  if (!std::isfinite(
          inner_product(direction_, direction_))) {  // overflow: the point as it is stays the best there is
    stationary_ = true;
    return passes;
  }
  passes += go(search());
  passes += assess();
  return passes + sharpen();
}

double MulticlassNewton::begin() {
  if (begun_) return 0.0;
  begun_ = true;
  sums_.margins(v_, z_);
  start_smoothing();
  return 1.0 + locate();
}

void MulticlassNewton::start_smoothing() {
  if (!rows_.smoothed()) return;
  if (dual_start_.size() == linear_.size()) linear_ = std::move(dual_start_);
  const double brackets = rows_.admit(z_, linear_, dz_);
  rows_.center(linear_, 1.0);
  const double risk = rows_.locate(z_, beta_, slope_, h_).risk;
  const double width = first_class_width * std::sqrt(risk * std::min(risk, brackets));
  std::vector<double> inverse(problem_.dimension());
  for (std::size_t j = 0; j < inverse.size(); ++j) inverse[j] = 1.0 / ridge_[j];
  double curvature = 0.0;
  const LargeVector norms = data::LinearMap(problem_.design).row_square_norms(inverse);
  for (const std::uint32_t i : sums_.rows()) {
    const double share = problem_.sample.weight(i) / problem_.sample.weight_sum;
    curvature += share * share * norms[i];
  }
  rows_.center(linear_, std::max(width > 0.0 ? width : 1.0, width_of_curvature * curvature));
  least_q_ = least_class_width * std::max(rows_.q(), unit_roundoff * first_class_width * risk);
}

double MulticlassNewton::sharpen() {
  if (!rows_.smoothed() || last_mismatch_ > class_balance * at_z_.brackets || rows_.q() <= least_q_) return 0.0;
  rows_.center(beta_, std::max(class_shrinkage * rows_.q(), least_q_));
  last_mismatch_ = infinity;
  return locate();
}

double MulticlassNewton::locate() {
  at_z_ = rows_.locate(z_, beta_, slope_, h_);
  if (problem_.free_bias) {
    // The mean over the classes of the biases' curvature. Where no row has a hold on them, they are treated as if a tenth of
    // one had.
    double weight = 0.0;
    for (const std::uint32_t i : sums_.rows()) {
      for (std::size_t l = 0; l < problem_.classes(); ++l) {
        if (l != problem_.sample.targets[i]) weight += h_[i * stride_ + l];
      }
    }
    const double least =
        0.1 / static_cast<double>(sums_.rows().size()) * (rows_.smoothed() ? 1.0 / rows_.q() : 1.0);
    metric_.back() = std::max(weight / static_cast<double>(problem_.classes()), least);
  }
  sums_.adjoint(slope_, gradient_);
  for_each_block(ridge_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t e = j * stride_; e < (j + 1) * stride_; ++e) gradient_[e] += ridge_[j] * v_[e];
    }
  });
  return 1.0;
}

double MulticlassNewton::find_direction() {
  std::vector<double> ridge = ridge_, rhs(gradient_.size());
  if (problem_.free_bias) ridge.back() = ridge_of_biases * metric_.back();
  for (std::size_t e = 0; e < rhs.size(); ++e) rhs[e] = -gradient_[e];
  const double passes = system_.assemble(ridge, h_);
  solution_ = system_.solve(rhs, metric_, forcing_, radius_, direction_, residual_);
  sums_.margins(direction_, dz_);
  return passes + solution_.passes + 1.0;
}

double MulticlassNewton::search() const {
  const double quadratic = 2 * penalty_of(direction_);
  const double start = inner_product(gradient_, direction_);
  if (!(start < 0.0)) return 1.0;
  const double constant = start - inner_product(slope_, dz_);  // the penalty's slope at its start
  return step_along(start, infinity, slope_left, [&](double t) {
    const LineSlope rows = rows_.along(z_, dz_, t);
    return LineSlope{.first = constant + t * quadratic + rows.first, .second = quadratic + rows.second};
  });
}

double MulticlassNewton::go(double t) {
  // The radius follows the steps that the search allows, as in a trust region method.
  if (rows_.smoothed()) {
    radius_ = infinity;  // the second derivative says too little about far away
  } else if (t < too_long_a_step) {
    radius_ = t * solution_.length * 2;
  } else if (!solution_.inside) {
    radius_ = std::max(radius_, t * solution_.length) * growth_of_radius;
  }
  double largest = 0.0, move = 0.0;
  for (std::size_t e = 0; e < v_.size(); ++e) {
    move = std::max(move, std::fabs(t * direction_[e]));
    largest = std::max(largest, std::fabs(v_[e]));
    v_[e] += t * direction_[e];
    residual_[e] = (1.0 - t) * gradient_[e] - t * residual_[e];
  }
  const bool sharp = !rows_.smoothed() || rows_.q() <= least_q_ || at_z_.brackets <= unit_roundoff * at_z_.risk;
  stationary_ = !std::isfinite(move) || (sharp && move <= unit_roundoff * largest);
  if (!rows_.smoothed()) rows_.linearize(dz_, t, h_, beta_, linear_);
  for_each_block(z_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) z_[e] += t * dz_[e];
  });
  return locate();
}

double MulticlassNewton::mismatch(std::span<const double> difference) const {
  return 0.5 * weighted_square(difference, stride_, [&](std::size_t j) { return 1.0 / metric_[j]; });
}

double MulticlassNewton::penalty_of(std::span<const double> v) const {
  return 0.5 * weighted_square(v, stride_, [&](std::size_t j) { return ridge_[j]; });
}

double MulticlassNewton::assess() {
  const double own = mismatch(gradient_);
  forcing_ = std::isfinite(last_mismatch_)
                 ? std::clamp(std::sqrt(own / last_mismatch_), tightest_forcing, loosest_forcing)
                 : loosest_forcing;
  last_mismatch_ = own;
  estimate_ = {.gap = own + at_z_.brackets, .primal = at_z_.risk + penalty_of(v_), .scatter = 1.2};
  if (rows_.smoothed()) scale_offer();
  const double passes = rows_.smoothed() ? 0.0 : assess_linearized();
  if (!rows_.smoothed() && estimate_.gap < own) {
    std::swap(offered_, linear_);
  } else {
    offered_ = beta_;
  }
  return passes;
}

void MulticlassNewton::scale_offer() {
  const Multiple best = rows_.best_multiple(z_, penalty_of(v_));
  scale_ = best.factor;
  estimate_.gap = std::max(0.0, estimate_.gap - (estimate_.primal - best.value));
  estimate_.primal = best.value;
}

double MulticlassNewton::assess_linearized() {
  const double brackets = rows_.admit(z_, linear_, dz_);  // dz_ has been used up, as has direction_
  if (brackets >= estimate_.gap) return 0.0;
  const bool moved = std::any_of(dz_.begin(), dz_.end(), [](double x) { return x != 0.0; });
  if (moved) {
    sums_.adjoint(dz_, direction_);
    for (std::size_t e = 0; e < residual_.size(); ++e) residual_[e] += direction_[e];
  }
  estimate_.gap = std::min(estimate_.gap, brackets + mismatch(residual_));
  return moved ? 1.0 : 0.0;
}

problem::MulticlassCandidate MulticlassNewton::candidate() {
  const std::size_t k = problem_.classes();
  w_ = laid_out(v_, stride_, k);
  for (double& w : w_) w *= scale_;
  b_.assign(w_.begin() + static_cast<std::ptrdiff_t>(problem_.dimension() * k), w_.end());
  w_.resize(problem_.dimension() * k);
  offer_ = laid_out(offered_, stride_, k);
  return {.w = w_, .b = b_, .beta = offer_};
}

}  // namespace fenchel::solver
