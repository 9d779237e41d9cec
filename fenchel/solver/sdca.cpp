#include "fenchel/solver/sdca.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/residence.hpp"

namespace fenchel::solver {
namespace {

constexpr std::uint64_t epochs_between_refreshes = 50;
constexpr std::size_t sampled_rows = 4096;
// Large enough for a disk to read at full speed, and to mix many rows; small against any memory. It must not depend on the
// machine, so that the same seed gives the same bits.
constexpr std::size_t window_bytes = std::size_t{32} << 20;
// kappa relative to lambda / mean ||x_i||^2, so that it does not depend on the scale of the features.
constexpr double relative_kappa = 10.0;

bool plain_ridge(const penalty::Separable& penalty) { return penalty.uniform() && penalty.base().l1 == 0.0; }

}  // namespace

std::optional<std::string_view> Sdca::missing(const loss::Any& loss, const penalty::Separable& penalty) {
  const bool steps = std::visit([]<class L>(const L&) { return loss::DualStepLoss<L>; }, loss);
  if (!steps) return "a loss with an exact dual step";
  if (!(penalty.strong_convexity() > 0.0)) {
    return "a penalty that is strongly convex in every feature (l2, or elastic-net with --l1-ratio below 1, with "
           "lambda "
           "> 0 and no penalty factor of 0)";
  }
  return std::nullopt;
}

Sdca::Sdca(const problem::Problem& problem, const Start& start, Conduct conduct)
    : problem_(problem),
      map_(problem.design),
      random_(conduct.seed),
      shares_(problem.rows()),
      alpha_(problem.rows(), 0.0),
      induced_(problem.dimension(), 0.0) {
  if (problem.rows() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Fault::failure, "sdca numbers rows with 32 bits: more than 4294967295 rows need --solver fista");
  }
  std::vector<double> inverse_l2(problem_.dimension());
  for (std::size_t j = 0; j < inverse_l2.size(); ++j) inverse_l2[j] = 1.0 / problem_.penalty[j].l2;
  curvatures_ = map_.row_square_norms(inverse_l2);
  CompensatedSum mean;
  for (std::size_t i = 0; i < problem_.rows(); ++i) {
    shares_[i] = problem_.sample.weight(i) / problem_.sample.weight_sum;
    if (shares_[i] > 0.0) order_.push_back(static_cast<std::uint32_t>(i));
    mean.add(shares_[i] * curvatures_[i]);
  }
  if (problem_.free_bias) bias_step_ = mean.total() > 0.0 ? mean.total() / relative_kappa : 1.0;
  for (std::size_t i = 0; i < curvatures_.size(); ++i) curvatures_[i] = shares_[i] * (curvatures_[i] + bias_step_);
  if (!start.alpha.empty()) {
    std::visit(
        [&](const auto& loss) {
          for (const std::uint32_t i : order_) {
            alpha_[i] = loss::project_dual(loss, problem_.sample.targets[i], start.alpha[i]);
          }
        },
        problem_.loss);
    center_ = start.b;
  }
  if (conduct.rows == RowOrder::windows) cut_windows();
  induce();
}

void Sdca::cut_windows() {
  const std::size_t n = problem_.rows();
  const std::size_t bytes_a_row = data::bytes_of(problem_.design.matrix) / n;
  const std::size_t rows = std::clamp<std::size_t>(window_bytes / (bytes_a_row + 1), 1, n);
  for (std::size_t first = 0; first < n; first += rows) windows_.push_back({first, std::min(n, first + rows)});
}

void Sdca::draw_order() {
  if (windows_.empty()) {
    random_.shuffle(std::span(order_));
    return;
  }
  random_.shuffle(std::span(windows_));
  order_.clear();
  for (Window& window : windows_) {
    const std::size_t begin = order_.size();
    for (std::size_t i = window.first; i < window.last; ++i) {
      if (shares_[i] > 0.0) order_.push_back(static_cast<std::uint32_t>(i));
    }
    random_.shuffle(std::span(order_).subspan(begin));
    window.end = order_.size();
  }
}

