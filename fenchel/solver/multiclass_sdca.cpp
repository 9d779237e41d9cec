#include "fenchel/solver/multiclass_sdca.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/kernel/support_sweep.hpp"
#include "fenchel/solver/block_merge.hpp"

namespace fenchel::solver {
namespace {

constexpr std::uint64_t epochs_between_inductions = 50;
constexpr std::size_t rows_to_sample = 2048;
constexpr double kappa_factor = 10.0;  // as in dual_ascent.cpp
// Two blocks pay where a sweep, with entries counted once a class, is long against the copies of the weights and against starting
// a thread, and where the loss has no corners: with them, blocks take as many more epochs as two threads save, or more (letter.scale,
// 20news-tfidf, sector.scale, usps).
constexpr double copies_repaid = 4.0;
constexpr double least_work = 1 << 20;
// Sweeps over the support after one over everything: how many at most, and the part of its mean gain from a row with which a row
// still takes part. Parts of 0.01 to 0.1 take about the same time on letter.scale, 20news-tfidf and usps, 0.3 and 1 more.
constexpr int most_support_sweeps = 50;
constexpr double part_of_mean_gain = 0.05;
// Conjugate gradients go up the supports after these first epochs, while sweeps still find the supports faster; with 2 or 8 instead
// letter.scale takes up to a fifth longer to 1e-3.
constexpr std::uint64_t epochs_before_ascent = 12;
// They leave gradients uneven among rows: so many sweeps follow, as letter.scale takes a fifth more passes to 1e-5 without.
constexpr int sweeps_after_ascent = 2;
// What they may take against the sweeps before them: 1 is no better than none on usps, 2 is.
constexpr double work_of_ascent = 2.0;
// They go through the classes of a support one by one. In larger weights, out of a core's own cache, every one of these is a line of
// memory of its own, and the same steps take twice as long as the sweeps that they replace (sector.scale).
constexpr std::size_t most_weights_for_ascent = 1 << 16;

std::vector<double> shares_of(const risk::ClassSample& sample) {
  std::vector<double> shares(sample.targets.size());
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = sample.weight(i) / sample.weight_sum;
  return shares;
}

}  // namespace

std::optional<std::string_view> MulticlassSdca::missing(const loss::AnyVector& /*loss*/,
                                                        const penalty::Separable& penalty) {
  if (penalty.strong_convexity() > 0.0) return std::nullopt;
  return "a penalty that is strongly convex in every feature (l2, or elastic-net with --l1-ratio below 1, with "
         "lambda > 0 "
         "and no penalty factor of 0)";
}

MulticlassSdca::MulticlassSdca(const problem::MulticlassProblem& problem, const MulticlassStart& start,
                               const Conduct& conduct)
    : problem_(problem),
      map_(problem.design, problem.classes()),
      stride_(kernel::padded(problem.classes())),
      plain_(problem.penalty.uniform() && problem.penalty.base().l1 == 0.0),
      cornered_(std::visit([](const auto& loss) { return loss.sparse_dual; }, problem.loss)),
      gapless_(data::nonzeros(problem.design.matrix) == problem.rows() * data::cols(problem.design.matrix)),
      shares_(shares_of(problem.sample)),
      visits_(problem.design.matrix, shares_, conduct),
      gains_(problem.rows(), 0.0),
      beta_(problem.rows() * problem.classes(), 0.0),
      stored_(problem.dimension() * stride_),
      seed_(conduct.seed),
      blocks_(conduct.ascent.blocks),
      sigma_(plain_ ? 1.3 : static_cast<double>(conduct.ascent.blocks)) {
  // Several threads ask the system for the memory.
  for_each_block(stored_.size(), [&](std::size_t begin, std::size_t end) {
    std::fill_n(stored_.begin() + static_cast<std::ptrdiff_t>(begin), end - begin, 0.0);
  });
  const std::size_t strengths = problem_.penalty.uniform() ? 1 : problem_.dimension();
  std::vector<double> scale(problem_.dimension());
  for (std::size_t j = 0; j < scale.size(); ++j) scale[j] = 1.0 / problem_.penalty[j].l2;
  for (std::size_t j = 0; j < strengths; ++j) {
    l1_.push_back(problem_.penalty[j].l1);
    inverse_l2_.push_back(1.0 / problem_.penalty[j].l2);
  }
  curvatures_ = data::LinearMap(problem_.design).row_square_norms(scale);
  CompensatedSum mean;
  for (std::size_t i = 0; i < shares_.size(); ++i) mean.add(shares_[i] * curvatures_[i]);
  if (problem_.free_bias) {
    bias_step_ = mean.total() > 0.0 ? mean.total() / kappa_factor : 1.0;
    center_.assign(problem_.classes(), 0.0);
    b_ = center_;
  }
  for (std::size_t i = 0; i < curvatures_.size(); ++i) curvatures_[i] = shares_[i] * (curvatures_[i] + bias_step_);
  set_start(start);
  if (!start.beta.empty()) induce();  // the weights of no dual variables are the zeros that are there
}

void MulticlassSdca::set_start(const MulticlassStart& start) {
  const std::size_t k = problem_.classes();
  for (std::size_t i = 0; i < problem_.rows(); ++i) {
    double* const beta = beta_.data() + i * k;
    const std::size_t y = problem_.sample.targets[i];
    double sum = 0.0;
    if (!start.beta.empty()) {
      for (std::size_t l = 0; l < k; ++l) {
        beta[l] = l == y ? 0.0 : std::max(0.0, start.beta[i * k + l]);
        sum += beta[l];
      }
      for (std::size_t l = 0; l < k && sum > 1.0; ++l) beta[l] /= sum;
    }
    // The losses of the entropy family keep the rest in the entry of the row's own class, the others nothing.
    beta[y] = 0.0;
  }
  if (!center_.empty() && !start.beta.empty() && start.b.size() == k)
    center_.assign(start.b.begin(), start.b.end());
}

void MulticlassSdca::induce() {
  const std::size_t k = problem_.classes();
  LargeVector alpha(beta_.size());
  std::vector<CompensatedSum> sums(k);
  for (std::size_t i = 0; i < problem_.rows(); ++i) {
    const std::size_t y = problem_.sample.targets[i];
    double sum = 0.0;
    for (std::size_t l = 0; l < k; ++l) {
      const double beta = l == y ? 0.0 : beta_[i * k + l];
      alpha[i * k + l] = -shares_[i] * beta;
      sum += beta;
    }
    alpha[i * k + y] = shares_[i] * sum;
    if (bias_step_ == 0.0) continue;
    for (std::size_t l = 0; l < k; ++l) sums[l].add(alpha[i * k + l]);
  }
  w_.resize(problem_.dimension() * k);
  map_.adjoint(alpha, w_);
  const double scale = plain_ ? inverse_l2_.front() : 1.0;
  for (std::size_t j = 0; j < problem_.dimension(); ++j) {
    for (std::size_t l = 0; l < k; ++l) stored_[j * stride_ + l] = w_[j * k + l] * scale;
  }
  for (std::size_t l = 0; l < b_.size(); ++l) b_[l] = center_[l] + bias_step_ * sums[l].total();
}

kernel::MulticlassSweepReport MulticlassSdca::sweep() {
  kernel::MulticlassSweepReport total;
  std::size_t begin = 0;
  const std::span<const RowVisits::Window> windows = visits_.windows();
  for (std::size_t k = 0; k < windows.size(); ++k) {
    // The disk reads the next window while this one is worked on.
    if (k + 1 < windows.size()) {
      data::will_need(problem_.design.matrix, windows[k + 1].first, windows[k + 1].last);
    }
    total.add(sweep_window(visits_.order().subspan(begin, windows[k].end - begin)));
    begin = windows[k].end;
  }
  return total;
}

std::size_t MulticlassSdca::blocks_for(std::size_t rows) const {
  if (blocks_ > 0) return std::min(blocks_, rows);
  const double work = static_cast<double>(data::nonzeros(problem_.design.matrix)) *
                      (static_cast<double>(rows) / static_cast<double>(problem_.rows())) *
                      static_cast<double>(problem_.classes());
  const double repaid = copies_repaid * 2.0 * static_cast<double>(stored_.size());
  return plain_ && !cornered_ && work >= std::max(repaid, least_work) ? std::min<std::size_t>(2, rows) : 1;
}

kernel::MulticlassSweepReport MulticlassSdca::sweep_window(std::span<const std::uint32_t> order) {
  if (order.empty()) return {};
  const std::size_t blocks = blocks_for(order.size());
  while (workers_.size() < blocks) workers_.emplace_back(seed_ + workers_.size() + 1);
  return blocks > 1 ? sweep_blocks(order, blocks) : work_on(state_of(order), workers_.front());
}

double MulticlassSdca::passes_of(double work) const {
  const auto entries = static_cast<double>(std::max<std::size_t>(data::nonzeros(problem_.design.matrix), 1));
  return work / (entries * static_cast<double>(problem_.classes()));
}

kernel::MulticlassSweepReport MulticlassSdca::work_on(kernel::MulticlassSweepState state, Block& block) {
  kernel::MulticlassSweepReport report = run(state);
  if (report.changed && plain_ && cornered_) sweep_support(state, block, report);
  return report;
}

void MulticlassSdca::sweep_support(const kernel::MulticlassSweepState& state, Block& block,
                                   kernel::MulticlassSweepReport& report) {
  const double least = part_of_mean_gain * report.gain / static_cast<double>(state.order.size());
  block.order.clear();
  for (const std::uint32_t i : state.order) {
    if (gains_[i] >= least) block.order.push_back(i);
  }
  report.work += sweep_supports(state, block, most_support_sweeps, least);
}

// Over the rows of the block's order; each time over those that gained enough the time before.
double MulticlassSdca::sweep_supports(const kernel::MulticlassSweepState& state, Block& block, int times,
                                      double least_gain) const {
  double work = 0.0;
  block.supports.gather(state, block.order);
  std::iota(block.order.begin(), block.order.end(), std::uint32_t{0});
  const auto sweep_with = [&](auto&& weights) {
    std::visit(
        [&](const auto& rows, const auto& loss) {
          kernel::SupportSweep sweep(rows, loss, weights, state, block.supports);
          for (int t = 0; t < times && !block.order.empty(); ++t) {
            block.random.shuffle(std::span(block.order));
            work += sweep.run(block.order, least_gain);
          }
        },
        problem_.design.matrix, problem_.loss);
  };
  if (gapless_) {
    sweep_with(kernel::WeightsByClass(state.stored, stride_));
  } else {
    sweep_with(kernel::WeightsByFeature(state.stored, stride_));
  }
  block.supports.scatter(state);
  return work;
}

void MulticlassSdca::climb_supports(kernel::MulticlassSweepReport& report) {
  const bool hinge = plain_ && center_.empty() && std::holds_alternative<loss::MulticlassHinge>(problem_.loss);
  const bool small = stored_.size() <= most_weights_for_ascent && visits_.windows().size() == 1;
  if (!hinge || !small || !report.changed || epoch_ <= epochs_before_ascent) return;
  report.work += ascent_.climb({.problem = problem_,
                                .shares = shares_,
                                .curvatures = curvatures_,
                                .inverse_l2 = inverse_l2_.front(),
                                .stride = stride_},
                               beta_, stored_, work_of_ascent * report.work);
  if (ascent_.rows().empty()) return;
  Block& block = workers_.front();
  block.order.assign(ascent_.rows().begin(), ascent_.rows().end());
  report.work += sweep_supports(state_of(block.order), block, sweeps_after_ascent, 0.0);
}

kernel::MulticlassSweepReport MulticlassSdca::sweep_blocks(std::span<const std::uint32_t> order,
                                                           std::size_t blocks) {
  const std::size_t k = problem_.classes();
  beta_before_.resize(beta_.size());
  std::vector<kernel::MulticlassSweepReport> reports(blocks);
  parallel_for(blocks, [&](std::size_t b) {
    Block& block = workers_[b];
    block.stored = stored_;
    block.b = b_;
    const std::size_t begin = b * order.size() / blocks, end = (b + 1) * order.size() / blocks;
    kernel::MulticlassSweepState state = state_of(order.subspan(begin, end - begin));
    for (const std::uint32_t i : state.order) std::copy_n(&beta_[i * k], k, &beta_before_[i * k]);
    state.stored = block.stored;
    state.b = block.b;
    state.caution = sigma_;
    reports[b] = work_on(state, block);
  });
  merge(order, blocks);
  kernel::MulticlassSweepReport total;
  for (const kernel::MulticlassSweepReport& report : reports) total.add(report);
  return total;
}

// Adds the blocks' changes with the step nu of dual_ascent.hpp.
void MulticlassSdca::merge(std::span<const std::uint32_t> order, std::size_t blocks) {
  const double caution = sigma_;
  const std::span<const Block> workers = std::span(workers_).first(blocks);
  double nu = 1.0;
  if (plain_) {
    auto norms = block_sum<BlockNorms>(stored_.size(), [&](std::size_t e, BlockNorms& local) {
      local.measure(1.0 / inverse_l2_.front(), blocks,
                    [&](std::size_t k) { return workers[k].stored[e] - stored_[e]; });
    });
    for (std::size_t l = 0; l < b_.size(); ++l) {
      norms.measure(1.0 / bias_step_, blocks, [&](std::size_t k) { return workers[k].b[l] - b_[l]; });
    }
    nu = norms.step(blocks, sigma_);
  }
  const double factor = nu / caution;
  const auto add = [&](auto part, double& entry, std::size_t e) {
    double sum = 0.0;
    for (const Block& block : workers) sum += (block.*part)[e] - entry;
    entry += factor * sum;
  };
  for_each_block(stored_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) add(&Block::stored, stored_[e], e);
  });
  for (std::size_t l = 0; l < b_.size(); ++l) add(&Block::b, b_[l], l);
  if (nu == 1.0) return;
  const std::size_t k = problem_.classes();
  for (const std::uint32_t i : order) {
    for (std::size_t e = i * k; e < (i + 1) * k; ++e) {
      beta_[e] = std::max(0.0, beta_before_[e] + nu * (beta_[e] - beta_before_[e]));
    }
  }
}

