#include "fenchel/solver/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

// The smoothing's first width relative to the mean loss, by what it shrinks, and how small it may become.
constexpr double first_width = 1.4;
constexpr double shrinkage = 0.6;
constexpr double least_width = 1e-10;  // relative to the first
// The step's own error, relative to what the smoothing costs, at which the smoothing moves on.
constexpr double balance = 2.0;
// What keeps the matrix positive definite under a free bias, relative to the bias's own entry.
constexpr double bias_ridge = 1e-10;
// Working rows are chosen for so many steps of the present length, and anew where that was far too much.
constexpr double ample = 2.0;
constexpr double wide = 40.0;
// A row's weight in the matrix may be off by so much.
constexpr double gram_slack = 0.25;
// A sample of the rows will do for the matrix while a step promises to gain this share of the risk.
constexpr double thin_gain = 0.02;
// A search is exact while a step promises to gain this share of the risk; later, full steps are worth more than exact ones.
constexpr double far_gain = 0.05;
constexpr double slope_left_far = 0.1;
constexpr double slope_left_near = 0.5;
// After a step shorter than this, the matrix is that of the mean curvatures over this part of the direction.
constexpr double short_step = 0.2;
constexpr double secant_reach = 0.3;
constexpr int steps_between_choices = 3;
constexpr int updates_of_the_gradient = 16;
constexpr double least_passes_counted = 0.01;  // of a step, so that limits on passes are reached

data::Design with_bias(const problem::Problem& problem) {
  data::Design design = problem.design;
  if (problem.free_bias) design.constant = 1.0;
  return design;
}

float norm_above(double square) {
  using Limits = std::numeric_limits<float>;
  const double norm = std::sqrt(square);
  return norm < Limits::max() ? std::nextafter(static_cast<float>(norm), Limits::infinity()) : Limits::infinity();
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace

std::optional<std::string_view> Newton::missing(const loss::Any& loss, const penalty::Separable& penalty) {
  const bool usable =
      std::visit([]<class L>(const L&) { return loss::CurvedLoss<L> || loss::DualStepLoss<L>; }, loss);
  if (!usable) return "a loss with a second derivative or an exact dual step";
  if (penalty.base().l1 > 0.0 || !(penalty.strong_convexity() > 0.0)) {
    return "an l2 penalty without an l1 part, with lambda > 0 and no penalty factor of 0";
  }
  return std::nullopt;
}

Newton::Newton(const problem::Problem& problem, const Start& start, Conduct /*conduct*/)
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
  for (auto* vector : {&z_, &alpha_}) vector->resize(n, 0.0);
  if (rows_.smooth()) linear_alpha_.resize(n, 0.0);
  offered_ = alpha_;
  for (auto* vector : {&induced_, &gradient_, &direction_, &residual_}) vector->resize(d, 0.0);
  for (std::size_t i = 0; i < n; ++i) weighted_ += rows_.shares()[i] > 0.0 ? 1 : 0;
  take_everybody();
}

void Newton::take_everybody() {
  working_.rows.clear();
  working_.rows.reserve(weighted_);
  for (std::size_t i = 0; i < problem_.rows(); ++i) {
    if (rows_.shares()[i] > 0.0) working_.rows.push_back(static_cast<std::uint32_t>(i));
  }
  sums_.bind(working_);
}

double Newton::step() {
  double passes = begin();
  passes += find_direction();
  if (!std::isfinite(dot(direction_, direction_))) {  // overflow: the point as it is stays the best there is
    stationary_ = true;
    return passes;
  }
  passes += go(search());
  assess();
  return std::max(passes + sharpen(), least_passes_counted);
}

double Newton::begin() {
  wake();
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
          for (const std::uint32_t i : working_.rows)
            center[i] = loss::project_dual(loss, problem_.sample.targets[i], dual_start_[i]);
        },
        problem_.loss);
  }
  const RowModel::Sums sums = rows_.sums_of(working_.rows, z_, center);
  // About a good dual vector any width would do; a wider smoothing has the easier systems.
  const double width = first_width * std::sqrt(sums.risk * std::min(sums.risk, sums.brackets));
  rows_.center(std::move(center), width > 0.0 ? width : 1.0);
  least_q_ = least_width * std::max(rows_.q(), unit_roundoff * first_width * sums.risk);
}