void Sdca::induce() {
  std::vector<double> scaled(alpha_.size());
  for (std::size_t i = 0; i < alpha_.size(); ++i) scaled[i] = shares_[i] * alpha_[i];
  map_.adjoint(scaled, induced_);
  if (plain_ridge(problem_.penalty)) {
    for (double& w : induced_) w /= problem_.penalty.base().l2;
  }
  CompensatedSum sum;
  for (const double s : scaled) sum.add(s);
  b_ = problem_.free_bias ? center_ + bias_step_ * sum.total() : 0.0;
}

double Sdca::step() {
  double passes = 1.0;
  if (++epoch_ % epochs_between_refreshes == 0) {
    induce();
    passes += 1.0;
  }
  draw_order();
  kernel::SweepState state{.order = order_,
                           .targets = problem_.sample.targets,
                           .shares = shares_,
                           .curvatures = curvatures_,
                           .alpha = alpha_,
                           .constant = problem_.design.constant,
                           .b = b_,
                           .bias_step = bias_step_,
                           .sample_every = 1 + order_.size() / sampled_rows};
  const kernel::SweepReport report = sweep(state);

  // Recentring: b = b_t + s/kappa with s = sum c alpha / sum c; the new centre is b, so the same s moves it once more.
  const double moved = state.b - center_;
  const double imbalance = bias_step_ > 0.0 ? 2 * moved * moved / bias_step_ : 0.0;
  center_ = state.b;
  b_ = problem_.free_bias ? center_ + moved : 0.0;
  const double sampled = report.sampled_shares > 0.0 ? 1.0 / report.sampled_shares : 0.0;
  estimate_ = {.gap = sampled * report.sampled_terms + imbalance,
               .primal = sampled * report.sampled_losses + problem_.penalty.value(candidate().w),
               .scatter = 1.6};
  stationary_ = !report.changed && moved == 0.0;
  return passes;
}

kernel::SweepReport Sdca::sweep(kernel::SweepState& state) {
  if (windows_.empty()) return sweep_part(state);
  kernel::SweepReport total;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < windows_.size(); ++k) {
    // The disk reads the next window while this one is worked on.
    if (k + 1 < windows_.size())
      data::will_need(problem_.design.matrix, windows_[k + 1].first, windows_[k + 1].last);
    state.order = std::span(order_).subspan(begin, windows_[k].end - begin);
    begin = windows_[k].end;
    const kernel::SweepReport part = sweep_part(state);
    total.sampled_terms += part.sampled_terms;
    total.sampled_losses += part.sampled_losses;
    total.sampled_shares += part.sampled_shares;
    total.changed = total.changed || part.changed;
  }
  return total;
}

kernel::SweepReport Sdca::sweep_part(kernel::SweepState& state) {
  const penalty::Separable& penalty = problem_.penalty;
  return std::visit(
      [&](const auto& rows, const auto& loss) {
        if (plain_ridge(penalty)) {
          kernel::RidgeLink link{.w = induced_, .inverse_l2 = 1.0 / penalty.base().l2};
          return kernel::dual_sweep(rows, loss, link, state);
        }
        if (penalty.uniform()) {
          kernel::ElasticNetLink link{
              .u = induced_, .l1 = penalty.base().l1, .inverse_l2 = 1.0 / penalty.base().l2};
          return kernel::dual_sweep(rows, loss, link, state);
        }
        kernel::FactoredLink link{.u = induced_, .penalty = penalty};
        return kernel::dual_sweep(rows, loss, link, state);
      },
      problem_.design.matrix, problem_.loss);
}

problem::Candidate Sdca::candidate() {
  if (plain_ridge(problem_.penalty)) return {.w = induced_, .b = center_, .alpha = alpha_};
  w_.resize(induced_.size());
  for (std::size_t j = 0; j < w_.size(); ++j) w_[j] = problem_.penalty[j].conjugate_gradient(induced_[j]);
  return {.w = w_, .b = center_, .alpha = alpha_};
}

}  // namespace fenchel::solver
