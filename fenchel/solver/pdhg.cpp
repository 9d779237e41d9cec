#include "fenchel/solver/pdhg.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/random.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

// When to restart (Applegate et al., "PDLP"): the residual fell by the first, or by the second and has begun to rise, or
// the rounds between restarts have become this share of all.
constexpr double sufficient = 0.2;
constexpr double necessary = 0.8;
constexpr double longest_round = 0.36;
constexpr double safety = 0.998;  // of step lengths against the norm
constexpr int power_iterations = 12;
constexpr double power_slack = 1.05;  // what they may lack
constexpr double trusted = 1e-6;      // share of the largest residual
constexpr double farthest = 5.0;      // factor by which the weight moves at a restart

data::Design with_bias_column(const problem::Problem& problem) {
  data::Design design = problem.design;
  if (problem.free_bias) design.constant = 1.0;
  return design;
}

template <class Term>
double ordered_sum(std::size_t count, Term&& term) {
  return block_sum<CompensatedSum>(count, [&](std::size_t k, CompensatedSum& sum) { sum.add(term(k)); }).total();
}

void mix(std::span<double> now, std::span<const double> next, std::span<const double> anchor, double share) {
  for_each_block(now.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      now[k] = share * (2 * next[k] - now[k]) + (1.0 - share) * anchor[k];
    }
  });
}

}  // namespace

std::optional<std::string_view> Pdhg::missing(const loss::Any& loss, const penalty::Separable& /*penalty*/) {
  const bool steps = std::visit([]<class L>(const L&) { return loss::DualStepLoss<L>; }, loss);
  return steps ? std::nullopt : std::optional<std::string_view>("a loss with an exact dual step");
}

Pdhg::Pdhg(const problem::Problem& problem, const Start& start, Conduct /*conduct*/)
    : problem_(problem), design_(with_bias_column(problem)), map_(design_) {
  const std::size_t n = problem.rows(), d = design_.cols();
  now_.w.assign(start.w.begin(), start.w.end());
  now_.w.resize(d, 0.0);
  if (problem.free_bias) now_.w.back() = start.b;
  now_.alpha.assign(start.alpha.begin(), start.alpha.end());
  now_.alpha.resize(n, 0.0);
  now_.z.resize(n);
  now_.u.resize(d);
  scaled_.resize(n);
  for (std::size_t i = 0; i < n; ++i) shares_.push_back(problem.sample.weight(i) / problem.sample.weight_sum);
}

double Pdhg::step() {
  double passes = 2.0;
  if (!begun_) {
    begun_ = true;
    choose_metric();
    measure_norm();
    map_.margins(now_.w, now_.z);
    induce(now_);
    anchor_ = next_ = now_;
    choose_weight();
    passes += (problem_.penalty.constraint() ? 4.0 : 6.0) + 2.0 * power_iterations;
  }
  descend();
  ascend();
  assess();
  ++steps_;
  ++since_restart_;
  restart_pays() ? restart() : go_on();
  return passes;
}

void Pdhg::choose_metric() {
  const std::size_t features = problem_.dimension();
  column_metric_.resize(design_.cols(), 1.0);
  row_metric_.resize(design_.rows(), 1.0);
  std::vector<double> ignored(design_.cols()), sums(design_.cols());
  map_.adjoint(shares_, ignored, sums);
  if (problem_.penalty.constraint() && features > 0) {
    // A projection measures all features alike; a bias of its own always has its own length.
    const auto end = sums.begin() + static_cast<std::ptrdiff_t>(features);
    std::fill(sums.begin(), end, *std::max_element(sums.begin(), end));
  }
  for (std::size_t j = 0; j < sums.size(); ++j) {
    if (sums[j] > 0.0) column_metric_[j] = sums[j];
  }
  if (problem_.penalty.constraint()) return;
  row_metric_ = map_.row_absolute_sums();
  for (double& e : row_metric_) {
    if (!(e > 0.0)) e = 1.0;
  }
}