void Newton::locate() {
  at_z_ = rows_.locate(working_.rows, z_, alpha_, weights_, changes_, changing_);
  changing_ = true;
  // Where no row has a hold on the bias, it is treated as if a tenth of one had.
  const double least = 0.1 / static_cast<double>(weighted_);
  if (problem_.free_bias) metric_.back() = rows_.scale() * std::max(at_z_.weight, least);
}

double Newton::refresh_gradient() {
  const Shares& shares = rows_.shares();
  RowSums::Cut changed;
  sums_.select(
      working_.rows, [&](std::size_t i) { return changes_[i] != 0.0; }, changed);
  double passes = changed.nonzeros / sums_.nonzeros();
  if (passes < 0.5 && updates_ < updates_of_the_gradient) {
    sums_.add_rows(changed, changes_, induced_);
    ++updates_;
  } else {
    for_each_block(alpha_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) changes_[i] = shares[i] * alpha_[i];
    });
    map_.adjoint(changes_, induced_);
    updates_ = 0;
    passes = 1.0;
  }
  changing_ = false;
  for (std::size_t j = 0; j < v_.size(); ++j) gradient_[j] = ridge_[j] * v_[j] - induced_[j];
  return passes;
}

// A root of the slope in b, inside what the working rows allow for.
void Newton::settle_bias() {
  if (!problem_.free_bias) return;
  constexpr int most_trials = 60;
  constexpr double enough = 1e-6;
  const double room = all_working() ? infinity : std::max(0.0, 0.5 * (radius_ - distance()));
  const auto slope_at = [&](double b) {
    LineSlope slope = rows_.along(working_.rows, z_, {}, b);
    slope.first -= outside_dual_;
    return slope;
  };
  double low = -room, high = room, b = 0.0, reach = 1.0;
  LineSlope at = slope_at(0.0);
  const double start = std::fabs(at.first);
  for (int k = 0; k < most_trials && std::fabs(at.first) > enough * start; ++k) {
    (at.first > 0.0 ? high : low) = b;
    double next = b - at.first / at.second;
    if (!(next > low && next < high) || std::fabs(next - b) > 4 * reach) {
      next = std::isfinite(low) && std::isfinite(high) ? 0.5 * (low + high)
             : at.first > 0.0                          ? b - reach
                                                       : b + reach;
      reach *= 2;
    }
    if (next == b) break;
    b = next;
    at = slope_at(b);
  }
  if (b == 0.0) return;
  v_.back() += b;
  for (const std::uint32_t i : working_.rows) z_[i] += b;
  locate();
}

// Whether the next matrix asks where the last step went.
bool Newton::step_was_short() const { return last_length_ < short_step; }

double Newton::find_direction() {
  std::vector<double> ridge = ridge_, rhs(gradient_.size());
  if (problem_.free_bias) ridge.back() = at_z_.weight > 0.0 ? bias_ridge * metric_.back() : metric_.back();
  for (std::size_t j = 0; j < rhs.size(); ++j) rhs[j] = -gradient_[j];
  double passes = system_.assemble(working_.rows, ridge, rows_.scale(), curvatures(), gram_slack, thin_);
  passes += system_.solve(rhs, metric_, forcing_, direction_, residual_);
  return passes + look_ahead();
}

// Where the rows inside the corner say too little, the largest curvature of every row majorises F: steps are short, but sure.
// Where others come into it soon after the start of a step, those are what the matrix lacks.
std::span<const double> Newton::curvatures() {
  if (at_z_.weight > 0.0 && !step_was_short()) return weights_;
  if (!all_working()) std::ranges::fill(changes_, 0.0);
  if (at_z_.weight > 0.0) {
    rows_.secants(working_.rows, z_, dz_, secant_reach, alpha_, weights_, changes_);
  } else {
    for (const std::uint32_t i : working_.rows) changes_[i] = rows_.shares()[i] * rows_.largest_curvature();
  }
  return changes_;
}

double Newton::distance() const {
  double square = 0.0;
  for (std::size_t j = 0; j < v_.size(); ++j) square += (v_[j] - reference_[j]) * (v_[j] - reference_[j]);
  return std::sqrt(square);
}

double Newton::look_ahead() {
  const double length = std::sqrt(dot(direction_, direction_));
  double passes = 0.0;
  if (all_working() ? --patience_ < 0 : distance() + length > radius_ || wide * length < radius_) {
    passes = choose_working(ample * length);
  }
  sums_.margins(working_.rows, direction_, dz_);
  return passes + working_.nonzeros / sums_.nonzeros();
}

