#include "fenchel/solver/multiclass_sdca.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fenchel/base/error.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/solver/block_merge.hpp"

namespace fenchel::solver {
namespace {

constexpr std::uint64_t epochs_between_inductions = 50;
constexpr std::size_t rows_to_sample = 2048;
constexpr double kappa_factor = 10.0;      // as in dual_ascent.cpp
constexpr std::uint8_t longest_rest = 16;  // epochs
// Two blocks pay where a part of the sweep is long against the copies of the weights and against starting a thread; as in
// dual_ascent.cpp, with entries counted once a class.
constexpr double copies_repaid = 4.0;
constexpr double least_work = 1 << 17;
constexpr double classes_supported = 3.0;  // a row's own one among them, more or less
// Sweeps over the support after one over everything: how many, and what share of its gain makes another one worth while.
constexpr int most_support_sweeps = 12;
constexpr double gain_worthwhile = 0.4;
constexpr double least_newest = 1.0 / 3.0;  // share of the last weights in the running mean

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
      random_(conduct.seed),
      stride_(kernel::padded(problem.classes())),
      plain_(problem.penalty.uniform() && problem.penalty.base().l1 == 0.0),
      idle_(problem.rows(), 0),
      rest_(problem.rows(), 0),
      shares_(problem.rows()),
      beta_(problem.rows() * problem.classes(), 0.0),
      stored_(problem.dimension() * stride_, 0.0),
      blocks_(conduct.ascent.blocks),
      sigma_(plain_ ? 1.3 : static_cast<double>(conduct.ascent.blocks)) {
  if (problem.rows() > std::numeric_limits<std::uint32_t>::max())
    throw Error(Fault::failure, "sdca numbers rows with 32 bits: there are more than 4294967295 rows");
  const std::size_t strengths = problem_.penalty.uniform() ? 1 : problem_.dimension();
  std::vector<double> scale(problem_.dimension());
  for (std::size_t j = 0; j < scale.size(); ++j) scale[j] = 1.0 / problem_.penalty[j].l2;
  for (std::size_t j = 0; j < strengths; ++j) {
    l1_.push_back(problem_.penalty[j].l1);
    inverse_l2_.push_back(1.0 / problem_.penalty[j].l2);
  }
  curvatures_ = data::LinearMap(problem_.design).row_square_norms(scale);
  CompensatedSum mean;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    shares_[i] = problem_.sample.weight(i) / problem_.sample.weight_sum;
    mean.add(shares_[i] * curvatures_[i]);
    counted_ += shares_[i] > 0.0 ? 1 : 0;
  }
  if (problem_.free_bias) {
    bias_step_ = mean.total() > 0.0 ? mean.total() / kappa_factor : 1.0;
    center_.assign(problem_.classes(), 0.0);
    b_ = center_;
  }
  for (std::size_t i = 0; i < curvatures_.size(); ++i) curvatures_[i] = shares_[i] * (curvatures_[i] + bias_step_);
  set_start(start);
  windows_ = conduct.rows == RowOrder::windows
                 ? RowVisits::cut_windows(problem_.design.matrix)
                 : std::vector<RowVisits::Window>{{.first = 0, .last = problem_.rows()}};
  induce();
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

void MulticlassSdca::draw_order() {
  order_.clear();
  if (windows_.size() > 1) random_.shuffle(std::span(windows_));
  for (RowVisits::Window& window : windows_) {
    for (std::size_t i = window.first; i < window.last; ++i) {
      if (shares_[i] == 0.0 || (rest_[i] > 0 && rest_[i]-- > 0)) continue;
      order_.push_back(static_cast<std::uint32_t>(i));
    }
    window.end = order_.size();
  }
  shuffle_within_windows();
}

void MulticlassSdca::keep_supported() {
  const std::size_t k = problem_.classes();
  std::size_t begin = 0, kept = 0;
  for (RowVisits::Window& window : windows_) {
    for (std::size_t n = begin; n < window.end; ++n) {
      const auto beta = std::span(beta_).subspan(order_[n] * k, k);
      if (std::any_of(beta.begin(), beta.end(), [](double b) { return b > 0.0; })) order_[kept++] = order_[n];
    }
    begin = window.end;
    window.end = kept;
  }
  order_.resize(kept);
}

void MulticlassSdca::shuffle_within_windows() {
  std::size_t begin = 0;
  for (const RowVisits::Window& window : windows_) {
    random_.shuffle(std::span(order_).subspan(begin, window.end - begin));
    begin = window.end;
  }
}

void MulticlassSdca::induce() {
  const std::size_t k = problem_.classes();
  std::vector<double> alpha(beta_.size());
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

void MulticlassSdca::write_weights(const std::vector<double>& from) {
  const std::size_t k = problem_.classes();
  w_.resize(problem_.dimension() * k);
  for_each_block(problem_.dimension(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const penalty::Strength g = problem_.penalty[j];
      for (std::size_t l = 0; l < k; ++l) {
        const double stored = from[j * stride_ + l];
        w_[j * k + l] = plain_ ? stored : g.conjugate_gradient(stored);
      }
    }
  });
}

kernel::MulticlassSweepReport MulticlassSdca::sweep() {
  kernel::MulticlassSweepReport total;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < windows_.size(); ++k) {
    // The disk reads the next window while this one is worked on.
    if (k + 1 < windows_.size()) {
      data::will_need(problem_.design.matrix, windows_[k + 1].first, windows_[k + 1].last);
    }
    total.add(sweep_window(std::span(order_).subspan(begin, windows_[k].end - begin)));
    begin = windows_[k].end;
  }
  return total;
}

double MulticlassSdca::work_of(std::size_t rows) const {
  const double entries = static_cast<double>(data::nonzeros(problem_.design.matrix)) *
                         (static_cast<double>(rows) / static_cast<double>(problem_.rows()));
  return entries * (supported_ ? classes_supported : static_cast<double>(problem_.classes()));
}

double MulticlassSdca::work_repaid(double copies) const {
  return std::max(copies * copies_repaid * static_cast<double>(stored_.size()), least_work);
}

kernel::MulticlassSweepReport MulticlassSdca::sweep_window(std::span<const std::uint32_t> order) {
  const double work = work_of(order.size());
  const bool pays = plain_ && work >= work_repaid(2);
  const std::size_t blocks = std::min(blocks_ > 0 ? blocks_ : pays ? 2 : 1, std::max<std::size_t>(order.size(), 1));
  if (blocks == 1) {
    kernel::MulticlassSweepState state = state_of(order);
    return run(state);
  }
  const double part = work_repaid(static_cast<double>(blocks));
  const auto parts = std::clamp<std::size_t>(static_cast<std::size_t>(work / part), 1, order.size());
  kernel::MulticlassSweepReport report;
  for (std::size_t k = 0; k < parts; ++k) {
    const std::size_t begin = k * order.size() / parts, end = (k + 1) * order.size() / parts;
    report.add(sweep_blocks(order.subspan(begin, end - begin), blocks));
  }
  return report;
}

double MulticlassSdca::sweep_support(double full_gain) {
  if (!plain_ || !std::visit([](const auto& loss) { return loss.sparse_dual; }, problem_.loss)) return 0.0;
  supported_ = true;
  keep_supported();
  double passes = 0.0, gain = full_gain;
  for (int t = 0; t < most_support_sweeps && gain >= gain_worthwhile * full_gain; ++t) {
    shuffle_within_windows();
    gain = sweep().gain;
    passes += static_cast<double>(order_.size()) / static_cast<double>(problem_.rows());
  }
  supported_ = false;
  return passes;
}

kernel::MulticlassSweepReport MulticlassSdca::sweep_blocks(std::span<const std::uint32_t> order,
                                                           std::size_t blocks) {
  const std::size_t k = problem_.classes();
  copies_.resize(blocks);
  biases_.resize(blocks);
  beta_before_.resize(beta_.size());
  for (const std::uint32_t i : order) {
    std::copy_n(beta_.begin() + static_cast<std::ptrdiff_t>(i * k), k,
                beta_before_.begin() + static_cast<std::ptrdiff_t>(i * k));
  }
  std::vector<kernel::MulticlassSweepReport> reports(blocks);
  parallel_for(blocks, [&](std::size_t block) {
    copies_[block] = stored_;
    biases_[block] = b_;
    const std::size_t begin = block * order.size() / blocks, end = (block + 1) * order.size() / blocks;
    kernel::MulticlassSweepState state = state_of(order.subspan(begin, end - begin));
    state.stored = copies_[block];
    state.b = biases_[block];
    state.caution = sigma_;
    reports[block] = run(state);
  });
  merge(order);
  kernel::MulticlassSweepReport total;
  for (const kernel::MulticlassSweepReport& report : reports) total.add(report);
  return total;
}

// Adds the blocks' changes with the step nu of dual_ascent.hpp.
void MulticlassSdca::merge(std::span<const std::uint32_t> order) {
  const double caution = sigma_;
  double nu = 1.0;
  if (plain_) {
    const std::size_t blocks = copies_.size();
    BlockNorms norms = block_sum<BlockNorms>(stored_.size(), [&](std::size_t e, BlockNorms& local) {
      local.measure(1.0 / inverse_l2_.front(), blocks, [&](std::size_t k) { return copies_[k][e] - stored_[e]; });
    });
    for (std::size_t l = 0; l < b_.size(); ++l) {
      norms.measure(1.0 / bias_step_, blocks, [&](std::size_t k) { return biases_[k][l] - b_[l]; });
    }
    nu = norms.step(blocks, sigma_);
  }
  const auto add = [factor = nu / caution](std::span<const std::vector<double>> copies, double& entry,
                                           std::size_t e) {
    double sum = 0.0;
    for (const std::vector<double>& copy : copies) sum += copy[e] - entry;
    entry += factor * sum;
  };
  for_each_block(stored_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) add(copies_, stored_[e], e);
  });
  for (std::size_t l = 0; l < b_.size(); ++l) add(biases_, b_[l], l);
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
          .idle = idle_,
          .supported = supported_,
          .sample_every = 1 + order_.size() / rows_to_sample};
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
  draw_order();
  const kernel::MulticlassSweepReport report = sweep();
  passes += static_cast<double>(order_.size()) / static_cast<double>(problem_.rows());
  for (const std::uint32_t i : order_) {
    if (idle_[i] > 1)
      rest_[i] = static_cast<std::uint8_t>(std::min<int>(longest_rest, 1 << std::min(idle_[i] - 2, 5)));
  }
  if (report.changed) passes += sweep_support(report.gain);

  // Recentring, as in dual_ascent.cpp.
  double imbalance = 0.0, drift = 0.0;
  for (std::size_t l = 0; l < b_.size(); ++l) {
    const double moved = b_[l] - center_[l];
    imbalance += 2 * moved * moved / bias_step_;
    drift = std::max(drift, std::fabs(moved));
    center_[l] = b_[l];
    b_[l] += moved;
  }
  update_mean(report.gain);
  double penalty = 0.0;
  const std::size_t k = problem_.classes();
  if (plain_) {
    penalty = block_sum<CompensatedSum>(problem_.dimension(),
                                        [&](std::size_t j, CompensatedSum& sum) {
                                          double square = 0.0;
                                          for (std::size_t l = 0; l < k; ++l)
                                            square += stored_[j * stride_ + l] * stored_[j * stride_ + l];
                                          sum.add(square);
                                        })
                  .total() /
              (2 * inverse_l2_.front());
  } else {
    write_weights(stored_);
    for (std::size_t j = 0; j < problem_.dimension(); ++j) {
      const penalty::Strength g = problem_.penalty[j];
      for (std::size_t l = 0; l < k; ++l) penalty += g.value(w_[j * k + l]);
    }
  }
  const double sampled = report.sampled_shares > 0.0 ? 1.0 / report.sampled_shares : 0.0;
  // Rows that rest are guessed to add nothing. The terms are the last weights': the running mean's gap is half theirs, or less.
  estimate_ = {.gap = report.visited_shares * sampled * report.sampled_terms + imbalance,
               .primal = report.visited_shares * sampled * report.sampled_losses + penalty,
               .scatter = mean_.empty() ? 1.6 : 0.8};
  const bool settled = !report.changed && drift == 0.0;
  stationary_ = settled && order_.size() == counted_;
  if (settled) std::fill(rest_.begin(), rest_.end(), std::uint8_t{0});  // the next epoch asks everybody
  return std::max(passes, 0.01);
}

// A mean over many epochs where they gain little by little, the last weights alone where every epoch gains far less than the
// one before.
void MulticlassSdca::update_mean(double gain) {
  const double newest = std::max(least_newest, 1.0 - gain / std::max(last_gain_, gain));
  last_gain_ = gain;
  if (mean_.empty()) {
    if (std::holds_alternative<loss::MulticlassHinge>(problem_.loss)) mean_ = stored_;
    return;
  }
  for_each_block(mean_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) mean_[e] += newest * (stored_[e] - mean_[e]);
  });
}

problem::MulticlassCandidate MulticlassSdca::candidate() {
  write_weights(mean_.empty() || stationary_ ? stored_ : mean_);
  return {.w = w_, .b = center_, .beta = beta_};
}

}  // namespace fenchel::solver
