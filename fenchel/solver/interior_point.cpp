#include "fenchel/solver/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

// A step goes this far towards the boundary, and never closer to the end than that.
constexpr double part_of_the_way = 0.995;
// Beyond this the matrix would not be worth its memory, or even fit.
constexpr std::size_t largest_system = 5000;
// Up to here a factorisation costs about as much as what other methods do meanwhile.
constexpr std::size_t modest_system = 1500;
constexpr int most_corrections = 3;  // of a direction
// Of the primal value: there the products stay, and steps only make up for what rounding left of the equations. Farther on the
// systems are so ill-conditioned that their solutions lead away.
constexpr double least_gap = 1e-12;
constexpr double shortest_step = 1e-10;  // at which nothing is gained any more

std::size_t system_size(const problem::Problem& problem) {
  return std::min(problem.rows(), problem.dimension() + (problem.free_bias ? 1 : 0));
}

data::Design with_free_column(const problem::Problem& problem) {
  data::Design design = problem.design;
  if (problem.free_bias) design.constant = 1.0;
  return design;
}

bool same_slope(double a, double b) {
  return std::fabs(a - b) <= 8 * unit_roundoff * std::max(std::fabs(a), std::fabs(b));
}

double sum_of_steps(const std::vector<double>& steps) { return std::accumulate(steps.begin(), steps.end(), 0.0); }

}  // namespace

std::optional<std::string_view> InteriorPoint::missing(const loss::Any& loss, const penalty::Separable& penalty) {
  if (loss::smoothness(loss) > 0.0) return "a loss of straight pieces, which a smooth one is not";
  if (penalty.base().l2 > 0.0) return "an l1 penalty without an l2 part, or none";
  return std::nullopt;
}

bool InteriorPoint::pays(const problem::Problem& problem) { return system_size(problem) <= modest_system; }

InteriorPoint::InteriorPoint(const problem::Problem& problem, const Start& /*start*/, Conduct /*conduct*/)
    : problem_(problem),
      design_(with_free_column(problem)),
      map_(design_),
      sums_(design_),
      by_columns_(design_.cols() <= design_.rows()),
      columns_(design_.cols()) {
  if (system_size(problem) > largest_system) {
    throw Error(
        Fault::usage,
        fmt::format("--solver interior-point factorises a matrix of {} rows, the fewer of rows and columns, and "
                    "takes at most {}: choose --solver sdca or pdhg",
                    system_size(problem), largest_system));
  }
  if (problem.rows() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Fault::usage, "interior-point numbers rows with 32 bits: choose --solver sdca or pdhg");
  }
  const std::size_t n = design_.rows(), d = design_.cols();
  for (auto* vector : {&z_, &beta_, &z_step_, &beta_step_, &row_hold_, &row_pull_, &offered_alpha_}) {
    vector->resize(n, 0.0);
  }
  for (auto* vector : {&w_, &u_, &w_step_, &u_step_, &column_hold_, &column_pull_}) vector->resize(d, 0.0);
  offered_w_.resize(problem.dimension());
  all_.rows.resize(n);
  std::iota(all_.rows.begin(), all_.rows.end(), 0u);
  sums_.bind(all_);
  for (std::size_t j = 0; j < problem.dimension(); ++j) columns_[j].l1 = problem.penalty[j].l1;
  for (std::size_t j = 0; j < d; ++j) {
    if (columns_[j].free()) free_.push_back(j);
  }
  add_pieces();
  start_centrally();
  const auto size = static_cast<Eigen::Index>(by_columns_ ? d : n);
  matrix_.resize(size, size);
  if (!by_columns_) gather_free_columns();
}

// The conjugate is linear on either side of 0: phi*(-alpha) = -t alpha, with a t of its own for each side.
void InteriorPoint::add_pieces() {
  std::visit(
      [&](const auto& loss) {
        for (std::size_t i = 0; i < problem_.rows(); ++i) {
          const double share = problem_.sample.weight(i) / problem_.sample.weight_sum;
          if (share == 0.0) continue;
          const double y = problem_.sample.targets[i];
          const Interval domain = loss.dual_domain(y);
          const auto slope = [&](double end) { return -loss.conjugate(y, end) / end; };
          const auto add = [&](double low, double high, double t) {
            pieces_.push_back(
                {.row = static_cast<std::uint32_t>(i), .t = t, .least = share * low, .most = share * high});
            pieces_.back().low.slack = pieces_.back().high.slack = 0.5 * share * (high - low);
            beta_[i] += 0.5 * share * (low + high);
          };
          const bool up = domain.high > 0.0, down = domain.low < 0.0;
          if (up && down && same_slope(slope(domain.low), slope(domain.high))) {
            add(domain.low, domain.high, slope(domain.high));
            continue;
          }
          if (up) add(0.0, domain.high, slope(domain.high));
          if (down) add(domain.low, 0.0, slope(domain.low));
        }
      },
      problem_.loss);
}

