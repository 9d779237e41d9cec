#include "fenchel/solver/multiclass_sdca.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/solver/feature_splits.hpp"

namespace fenchel::solver {
namespace {

constexpr std::uint64_t epochs_between_inductions = 50;
constexpr double kappa_factor = 10.0;  // as in dual_ascent.cpp

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
      random_(conduct.seed + 1),  // another one than that of the order
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
  if (halves_pay()) splits_ = feature_splits(problem_.design.matrix);
  // Two sides of a round have two classes each, at least.
  const bool in_rounds =
      gapless_ && plain_ && cornered_ && visits_.windows().size() == 1 && problem_.classes() >= 4;
  if ((!splits_.empty() || in_rounds) && threads() > 1) duo_ = Duo::start(stride_ + problem_.classes());
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
  LargeVector u(problem_.dimension() * k);
  map_.adjoint(alpha, u);
  const double scale = plain_ ? inverse_l2_.front() : 1.0;
  for (std::size_t j = 0; j < problem_.dimension(); ++j) {
    for (std::size_t l = 0; l < k; ++l) stored_[j * stride_ + l] = u[j * k + l] * scale;
  }
  for (std::size_t l = 0; l < b_.size(); ++l) b_[l] = center_[l] + bias_step_ * sums[l].total();
}

double MulticlassSdca::passes_of(double work) const {
  const auto entries = static_cast<double>(std::max<std::size_t>(data::nonzeros(problem_.design.matrix), 1));
  return work / (entries * static_cast<double>(problem_.classes()));
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
               .scatter = mean_.empty() || scattered_ ? 1.6 : 0.8};
  estimate_.primal = plain_ && !cornered_  // nobody rests for long then, and the conjugates are dear
                         ? report.visited_shares * sampled * report.sampled_losses + last_conjugate_
                         : dual_value() + estimate_.gap;
  const bool settled = !report.changed && drift == 0.0;
  stationary_ = settled && complete;
  if (settled) visits_.wake();  // the next epoch asks everybody
  return std::max(passes, 0.01);
}

}  // namespace fenchel::solver
