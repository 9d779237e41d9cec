// The sweeps of multiclass dual ascent over rows, in blocks or by two threads in step.
#include <algorithm>
#include <array>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/solver/block_merge.hpp"
#include "fenchel/solver/multiclass_sdca.hpp"

namespace fenchel::solver {
namespace {

constexpr std::size_t rows_to_sample = 2048;
// Two blocks pay where a sweep, with entries counted once a class, is long against the copies of the weights and against starting
// a thread, and where the loss has no corners: with them, blocks take as many more epochs as two threads save, or more (letter.scale,
// 20news-tfidf, sector.scale, usps).
constexpr double copies_repaid = 4.0;
constexpr double least_work = 1 << 20;
// Threads in step exchange scores at every row, which takes a quarter of a microsecond: rows are long enough from so many products on.
constexpr double least_products_in_step = 1000.0;
// Starting a thread takes as long as some hundred thousand products with weights.
constexpr double least_products_in_sweep = 1 << 18;

}  // namespace

kernel::MulticlassSweepReport MulticlassSdca::sweep() {
  if (duo_ != nullptr) duo_->begin_epoch();
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
  kernel::MulticlassSweepReport report = blocks > 1 ? sweep_blocks(order, blocks) : run(state_of(order));
  if (report.changed && plain_ && cornered_) sweep_support(order, report);
  return report;
}

kernel::MulticlassSweepReport MulticlassSdca::sweep_blocks(std::span<const std::uint32_t> order,
                                                           std::size_t blocks) {
  const std::size_t k = problem_.classes();
  workers_.resize(std::max(workers_.size(), blocks));
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
    reports[b] = run(state);
  });
  merge(order, blocks);
  kernel::MulticlassSweepReport total;
  for (const kernel::MulticlassSweepReport& report : reports) total.add(report);
  return total;
}

// Adds the blocks' changes with the step nu of dual_ascent.hpp.
void MulticlassSdca::merge(std::span<const std::uint32_t> order, std::size_t blocks) {
  const double share = 1.0 / sigma_;
  const std::span<Block> workers = std::span(workers_).first(blocks);
  BlockNorms norms = add_changes(stored_, blocks, 1.0 / inverse_l2_.front(), share,
                                 [&](std::size_t k) { return std::span<double>(workers[k].stored); });
  std::vector<double> moved(b_.size());
  for (std::size_t l = 0; l < b_.size(); ++l) {
    moved[l] = norms.measure(1.0 / bias_step_, blocks, [&](std::size_t k) { return workers[k].b[l] - b_[l]; });
  }
  const double nu = plain_ ? norms.step(blocks, sigma_) : 1.0;
  std::swap(stored_, workers.front().stored);
  take_back(stored_, workers.front().stored, nu);
  for (std::size_t l = 0; l < b_.size(); ++l) b_[l] += nu * share * moved[l];
  if (nu == 1.0) return;
  const std::size_t k = problem_.classes();
  for (const std::uint32_t i : order) {
    for (std::size_t e = i * k; e < (i + 1) * k; ++e) {
      beta_[e] = std::max(0.0, beta_before_[e] + nu * (beta_[e] - beta_before_[e]));
    }
  }
}

kernel::MulticlassSweepState MulticlassSdca::state_of(std::span<const std::uint32_t> order) {
  const double products = static_cast<double>(order.size()) * entries_a_row() * static_cast<double>(stride_);
  return {
      .order = order,
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
      .sample_every = (1 + visits_.order().size() / rows_to_sample) | 1U,  // odd, as in dual_ascent.cpp
      .halves = {.splits = splits_, .duo = splits_.empty() ? nullptr : duo_for(products, least_products_in_sweep)}};
}

bool MulticlassSdca::halves_pay() const {
  const double products = entries_a_row() * static_cast<double>(stride_);
  const bool in_one_piece = visits_.windows().size() == 1 && blocks_for(problem_.rows()) == 1;
  return !gapless_ && products >= least_products_in_step && in_one_piece;
}

double MulticlassSdca::entries_a_row() const {
  return static_cast<double>(data::nonzeros(problem_.design.matrix)) / static_cast<double>(problem_.rows());
}

Duo* MulticlassSdca::duo_for(double products, double least) const {
  return duo_ != nullptr && duo_->pays() && products >= least ? duo_.get() : nullptr;
}

kernel::MulticlassSweepReport MulticlassSdca::run(kernel::MulticlassSweepState state) {
  const auto sweep_with = [&](const auto& weights) {
    return std::visit(
        [&](const auto& rows, const auto& loss) {
          kernel::MulticlassSweep leading(rows, loss, weights, state);
          if (state.halves.duo == nullptr) return leading.run();
          kernel::FollowingState follower(state);
          kernel::MulticlassSweep following(rows, loss, weights, follower.state);
          std::array<kernel::MulticlassSweepReport, 2> reports;
          state.halves.duo->run([&](std::size_t side) { reports[side] = (side == 0 ? leading : following).run(); });
          return reports.front();
        },
        problem_.design.matrix, problem_.loss);
  };
  if (plain_) return sweep_with(kernel::detail::PlainWeights{});
  return sweep_with(kernel::detail::ThresholdedWeights{
      .l1 = l1_.data(), .inverse_l2 = inverse_l2_.data(), .step = problem_.penalty.uniform() ? 0u : 1u});
}

}  // namespace fenchel::solver
