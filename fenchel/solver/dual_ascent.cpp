#include "fenchel/solver/dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/base/zeros.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/risk/pointwise.hpp"

namespace fenchel::solver {
namespace {

constexpr double passes_between_refreshes = 50.0;
// Fenchel-Young terms that cost a logarithm are those of a sample of the rows. After so many sweeps few rows have most of the gap
// left, which a sample may miss, and a certificate in vain costs more than all terms do.
constexpr std::size_t sampled_rows = 4096;
constexpr int sampled_sweeps = 10;
// The bias's proximal term relative to lambda / mean ||x_i||^2, so that it does not depend on the scale of the features.
constexpr double relative_kappa = 10.0;
// Memory is asked for this many bytes of rows in advance.
constexpr double bytes_ahead = 8192.0;
// Steps that iterate need be no better than the gap asks for.
constexpr double loosest_step = 1e-2;
// Momentum walks along all vectors: there are sweeps over so many entries a number of these in between.
constexpr double entries_a_number_of_momentum = 3.0;
// A step of it carries errors of w on, which short sweeps would let it do very often before w is induced anew.
constexpr double passes_of_drift = 0.25;

}  // namespace

DualAscent::DualAscent(const problem::Problem& problem, const Start& start, const Conduct& conduct, double kappa)
    : problem_(problem),
      map_(problem.design),
      kappa_(kappa),
      conduct_(conduct),
      entries_a_row_(static_cast<double>(data::nonzeros(problem.design.matrix)) /
                     static_cast<double>(problem.rows())),
      alpha_(problem.rows(), 0.0),
      induced_(problem.dimension(), 0.0),
      rule_{.option = conduct.ascent.step, .tolerance = loosest_step, .smoothing = conduct.ascent.smoothing},
      sigma_(ridge() ? 1.3 : static_cast<double>(conduct.ascent.blocks)) {
  measure_rows();
  visits_.emplace(problem_.design.matrix, shares_, curvatures_, conduct);
  if (kappa == 0.0 && DualMomentum::takes(problem, conduct)) momentum_.emplace();  // acceleration has its own
  if (!start.alpha.empty()) {
    std::visit(
        [&](const auto& loss) {
          for (const std::uint32_t i : visits_->order()) {
            alpha_[i] = loss::project_dual(loss, problem_.sample.targets[i], start.alpha[i]);
          }
        },
        problem_.loss);
    bias_centre_ = start.b;
  } else if (problem.free_bias) {
    bias_centre_ = start.w.empty() ? first_bias() : start.b;
  }
  induce();
}

// An epoch moves the bias by a certain length at most: where targets have an offset, it starts there. Classes have none.
double DualAscent::first_bias() const {
  if (loss::task(problem_.loss) == loss::Task::classification) return 0.0;
  return risk::best_bias(problem_.loss, problem_.sample, LargeVector(problem_.rows(), 0.0), 0.0);
}

// w itself can be kept.
bool DualAscent::ridge() const { return problem_.penalty.uniform() && problem_.penalty.base().l1 == 0.0; }

void DualAscent::measure_rows() {
  const std::size_t n = problem_.rows();
  rule_.largest_curvature = 0.0;
  if (problem_.penalty.uniform()) {
    curvatures_ = map_.row_square_norms({});
    for (double& q : curvatures_) q /= problem_.penalty.base().l2 + kappa_;
  } else {
    std::vector<double> inverse_l2(problem_.dimension());
    for (std::size_t j = 0; j < inverse_l2.size(); ++j) inverse_l2[j] = 1.0 / (problem_.penalty[j].l2 + kappa_);
    curvatures_ = map_.row_square_norms(inverse_l2);
  }
  shares_.resize(n);
  CompensatedSum mean;
  for (std::size_t i = 0; i < n; ++i) {
    shares_[i] = problem_.sample.weight(i) / problem_.sample.weight_sum;
    mean.add(shares_[i] * curvatures_[i]);
  }
  if (problem_.free_bias) bias_step_ = mean.total() > 0.0 ? mean.total() / relative_kappa : 1.0;
  for (std::size_t i = 0; i < n; ++i) {
    curvatures_[i] = shares_[i] * (curvatures_[i] + bias_step_);
    rule_.largest_curvature = std::max(rule_.largest_curvature, curvatures_[i]);
  }
}

void DualAscent::induce() {
  std::vector<double> scaled(alpha_.size());
  for (std::size_t i = 0; i < alpha_.size(); ++i) scaled[i] = shares_[i] * alpha_[i];
  if (all_zero(scaled)) {
    std::fill(induced_.begin(), induced_.end(),
              0.0);  // as at the start of most fits: neither a pass nor its memory
  } else {
    map_.adjoint(scaled, induced_);
  }
  for (std::size_t j = 0; j < centre_.size(); ++j) induced_[j] += kappa_ * centre_[j];
  if (ridge()) {
    for (double& w : induced_) w /= problem_.penalty.base().l2 + kappa_;
  }
  CompensatedSum sum;
  for (const double s : scaled) sum.add(s);
  b_ = problem_.free_bias ? bias_centre_ + bias_step_ * sum.total() : 0.0;
  passes_since_induced_ = 0.0;
}

void DualAscent::recentre(std::span<const double> y) {
  const double factor = ridge() ? kappa_ / (problem_.penalty.base().l2 + kappa_) : kappa_;
  centre_.resize(y.size(), 0.0);
  for (std::size_t j = 0; j < y.size(); ++j) {
    induced_[j] += factor * (y[j] - centre_[j]);
    centre_[j] = y[j];
  }
  visits_->wake();
}

std::span<const double> DualAscent::weights() {
  if (ridge()) return induced_;
  w_.resize(induced_.size());
  for (std::size_t j = 0; j < w_.size(); ++j) {
    const penalty::Strength g = problem_.penalty[j];
    w_[j] = penalty::Strength{.l1 = g.l1, .l2 = g.l2 + kappa_}.conjugate_gradient(induced_[j]);
  }
  return w_;
}

double DualAscent::pull() {
  const std::span<const double> w = weights();
  double sum = 0.0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const double distance = w[j] - (centre_.empty() ? 0.0 : centre_[j]);
    sum += distance * distance;
  }
  return 0.5 * kappa_ * sum;
}