// A few power iterations on M'M, M = diag(sqrt(s_i / e_i)) X diag(1 / sqrt(d_j)); a step that shows more will be believed.
void Pdhg::measure_norm() {
  Random random(1);
  std::vector<double> v(design_.cols()), z(design_.rows());
  for (double& x : v) x = 1.0 + random.uniform();
  for (int k = 0; k < power_iterations; ++k) {
    const double length = std::sqrt(ordered_sum(v.size(), [&](std::size_t j) { return v[j] * v[j]; }));
    if (!(length > 0.0)) break;
    norm_ = std::max(norm_, std::sqrt(k > 0 ? length : 0.0));
    for (std::size_t j = 0; j < v.size(); ++j) v[j] /= length * std::sqrt(column_metric_[j]);
    map_.margins(v, z);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= shares_[i] / row_metric_[i];
    map_.adjoint(z, v);
    for (std::size_t j = 0; j < v.size(); ++j) v[j] /= std::sqrt(column_metric_[j]);
  }
  std::vector<double> inverse = column_metric_;
  for (double& d : inverse) d = 1.0 / d;
  const LargeVector squares = map_.row_square_norms(inverse);
  most_norm_ = std::sqrt(
      ordered_sum(squares.size(), [&](std::size_t i) { return shares_[i] * squares[i] / row_metric_[i]; }));
  norm_ = norm_ > 0.0 ? std::min(power_slack * norm_, most_norm_) : 1.0;
}

// How large alpha may be over how large w must be for scores of about 1, both in their metrics.
void Pdhg::choose_weight() {
  const double rows =
      std::sqrt(ordered_sum(shares_.size(), [&](std::size_t i) { return shares_[i] * row_metric_[i]; }));
  const double scores =
      std::sqrt(ordered_sum(shares_.size(), [&](std::size_t i) { return shares_[i] / row_metric_[i]; }));
  // Where |u_j| is bounded, so is alpha: by the share of alpha = -phi'(0) that obeys the bound.
  double share = 1.0;
  if (!problem_.penalty.constraint()) {
    State slope = now_;
    std::visit(
        [&](const auto& loss) {
          for (std::size_t i = 0; i < slope.alpha.size(); ++i) {
            slope.alpha[i] = -loss.derivative(problem_.sample.targets[i], now_.z[i]);
          }
        },
        problem_.loss);
    induce(slope);
    for (std::size_t j = 0; j < problem_.dimension(); ++j) {
      const penalty::Strength g = problem_.penalty[j];
      if (g.l1 > 0.0 && g.l2 == 0.0 && std::fabs(slope.u[j]) > g.l1)
        share = std::min(share, g.l1 / std::fabs(slope.u[j]));
    }
  }
  const double guess = share * rows / scores * norm_;
  weight_ = guess > 0.0 && std::isfinite(guess) ? guess : 1.0;
}

void Pdhg::induce(State& state) {
  for_each_block(scaled_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) scaled_[i] = shares_[i] * state.alpha[i];
  });
  map_.adjoint(scaled_, state.u);
}

void Pdhg::descend() {
  const double tau = safety / (norm_ * weight_);
  for (std::size_t j = 0; j < next_.w.size(); ++j) {
    const double t = tau / column_metric_[j];
    next_.w[j] = now_.w[j] + t * now_.u[j];
    if (j < problem_.dimension()) next_.w[j] = problem_.penalty[j].prox(next_.w[j], t);
  }
  if (const auto& constraint = problem_.penalty.constraint()) {
    penalty::project(*constraint, std::span(next_.w).first(problem_.dimension()));
  }
  map_.margins(next_.w, next_.z);
}

void Pdhg::ascend() {
  const double sigma = safety * weight_ / norm_;
  std::visit(
      [&]<class L>(const L& loss) {
        if constexpr (loss::DualStepLoss<L>) {
          for_each_block(next_.alpha.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
              if (shares_[i] == 0.0) continue;
              next_.alpha[i] = loss.dual_step(problem_.sample.targets[i], now_.alpha[i], 2 * next_.z[i] - now_.z[i],
                                              row_metric_[i] / sigma);
            }
          });
        }
      },
      problem_.loss);
  induce(next_);
}