// beta in the middle of its boxes and w = 0, with products that are about equal.
void InteriorPoint::start_centrally() {
  double size = 0.0;
  for (const Piece& piece : pieces_) size += std::fabs(piece.t) / static_cast<double>(pieces_.size());
  if (!(size > 0.0)) size = 1.0;
  double product = 0.0;
  for (Piece& piece : pieces_) {
    piece.high.multiplier = size + std::max(0.0, piece.t);
    piece.low.multiplier = size + std::max(0.0, -piece.t);
    product += (piece.high.product() + piece.low.product()) / (2.0 * static_cast<double>(pieces_.size()));
  }
  map_.adjoint(beta_, u_);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    Column& column = columns_[j];
    if (column.free()) continue;
    column.below.slack = column.above.slack = column.l1 + std::fabs(u_[j]);
    column.below.multiplier = column.above.multiplier = product / column.below.slack;
  }
}

template <class Visit>
void InteriorPoint::for_each_pair(Visit&& visit) {
  for (Piece& piece : pieces_) {
    visit(piece.low);
    visit(piece.high);
  }
  for (Column& column : columns_) {
    if (column.free()) continue;
    visit(column.below);
    visit(column.above);
  }
}

double InteriorPoint::mean_product(Lengths lengths) {
  CompensatedSum sum;
  double count = 0.0;
  for_each_pair([&](const Pair& pair) {
    sum.add((pair.slack + lengths.dual * pair.slack_step) *
            (pair.multiplier + lengths.primal * pair.multiplier_step));
    count += 1.0;
  });
  return sum.total() / count;
}

double InteriorPoint::step() {
  const double mean = mean_product({.primal = 0.0, .dual = 0.0});
  double passes = factorize();
  for_each_pair([](Pair& pair) { pair.target = 0.0; });
  passes += solve();
  const double ratio = mean_product(longest()) / mean;
  const double pairs = 2.0 * static_cast<double>(pieces_.size() + columns_.size());
  const double centre =
      std::max(std::clamp(ratio * ratio * ratio, 1e-6, 1.0) * mean, least_gap * estimate_.primal / pairs);
  for_each_pair([&](Pair& pair) { pair.target = centre - pair.slack_step * pair.multiplier_step; });
  passes += solve();
  for (int k = 0; k < most_corrections; ++k) {
    if (!correct(centre, passes)) break;
  }
  Lengths lengths = longest();
  lengths.primal = std::min(1.0, part_of_the_way * lengths.primal);
  lengths.dual = std::min(1.0, part_of_the_way * lengths.dual);
  const bool sound = std::isfinite(sum_of_steps(w_step_) + sum_of_steps(beta_step_));
  stationary_ = !sound || std::max(lengths.primal, lengths.dual) < shortest_step;
  if (sound) {
    move(lengths);
    assess();
    choose_weights();
  }
  return passes + 3.0;  // z and u afresh, and the scores of what is offered
}

// One of Gondzio's multiple centrality corrections: where a longer step would leave products far from `centre`, their targets
// make up for it. False where that did not allow a longer step; then the old one is back.
bool InteriorPoint::correct(double centre, double& passes) {
  constexpr double farther = 0.3, least_gain = 0.1, low = 0.1, high = 10.0;
  const Lengths before = longest();
  if (before.primal >= 1.0 && before.dual >= 1.0) return false;
  const Direction kept{pieces_, columns_, w_step_, z_step_, beta_step_, u_step_};
  const double primal = std::min(1.0, before.primal + farther), dual = std::min(1.0, before.dual + farther);
  for_each_pair([&](Pair& pair) {
    const double product =
        (pair.slack + dual * pair.slack_step) * (pair.multiplier + primal * pair.multiplier_step);
    pair.target += std::max(std::clamp(product, low * centre, high * centre) - product, -high * centre);
  });
  passes += solve();
  const Lengths after = longest();
  if (after.primal + after.dual >= before.primal + before.dual + least_gain * farther) return true;
  pieces_ = kept.pieces;
  columns_ = kept.columns;
  w_step_ = kept.w;
  z_step_ = kept.z;
  beta_step_ = kept.beta;
  u_step_ = kept.u;
  return false;
}