double DualAscent::direct_gap(const Seen& seen) {
  if (kappa_ == 0.0) return seen.gap;
  const std::span<const double> w = weights();
  double scale = 1.0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const penalty::Strength g = problem_.penalty[j];
    const double u = std::fabs(slope(j));
    if (u > g.dual_bound() && g.l1 > 0.0) scale = std::min(scale, g.l1 / u);
  }
  double brackets = 0.0;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const penalty::Strength g = problem_.penalty[j];
    brackets += g.fenchel_young(w[j], scale * slope(j));
  }
  // Rows' terms are convex in alpha, and are losses at alpha = 0.
  return scale * seen.gap + (1.0 - scale) * losses(seen) + brackets;
}

double DualAscent::adjust(double kappa, double smoothing) {
  kappa_ = kappa;
  rule_.smoothing = smoothing;
  measure_rows();
  visits_->weigh(curvatures_);
  induce();
  visits_->wake();
  forget_momentum();
  return 2.0;
}

double DualAscent::slope(std::size_t j) const {
  const double shifted = ridge() ? (problem_.penalty.base().l2 + kappa_) * induced_[j] : induced_[j];
  return centre_.empty() ? shifted : shifted - kappa_ * centre_[j];
}

// The rows' Fenchel-Young terms are R + (sum c phi*(-alpha) + sum c alpha z) / sum c, and the last sum is u.w + b t.
double DualAscent::losses(const Seen& seen) {
  const double conjugates = std::visit(
      [&](const auto& loss) {
        return block_sum<CompensatedSum>(
                   alpha_.size(),
                   [&](std::size_t i, CompensatedSum& sum) {
                     sum.add(shares_[i] * loss.conjugate(problem_.sample.targets[i], alpha_[i]));
                   })
            .total();
      },
      problem_.loss);
  const std::span<const double> w = weights();
  const bool plain = ridge() && centre_.empty();  // u = (l2 + kappa) w
  const double product =
      block_sum<CompensatedSum>(
          w.size(), [&, plain](std::size_t j, CompensatedSum& sum) { sum.add((plain ? w[j] : slope(j)) * w[j]); })
          .total() *
      (plain ? problem_.penalty.base().l2 + kappa_ : 1.0);
  const double bias = bias_step_ > 0.0 ? bias_centre_ * (b_ - bias_centre_) / bias_step_ : 0.0;
  return seen.gap - conjugates - product - bias;
}

