// The sweeps of multiclass dual ascent: over rows, over their supports, in blocks, and by two threads in step.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/kernel/support_sweep.hpp"
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
// Where the other thread hardly got to run, so many sweeps over rows go without it.
constexpr int sweeps_alone = 4;
// Sweeps over the support after one over everything: how many at most, and the part of its mean gain from a row with which a row
// still takes part. Parts of 0.02 to 0.05 take the least time on 20news-tfidf and sector.scale, those below 0.01 up to a half more. Where
// every row has an entry for every feature, visits to a few classes are far shorter than to all: 0.001 to 0.003 take an eighth less
// than 0.05 on letter.scale, and as much on usps.
constexpr int most_support_sweeps = 50;
constexpr double part_of_mean_gain = 0.05;
constexpr double part_without_gaps = 0.003;
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

}  // namespace

// What a thread that follows has for its own.
struct MulticlassSdca::Follower {
  explicit Follower(kernel::MulticlassSweepState& leader) : b(leader.b.begin(), leader.b.end()), state(leader) {
    state.b = b;
    leader.halves.side = 0;
    state.halves.side = 1;
  }
  std::vector<double> b;
  kernel::MulticlassSweepState state;
};

kernel::MulticlassSweepReport MulticlassSdca::sweep() {
  alone_ = std::max(0, alone_ - 1);
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

kernel::MulticlassSweepReport MulticlassSdca::work_on(kernel::MulticlassSweepState state, Block& block) {
  kernel::MulticlassSweepReport report = run(state);
  if (report.changed && plain_ && cornered_) sweep_support(state, block, report);
  return report;
}

void MulticlassSdca::sweep_support(kernel::MulticlassSweepState& state, Block& block,
                                   kernel::MulticlassSweepReport& report) {
  const double least =
      (gapless_ ? part_without_gaps : part_of_mean_gain) * report.gain / static_cast<double>(state.order.size());
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t i : state.order) {
    if (gains_[i] >= least) rows.push_back(i);
  }
  report.work += sweep_supports(state, block, rows, most_support_sweeps, least);
}

namespace {

// Sweeps over supports, each time over those rows that gained enough the time before.
template <class Rows, class Loss, class Weights>
class SupportSweeps {
 public:
  SupportSweeps(const Rows& rows, const Loss& loss, kernel::MulticlassSweepState& state,
                kernel::ClassSupports& supports, Random& random)
      : weights_(state),
        sweep_(rows, loss, weights_, state, supports),
        random_(random),
        order_(supports.rows.size()) {
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  }
  // Returns the work.
  double run(int times, double least_gain) {
    double work = 0.0;
    for (int t = 0; t < times && !order_.empty(); ++t) {
      random_.shuffle(std::span(order_));
      work += sweep_.run(order_, least_gain);
    }
    return work;
  }

 private:
  Weights weights_;
  kernel::SupportSweep<Rows, Loss, Weights> sweep_;
  Random& random_;
  std::vector<std::uint32_t> order_;  // of places in the supports
};

}  // namespace

double MulticlassSdca::sweep_supports(kernel::MulticlassSweepState& state, Block& block,
                                      std::span<const std::uint32_t> list, int times, double least_gain) {
  kernel::ClassSupports& supports = block.supports;
  supports.gather(state, list);
  const double work = std::visit(
      [&]<class Rows, class Loss>(const Rows& rows, const Loss& loss) {
        if (gapless_) {
          using Sweeps = SupportSweeps<Rows, Loss, kernel::WeightsByClass>;
          return Sweeps(rows, loss, state, supports, block.random).run(times, least_gain);
        }
        using Sweeps = SupportSweeps<Rows, Loss, kernel::WeightsByFeature>;
        if (state.halves.duo == nullptr)
          return Sweeps(rows, loss, state, supports, block.random).run(times, least_gain);
        // Both go through the same, each with supports and random numbers of its own: only the weights are divided.
        Follower follower(state);
        kernel::ClassSupports followed = supports;
        Random random = block.random;
        Sweeps leading(rows, loss, state, supports, block.random);
        Sweeps following(rows, loss, follower.state, followed, random);
        double found = 0.0;
        run_in_step([&] { found = leading.run(times, least_gain); }, [&] { following.run(times, least_gain); });
        return found;
      },
      problem_.design.matrix, problem_.loss);
  supports.scatter(state);
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
  kernel::MulticlassSweepState state = state_of(ascent_.rows());
  report.work += sweep_supports(state, workers_.front(), ascent_.rows(), sweeps_after_ascent, 0.0);
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
          .sample_every = (1 + visits_.order().size() / rows_to_sample) | 1U,  // odd, as in dual_ascent.cpp
          .halves = {.splits = splits_, .duo = alone_ > 0 ? nullptr : duo_.get()}};
}

bool MulticlassSdca::halves_pay() const {
  const double products = static_cast<double>(data::nonzeros(problem_.design.matrix)) /
                          static_cast<double>(problem_.rows()) * static_cast<double>(stride_);
  return !gapless_ && products >= least_products_in_step && visits_.windows().size() == 1 &&
         blocks_for(problem_.rows()) == 1;
}

void MulticlassSdca::run_in_step(FunctionRef<void()> lead, FunctionRef<void()> follow) {
  const bool paid = duo_->run([&](std::size_t side) { side == 0 ? lead() : follow(); });
  if (!paid) alone_ = sweeps_alone;
}

kernel::MulticlassSweepReport MulticlassSdca::run(kernel::MulticlassSweepState& state) {
  const auto sweep_with = [&](const auto& weights) {
    return std::visit(
        [&](const auto& rows, const auto& loss) {
          kernel::MulticlassSweep leading(rows, loss, weights, state);
          if (state.halves.duo == nullptr) return leading.run();
          Follower follower(state);
          kernel::MulticlassSweep following(rows, loss, weights, follower.state);
          kernel::MulticlassSweepReport report;
          run_in_step([&] { report = leading.run(); }, [&] { following.run(); });
          return report;
        },
        problem_.design.matrix, problem_.loss);
  };
  if (plain_) return sweep_with(kernel::detail::PlainWeights{});
  return sweep_with(kernel::detail::ThresholdedWeights{
      .l1 = l1_.data(), .inverse_l2 = inverse_l2_.data(), .step = problem_.penalty.uniform() ? 0u : 1u});
}

}  // namespace fenchel::solver