// Primal and dual steps are of their own lengths, as linear programs allow.
InteriorPoint::Lengths InteriorPoint::longest() {
  Lengths lengths{.primal = infinity, .dual = infinity};
  for_each_pair([&](const Pair& pair) {
    if (pair.slack_step < 0.0) lengths.dual = std::min(lengths.dual, -pair.slack / pair.slack_step);
    if (pair.multiplier_step < 0.0)
      lengths.primal = std::min(lengths.primal, -pair.multiplier / pair.multiplier_step);
  });
  return {.primal = std::min(lengths.primal, 1.0 / part_of_the_way),
          .dual = std::min(lengths.dual, 1.0 / part_of_the_way)};
}

void InteriorPoint::move(Lengths lengths) {
  for_each_pair([&](Pair& pair) {
    pair.slack += lengths.dual * pair.slack_step;
    pair.multiplier += lengths.primal * pair.multiplier_step;
  });
  // beta is what the smaller slack of its box says: a sum of its own steps would, after what rounding leaves of their
  // systems, lie outside by far more than a slack that is almost zero, and u with it.
  std::fill(beta_.begin(), beta_.end(), 0.0);
  for (Piece& piece : pieces_) {
    const double width = piece.most - piece.least;
    if (piece.low.slack < piece.high.slack) {
      piece.high.slack = width - piece.low.slack;
      beta_[piece.row] += piece.least + piece.low.slack;
    } else {
      piece.low.slack = width - piece.high.slack;
      beta_[piece.row] += piece.most - piece.high.slack;
    }
  }
  for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += lengths.primal * w_step_[j];
  map_.margins(w_, z_);
  map_.adjoint(beta_, u_);
}

// With feasible u the gap is the sum of all products; u that exceed their bounds will be scaled, at about that price.
void InteriorPoint::assess() {
  double gap = 0.0, excess = 1.0;
  for_each_pair([&](const Pair& pair) { gap += pair.product(); });
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (columns_[j].free()) {
      gap += std::fabs(u_[j] * w_[j]);
    } else {
      excess = std::max(excess, std::fabs(u_[j]) / columns_[j].l1);
    }
  }
  const double value = primal(w_, z_);
  estimate_ = {.gap = gap + (1.0 - 1.0 / excess) * value, .primal = value, .scatter = 1.5};
}

double InteriorPoint::primal(std::span<const double> w, std::span<const double> z) const {
  double value = 0.0;
  for (std::size_t j = 0; j < columns_.size(); ++j) value += columns_[j].l1 * std::fabs(w[j]);
  for (const Piece& piece : pieces_) {
    const double pull = piece.t - z[piece.row];
    value += std::max(piece.most * pull, piece.least * pull);
  }
  return value;
}

// In the end either the weight or the room that u has is zero: the smaller of the two, each by its own scale. Where columns
// are of very different lengths a small weight may be one that matters; then all stay as they are.
void InteriorPoint::choose_weights() {
  double largest = 0.0;
  for (std::size_t j = 0; j < w_.size(); ++j) largest = std::max(largest, columns_[j].l1 * std::fabs(w_[j]));
  std::vector<double> sparse = w_, scores(z_.size());
  for (std::size_t j = 0; j < w_.size(); ++j) {
    const Column& c = columns_[j];
    const double room = c.free() ? 0.0 : std::min(c.below.slack, c.above.slack) / c.l1;
    if (c.l1 * std::fabs(w_[j]) < room * largest) sparse[j] = 0.0;
  }
  map_.margins(sparse, scores);
  const bool matters = primal(sparse, scores) > estimate_.primal + 0.1 * estimate_.gap;
  std::copy_n(matters ? w_.begin() : sparse.begin(), offered_w_.size(), offered_w_.begin());
}

problem::Candidate InteriorPoint::candidate() {
  for (std::size_t i = 0; i < beta_.size(); ++i) {
    const double c = problem_.sample.weight(i);
    offered_alpha_[i] = c > 0.0 ? beta_[i] * problem_.sample.weight_sum / c : 0.0;
  }
  return {.w = offered_w_, .b = problem_.free_bias ? w_.back() : 0.0, .alpha = offered_alpha_};
}

}  // namespace fenchel::solver