// The length of v - T(v) in the metric in which T moves no two points apart, and the gap of T(v): Fenchel-Young terms with the
// scaling that makes u feasible, and a price for a u that should be 0 and is not.
void Pdhg::assess() {
  const double tau = safety / (norm_ * weight_), sigma = safety * weight_ / norm_;
  const double primal = ordered_sum(now_.w.size(), [&](std::size_t j) {
    return column_metric_[j] * (next_.w[j] - now_.w[j]) * (next_.w[j] - now_.w[j]);
  });
  const double dual = ordered_sum(shares_.size(), [&](std::size_t i) {
    return shares_[i] * row_metric_[i] * (next_.alpha[i] - now_.alpha[i]) * (next_.alpha[i] - now_.alpha[i]);
  });
  const double cross = ordered_sum(shares_.size(), [&](std::size_t i) {
    return shares_[i] * (next_.alpha[i] - now_.alpha[i]) * (next_.z[i] - now_.z[i]);
  });
  residual_ = std::sqrt(std::max(0.0, primal / tau + dual / sigma + 2 * cross));
  // Movements near rounding say nothing about the norm.
  largest_residual_ = std::max(largest_residual_, residual_);
  const double seen = std::fabs(cross) / std::sqrt(primal * dual);
  if (seen > norm_ && residual_ > trusted * largest_residual_) norm_ = std::min(seen, most_norm_);
  stationary_ = primal == 0.0 && dual == 0.0;

  double scale = 1.0, penalty = 0.0, spill = 0.0;
  const std::span<const double> w = std::span(next_.w).first(problem_.dimension());
  const std::span<const double> u = std::span(next_.u).first(problem_.dimension());
  if (const auto& constraint = problem_.penalty.constraint()) {
    const double product = ordered_sum(w.size(), [&](std::size_t j) { return w[j] * u[j]; });
    penalty = std::fabs(penalty::support(*constraint, u) - product);
  } else {
    for (std::size_t j = 0; j < w.size(); ++j) {
      const penalty::Strength g = problem_.penalty[j];
      if (g.l2 == 0.0 && g.l1 > 0.0 && std::fabs(u[j]) > g.l1) scale = std::min(scale, g.l1 / std::fabs(u[j]));
      if (g.unpenalized()) spill += std::fabs(u[j] * w[j]);
    }
    penalty = ordered_sum(w.size(), [&](std::size_t j) {
      const penalty::Strength g = problem_.penalty[j];
      return g.unpenalized() ? 0.0 : g.fenchel_young(w[j], scale * u[j]);
    });
  }
  if (problem_.free_bias) {
    const double size =
        ordered_sum(shares_.size(), [&](std::size_t i) { return shares_[i] * std::fabs(next_.z[i]); });
    spill += std::fabs(next_.u.back()) * (std::fabs(next_.w.back()) + size);
  }
  const auto over_rows = [&](auto&& term) {
    return std::visit(
        [&](const auto& loss) {
          return ordered_sum(shares_.size(), [&](std::size_t i) {
            return shares_[i] == 0.0 ? 0.0 : shares_[i] * term(loss, problem_.sample.targets[i], i);
          });
        },
        problem_.loss);
  };
  const double losses = over_rows([&](const auto& loss, double y, std::size_t i) {
    return loss.fenchel_young(y, next_.z[i], loss.dual_domain(y).clamp(scale * next_.alpha[i]));
  });
  const double risk =
      over_rows([&](const auto& loss, double y, std::size_t i) { return loss.value(y, next_.z[i]); });
  estimate_ = {.gap = losses + penalty + spill, .primal = risk + problem_.penalty.value(w), .scatter = 1.5};
}

bool Pdhg::restart_pays() {
  if (since_restart_ == 1.0) first_residual_ = residual_;
  const double last = std::exchange(last_residual_, residual_);
  if (since_restart_ == 1.0) return false;
  return residual_ <= sufficient * first_residual_ ||
         (residual_ <= necessary * first_residual_ && residual_ > last) || since_restart_ >= longest_round * steps_;
}

void Pdhg::restart() {
  const double primal = ordered_sum(next_.w.size(), [&](std::size_t j) {
    return column_metric_[j] * (next_.w[j] - anchor_.w[j]) * (next_.w[j] - anchor_.w[j]);
  });
  const double dual = ordered_sum(shares_.size(), [&](std::size_t i) {
    return shares_[i] * row_metric_[i] * (next_.alpha[i] - anchor_.alpha[i]) * (next_.alpha[i] - anchor_.alpha[i]);
  });
  // Half of the way, in logarithms, to where both parts move equally far.
  const double wanted = std::sqrt(std::sqrt(dual / primal) / weight_);
  if (wanted > 0.0 && std::isfinite(wanted)) weight_ *= std::clamp(wanted, 1.0 / farthest, farthest);
  now_ = next_;
  anchor_ = next_;
  since_restart_ = 0.0;
}

void Pdhg::go_on() {
  const double share = since_restart_ / (since_restart_ + 1.0);
  mix(now_.w, next_.w, anchor_.w, share);
  mix(now_.alpha, next_.alpha, anchor_.alpha, share);
  mix(now_.z, next_.z, anchor_.z, share);
  mix(now_.u, next_.u, anchor_.u, share);
}

problem::Candidate Pdhg::candidate() {
  return {.w = std::span(next_.w).first(problem_.dimension()),
          .b = problem_.free_bias ? next_.w.back() : 0.0,
          .alpha = next_.alpha};
}

}  // namespace fenchel::solver