// Where margins cannot change the dual variable of a row, they need not be known.
double Newton::choose_working(double radius) {
  double passes = 0.0;
  if (norms_.empty()) {
    norms_.resize(problem_.rows());
    map_.row_square_norms({}, dz_);  // which is about to be computed
    std::transform(dz_.begin(), dz_.end(), norms_.begin(), norm_above);
    passes += 1.0;
  }
  if (!all_working()) {
    map_.margins(v_, z_);
    passes += 1.0;
  }
  outside_risk_ = rows_.moving(z_, norms_, radius, working_.rows);
  sums_.bind(working_);
  radius_ = radius;
  reference_ = v_;
  if (working_.nonzeros > 0.8 * sums_.nonzeros()) {
    take_everybody();
    outside_risk_ = 0.0;
    patience_ = steps_between_choices;
  }
  // Everybody's numbers, once, so that from here on only those of working rows need care.
  if (rows_.smooth()) linear_alpha_ = alpha_;
  outside_dual_ = 0.0;
  if (problem_.free_bias) {
    const Shares& shares = rows_.shares();
    for (std::size_t i = 0; i < alpha_.size(); ++i) {
      if (shares[i] > 0.0) outside_dual_ += shares[i] * alpha_[i];
    }
    for (const std::uint32_t i : working_.rows) outside_dual_ -= shares[i] * alpha_[i];
  }
  return passes;
}

double Newton::search() {
  double quadratic = 0.0;
  for (std::size_t j = 0; j < v_.size(); ++j) quadratic += ridge_[j] * direction_[j] * direction_[j];
  const double start = dot(gradient_, direction_);
  if (!(start < 0.0)) return 1.0;
  thin_ = thin_ && -start > thin_gain * (at_z_.risk + outside_risk_);
  const Shares& shares = rows_.shares();
  // What does not change along the way: the penalty's slope at its start, and that of the rows that are left out.
  const double constant = start + block_sum<LineSlope>(working_.rows.size(), [&](std::size_t k, auto& sum) {
                                    const std::size_t i = working_.rows[k];
                                    sum.first += shares[i] * alpha_[i] * dz_[i];
                                  }).first;
  const double furthest =
      all_working() ? infinity : std::max(1.0, (radius_ - distance()) / std::sqrt(dot(direction_, direction_)));
  const bool far = -start > far_gain * (at_z_.risk + outside_risk_);
  return step_along(start, furthest, far ? slope_left_far : slope_left_near, [&](double t) {
    const LineSlope rows = rows_.along(working_.rows, z_, dz_, t);
    return LineSlope{.first = constant + t * quadratic + rows.first, .second = quadratic + rows.second};
  });
}

double Newton::go(double t) {
  thin_ = thin_ && t > 0.25;
  last_length_ = t;
  double largest = 0.0, move = 0.0;
  for (std::size_t j = 0; j < v_.size(); ++j) {
    move = std::max(move, std::fabs(t * direction_[j]));
    largest = std::max(largest, std::fabs(v_[j]));
    v_[j] += t * direction_[j];
    residual_[j] = (1.0 - t) * gradient_[j] - t * residual_[j];
  }
  const bool sharp = rows_.q() <= least_q_ || at_z_.brackets <= unit_roundoff * at_z_.risk;
  stationary_ = !std::isfinite(move) || (sharp && move <= unit_roundoff * largest);
  const Shares& shares = rows_.shares();
  const std::span<const double> held = system_.weights();
  linearized_ = rows_.smooth() && system_.complete();
  for_each_block(working_.rows.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = working_.rows[k];
      if (linearized_) linear_alpha_[i] = alpha_[i] - t * (held[i] / shares[i]) * dz_[i];
      z_[i] += t * dz_[i];
    }
  });
  locate();
  if (problem_.free_bias && t < 0.5) {
    settle_bias();
    linearized_ = false;
  }
  return refresh_gradient();
}

double Newton::sharpen() {
  if (rows_.smooth() || last_mismatch_ > balance * at_z_.brackets || rows_.q() <= least_q_) return 0.0;
  rows_.recenter(working_.rows, alpha_, std::max(shrinkage * rows_.q(), least_q_));
  offered_ = rows_.center();  // alpha_ moves on
  locate();
  settle_bias();
  last_mismatch_ = infinity;
  return refresh_gradient();
}

}  // namespace fenchel::solver