kernel::MulticlassSweepState MulticlassSdca::state_of(std::span<const std::uint32_t> order) {
  return {.order = order,
          .targets = problem_.sample.targets,
          .shares = shares_,
          .curvatures = curvatures_,
          .classes = problem_.classes(),
          .stride = stride_,
          .stored = stored_,
          .inverse_l2 = plain_ ? inverse_l2_.front() : 1.0,
          .beta = beta_,
          .b = b_,
          .bias_step = bias_step_,
          .constant = problem_.design.constant,
          .idle = visits_.idle(),
          .gains = gains_,
          .sample_every = (1 + visits_.order().size() / rows_to_sample) | 1U};  // odd, as in dual_ascent.cpp
}

kernel::MulticlassSweepReport MulticlassSdca::run(kernel::MulticlassSweepState& state) const {
  return std::visit(
      [&](const auto& rows, const auto& loss) {
        if (plain_) {
          const kernel::detail::PlainWeights weights;
          return kernel::MulticlassSweep(rows, loss, weights, state).run();
        }
        const kernel::detail::ThresholdedWeights weights{
            .l1 = l1_.data(), .inverse_l2 = inverse_l2_.data(), .step = problem_.penalty.uniform() ? 0u : 1u};
        return kernel::MulticlassSweep(rows, loss, weights, state).run();
      },
      problem_.design.matrix, problem_.loss);
}