DualAscent::Seen DualAscent::sweep() {
  Seen seen{.all = visits_->all()};
  ++sweeps_;
  const bool complete = visits_->complete();
  if (passes_since_induced_ >= passes_between_refreshes) {
    induce();
    seen.passes += 1.0;
  }
  seen.passes += gather_momentum();
  visits_->draw();
  kernel::SweepReport report;
  if (visits_->windows().empty()) {
    report = sweep_rows(visits_->order());
  } else {
    std::size_t begin = 0;
    const std::span<const RowVisits::Window> windows = visits_->windows();
    for (std::size_t k = 0; k < windows.size(); ++k) {
      // The disk reads the next window while this one is worked on.
      if (k + 1 < windows.size()) {
        data::will_need(problem_.design.matrix, windows[k + 1].first, windows[k + 1].last);
      }
      report.add(sweep_rows(visits_->order().subspan(begin, windows[k].end - begin)));
      begin = windows[k].end;
    }
  }
  // A row without entries is work, too.
  const auto visited = static_cast<double>(visits_->order().size()), rows = static_cast<double>(problem_.rows());
  const double work = (static_cast<double>(report.nonzeros) + visited) / ((entries_a_row_ + 1.0) * rows);
  seen.passes += work;
  passes_ += work;
  entries_before_momentum_ -= static_cast<double>(report.nonzeros);
  passes_since_induced_ += work;

  // Recentring: b = b_t + s t with t = sum c alpha / sum c; the new centre is b, so the same t moves it once more.
  const double moved = b_ - bias_centre_;
  const double imbalance = bias_step_ > 0.0 ? 2 * moved * moved / bias_step_ : 0.0;
  if (problem_.free_bias) {
    bias_centre_ = b_;
    b_ += moved;
  }
  const double scale = report.sampled_shares > 0.0 ? visits_->share() / report.sampled_shares : 0.0;
  const double gap = scale * report.sampled_terms + imbalance;
  const double last = std::exchange(last_gap_, gap);
  // Terms are met all through a sweep, half a sweep before its end on average; over few rows they scatter.
  seen.gap =
      seen.all ? gap * std::sqrt(std::clamp(last > 0.0 ? gap / last : 1.0, 0.1, 1.0)) : std::max(gap, 0.5 * last);
  seen.smoothed_gap = rule_.smoothing > 0.0 ? scale * report.smoothed_terms + imbalance : seen.gap;
  seen.changed = report.changed || moved != 0.0;
  rule_.tolerance = std::clamp(0.1 * std::sqrt(seen.gap), 1e-15, loosest_step);
  // A free bias may still move all margins, which the guess says nothing about.
  visits_->settle(report.violation, problem_.free_bias ? infinity : seen.gap);
  if (!seen.changed && !complete) {  // the others may still have to say something
    seen.all = false;
    visits_->wake();
  }
  return seen;
}

// Returns the passes this takes.
double DualAscent::gather_momentum() {
  if (!has_momentum() || passes_ < passes_before_momentum || entries_before_momentum_ > 0.0) return 0.0;
  entries_before_momentum_ = entries_a_number_of_momentum * static_cast<double>(alpha_.size() + induced_.size());
  const std::size_t entries = momentum_->follow({.problem = problem_,
                                                 .shares = shares_,
                                                 .l2 = problem_.penalty.base().l2,
                                                 .bias_step = bias_step_,
                                                 .smoothing = rule_.smoothing},
                                                {.alpha = alpha_, .w = induced_, .b = b_});
  passes_since_induced_ += passes_of_drift;
  return static_cast<double>(entries) / ((entries_a_row_ + 1.0) * static_cast<double>(problem_.rows()));
}

void DualAscent::rest() {
  copies_.clear();
  forget_momentum();
}

void DualAscent::forget_momentum() {
  if (momentum_) momentum_->forget();
  entries_before_momentum_ = 0.0;
}

double DualAscent::entries_in(std::span<const std::uint32_t> order) const {
  return entries_a_row_ * static_cast<double>(order.size());
}

kernel::SweepState DualAscent::state_of(std::span<const std::uint32_t> order) {
  const double bytes_a_row = 12.0 * entries_a_row_ + 1.0;
  const bool cheap_terms = std::visit([]<class L>(const L&) { return loss::RestingLoss<L>; }, problem_.loss);
  // Late in a solve few rows hold the gap and a sample misses them; a proximal subproblem begins with all of them again.
  const bool all_terms = cheap_terms || (kappa_ == 0.0 && sweeps_ > sampled_sweeps);
  return {.order = order,
          .targets = problem_.sample.targets,
          .shares = shares_,
          .curvatures = curvatures_,
          .alpha = alpha_,
          .resting = visits_->resting(),
          .rest_beyond = visits_->rest_beyond(),
          .gap = visits_->settling_gap(),
          .rule = rule_,
          .constant = problem_.design.constant,
          .b = b_,
          .bias_step = bias_step_,
          // At an odd distance, so that the sample falls on every place of a run.
          .sample_every = all_terms ? 1 : (1 + visits_->order().size() / sampled_rows) | 1U,
          .fetch_ahead = static_cast<std::size_t>(std::clamp(bytes_ahead / bytes_a_row, 2.0, 16.0))};
}

kernel::SweepReport DualAscent::run(kernel::SweepState& state, std::span<double> induced) const {
  const penalty::Separable& penalty = problem_.penalty;
  const auto visit = std::visit([](const auto& loss) { return kernel::RowVisit(loss); }, problem_.loss);
  return std::visit(
      [&](const auto& rows) {
        if (ridge()) {
          kernel::RidgeLink link{.w = induced, .inverse_l2 = 1.0 / (penalty.base().l2 + kappa_)};
          return kernel::dual_sweep(rows, visit, link, state);
        }
        if (penalty.uniform()) {
          kernel::ElasticNetLink link{
              .u = induced, .l1 = penalty.base().l1, .inverse_l2 = 1.0 / (penalty.base().l2 + kappa_)};
          return kernel::dual_sweep(rows, visit, link, state);
        }
        kernel::FactoredLink link{.u = induced, .penalty = penalty, .extra = kappa_};
        return kernel::dual_sweep(rows, visit, link, state);
      },
      problem_.design.matrix);
}

}  // namespace fenchel::solver
