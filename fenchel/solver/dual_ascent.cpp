#include "fenchel/solver/dual_ascent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/solver/block_merge.hpp"

namespace fenchel::solver {
namespace {

constexpr double passes_between_refreshes = 50.0;
// Fenchel-Young terms that cost a logarithm are those of a sample of the rows. After so many sweeps few rows have most of the gap
// left, which a sample may miss, and a certificate in vain costs more than all terms do.
constexpr std::size_t sampled_rows = 4096;
constexpr int sampled_sweeps = 10;
// The bias's proximal term relative to lambda / mean ||x_i||^2, so that it does not depend on the scale of the features.
constexpr double relative_kappa = 10.0;
// Two blocks pay where a sweep is long against the copies of w and against starting a thread. A sweep of parts that are put
// together one by one needs fewer passes than one in which it happens once at the end, by a tenth at most, and each time
// costs more than that where parts are short.
constexpr double entries_a_coordinate = 2.0;
constexpr double entries_a_coordinate_in_a_part = 16.0;
constexpr double least_entries = 1 << 17;
// Memory is asked for this many bytes of rows in advance.
constexpr double bytes_ahead = 8192.0;
// Steps that iterate need be no better than the gap asks for.
constexpr double loosest_step = 1e-2;

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
  if (!start.alpha.empty()) {
    std::visit(
        [&](const auto& loss) {
          for (const std::uint32_t i : visits_->order()) {
            alpha_[i] = loss::project_dual(loss, problem_.sample.targets[i], start.alpha[i]);
          }
        },
        problem_.loss);
    bias_centre_ = start.b;
  }
  induce();
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
  if (std::all_of(scaled.begin(), scaled.end(), [](double s) { return s == 0.0; })) {
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

double DualAscent::entries_in(std::span<const std::uint32_t> order) const {
  return entries_a_row_ * static_cast<double>(order.size());
}

std::size_t DualAscent::blocks_for(std::span<const std::uint32_t> order) const {
  if (conduct_.ascent.blocks > 0) return conduct_.ascent.blocks;
  const double enough = std::max(2 * entries_a_coordinate * static_cast<double>(induced_.size()), least_entries);
  return ridge() && entries_in(order) >= enough ? 2 : 1;
}

kernel::SweepReport DualAscent::sweep_rows(std::span<const std::uint32_t> order) {
  const std::size_t blocks = std::min(blocks_for(order), std::max<std::size_t>(order.size(), 1));
  if (blocks == 1) {
    kernel::SweepState state = state_of(order);
    const kernel::SweepReport report = run(state, induced_);
    b_ = state.b;
    return report;
  }
  const double part =
      std::max(entries_a_coordinate_in_a_part * static_cast<double>(blocks * induced_.size()), least_entries);
  const auto parts = std::clamp<std::size_t>(static_cast<std::size_t>(entries_in(order) / part), 1, order.size());
  kernel::SweepReport report;
  for (std::size_t k = 0; k < parts; ++k) {
    const std::size_t begin = k * order.size() / parts, end = (k + 1) * order.size() / parts;
    report.add(sweep_blocks(order.subspan(begin, end - begin), blocks));
  }
  return report;
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

// Blocks share no row: rows drawn independently, some of them twice, are dealt out by their number.
std::vector<std::span<const std::uint32_t>> DualAscent::cut(std::span<const std::uint32_t> order,
                                                            std::size_t blocks) {
  std::vector<std::span<const std::uint32_t>> parts(blocks);
  if (conduct_.ascent.sampling == Sampling::permutation) {
    for (std::size_t k = 0; k < blocks; ++k) {
      const std::size_t begin = k * order.size() / blocks, end = (k + 1) * order.size() / blocks;
      parts[k] = order.subspan(begin, end - begin);
    }
    return parts;
  }
  dealt_.resize(order.size());
  std::size_t end = 0;
  for (std::size_t k = 0; k < blocks; ++k) {
    const std::size_t begin = end;
    for (const std::uint32_t i : order) {
      if (i % blocks == k) dealt_[end++] = i;
    }
    parts[k] = std::span(dealt_).subspan(begin, end - begin);
  }
  return parts;
}

kernel::SweepReport DualAscent::sweep_blocks(std::span<const std::uint32_t> order, std::size_t blocks) {
  copies_.resize(blocks);
  alpha_before_.resize(alpha_.size());
  for (const std::uint32_t i : order) alpha_before_[i] = alpha_[i];
  std::vector<kernel::SweepState> states(blocks, state_of({}));
  std::vector<kernel::SweepReport> reports(blocks);
  const std::vector<std::span<const std::uint32_t>> parts = cut(order, blocks);
  parallel_for(blocks, [&](std::size_t k) {
    copies_[k] = induced_;
    states[k].order = parts[k];
    states[k].caution = sigma_;
    states[k].rule.largest_curvature *= sigma_;
    reports[k] = run(states[k], copies_[k]);
  });
  merge(order, states);
  kernel::SweepReport total;
  for (const kernel::SweepReport& report : reports) total.add(report);
  return total;
}

// Adds the blocks' changes; see the top of the header. What the sum would be with nu = 1 takes the place of the first copy while
// the norms are found: most often it is the result.
void DualAscent::merge(std::span<const std::uint32_t> order, std::span<const kernel::SweepState> states) {
  const double caution = states.front().caution;
  BlockNorms norms = block_sum<BlockNorms>(induced_.size(), [&](std::size_t j, BlockNorms& local) {
    const double sum = local.measure(problem_.penalty.base().l2 + kappa_, states.size(),
                                     [&](std::size_t k) { return copies_[k][j] - induced_[j]; });
    copies_.front()[j] = induced_[j] + sum / caution;
  });
  if (bias_step_ > 0.0) {
    norms.measure(1.0 / bias_step_, states.size(), [&](std::size_t k) { return states[k].b - b_; });
  }
  const double nu = ridge() ? norms.step(states.size(), sigma_) : 1.0;
  std::swap(induced_, copies_.front());
  if (nu < 1.0) {
    for_each_block(induced_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) induced_[j] += (1.0 - nu) * (copies_.front()[j] - induced_[j]);
    });
  }
  double moved = 0.0;
  for (const kernel::SweepState& state : states) moved += state.b - b_;
  b_ += nu / caution * moved;
  if (nu == 1.0) return;
  for (const std::uint32_t i : order) {
    const double change = alpha_[i] - alpha_before_[i];
    if (change == 0.0) continue;
    alpha_before_[i] = alpha_[i] = alpha_before_[i] + nu * change;  // both: a row may be in the order twice
  }
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