double MulticlassSdca::step() {
  double passes = 0.0;
  if (++epoch_ % epochs_between_inductions == 0) {
    induce();
    passes += 1.0;
  }
  visits_.draw();
  kernel::MulticlassSweepReport report = sweep();
  visits_.rest();
  climb_supports(report);
  const bool complete = visits_.complete();
  passes += passes_of(report.work);

  // Recentring, as in dual_ascent.cpp.
  double imbalance = 0.0, drift = 0.0;
  for (std::size_t l = 0; l < b_.size(); ++l) {
    const double moved = b_[l] - center_[l];
    imbalance += 2 * moved * moved / bias_step_;
    drift = std::max(drift, std::fabs(moved));
    center_[l] = b_[l];
    b_[l] += moved;
  }
  take_stock(report.gain);
  const double sampled = report.sampled_shares > 0.0 ? 1.0 / report.sampled_shares : 0.0;
  // Rows that rest are guessed to add nothing to the gap. The terms are the last weights': the running mean's gap is half theirs, or
  // less.
  estimate_ = {.gap = credit_ * report.visited_shares * sampled * report.sampled_terms + imbalance,
               .scatter = mean_.empty() ? 1.6 : 0.8};
  estimate_.primal = plain_ && !cornered_  // nobody rests for long then, and the conjugates are dear
                         ? report.visited_shares * sampled * report.sampled_losses + last_conjugate_
                         : dual_value() + estimate_.gap;
  const bool settled = !report.changed && drift == 0.0;
  stationary_ = settled && complete;
  if (settled) visits_.wake();  // the next epoch asks everybody
  return std::max(passes, 0.01);
}

}  // namespace fenchel::solver
