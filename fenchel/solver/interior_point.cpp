#include "fenchel/solver/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/kernel/inner_products.hpp"

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

Eigen::Map<dense::Vector> as_vector(std::vector<double>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

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

void InteriorPoint::gather_free_columns() {
  free_columns_.resize(matrix_.rows(), static_cast<Eigen::Index>(free_.size()));
  std::vector<double> unit(columns_.size(), 0.0), entries(design_.rows());
  for (std::size_t k = 0; k < free_.size(); ++k) {
    unit[free_[k]] = 1.0;
    map_.margins(unit, entries);
    unit[free_[k]] = 0.0;
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] = problem_.sample.weight(i) > 0.0 ? entries[i] : 0.0;
    free_columns_.col(static_cast<Eigen::Index>(k)) = as_vector(entries);
  }
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
  constexpr double products_a_solution = 3.0;
  const double mean = mean_product({.primal = 0.0, .dual = 0.0});
  double passes = factorize();
  for_each_pair([](Pair& pair) { pair.target = 0.0; });
  solve();
  const double ratio = mean_product(longest()) / mean;
  const double pairs = 2.0 * static_cast<double>(pieces_.size() + columns_.size());
  const double centre =
      std::max(std::clamp(ratio * ratio * ratio, 1e-6, 1.0) * mean, least_gap * estimate_.primal / pairs);
  for_each_pair([&](Pair& pair) { pair.target = centre - pair.slack_step * pair.multiplier_step; });
  solve();
  passes += 2 * products_a_solution;
  for (int k = 0; k < most_corrections; ++k) {
    passes += products_a_solution;
    if (!correct(centre)) break;
  }
  Lengths lengths = longest();
  lengths.primal = std::min(1.0, part_of_the_way * lengths.primal);
  lengths.dual = std::min(1.0, part_of_the_way * lengths.dual);
  const bool sound = std::isfinite(as_vector(w_step_).sum() + as_vector(beta_step_).sum());
  stationary_ = !sound || std::max(lengths.primal, lengths.dual) < shortest_step;
  if (sound) {
    move(lengths);
    assess();
  }
  return passes + 2.0;  // z and u afresh
}

// One of Gondzio's multiple centrality corrections: where a longer step would leave products far from `centre`, their targets
// make up for it. False where that did not allow a longer step; then the old one is back.
bool InteriorPoint::correct(double centre) {
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
  solve();
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

double InteriorPoint::form_matrix() {
  std::fill(row_hold_.begin(), row_hold_.end(), 0.0);
  for (const Piece& piece : pieces_) row_hold_[piece.row] += 1.0 / piece.hold();
  for (std::size_t j = 0; j < columns_.size(); ++j) column_hold_[j] = columns_[j].hold();
  if (by_columns_) {
    matrix_.setZero();
    sums_.add_gram(all_, row_hold_, {matrix_.data(), static_cast<std::size_t>(matrix_.size())});
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!columns_[j].free()) matrix_.diagonal()[static_cast<Eigen::Index>(j)] += 1.0 / column_hold_[j];
    }
    return sums_.gram_work(all_.rows) / sums_.nonzeros();
  }
  kernel::inner_products(design_, column_hold_, matrix_);
  // Towards a vertex the rows between their bounds outnumber the columns that hold them, all but the free ones: without
  // these the matrix tends to a singular one. As X_free' beta_step is known, any multiple of them may be added.
  const double trace = matrix_.trace();
  free_hold_.assign(free_.size(), 0.0);
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const auto column = free_columns_.col(static_cast<Eigen::Index>(k));
    if (!(column.squaredNorm() > 0.0)) continue;
    free_hold_[k] = trace > 0.0 ? trace / column.squaredNorm() : 1.0;
    matrix_.selfadjointView<Eigen::Lower>().rankUpdate(column, free_hold_[k]);
  }
  for (std::size_t i = 0; i < row_hold_.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    if (row_hold_[i] > 0.0) {
      matrix_(k, k) += 1.0 / row_hold_[i];
    } else {  // a row without weight has beta = 0 and takes no part: an identity of its own
      matrix_.row(k).head(k).setZero();
      matrix_.col(k).tail(matrix_.rows() - k).setZero();
      matrix_(k, k) = 1.0;
    }
  }
  return 0.5 * static_cast<double>(design_.rows());
}

double InteriorPoint::factorize() {
  const double passes = form_matrix();
  // Rounding may leave no positive pivot; then the diagonal grows until there is one.
  const dense::Vector diagonal = matrix_.diagonal();
  const double scale = diagonal.size() > 0 ? diagonal.maxCoeff() : 0.0;
  for (double lift = 0.0;; lift = std::max(10.0 * lift, unit_roundoff)) {
    if (lift > 0.0) matrix_.diagonal() = (diagonal * (1.0 + lift)).array() + lift * lift * scale;
    if (factor_.factorize(matrix_) || !(lift < 1.0)) break;
  }
  if (by_columns_ || free_.empty()) return passes;
  free_solutions_ = factor_.solve(free_columns_);
  return passes;
}

void InteriorPoint::solve() {
  // Everything of a pair but its own step is put into the pulls.
  std::fill(row_pull_.begin(), row_pull_.end(), 0.0);
  for (const Piece& piece : pieces_) row_pull_[piece.row] += piece.pull(z_[piece.row]) / piece.hold();
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Column& c = columns_[j];
    if (c.free()) continue;
    const double below_missing = c.l1 - u_[j] - c.below.slack, above_missing = c.l1 + u_[j] - c.above.slack;
    // Both multipliers after their steps, less w: what rounding made of their difference before is corrected.
    column_pull_[j] = c.below.target / c.below.slack - c.above.target / c.above.slack - w_[j] -
                      c.below.ratio() * below_missing + c.above.ratio() * above_missing;
  }
  by_columns_ ? solve_for_columns() : solve_for_rows();

  move_pieces();
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    Column& c = columns_[j];
    if (c.free()) continue;
    c.below.move_slack(c.l1 - u_[j] - c.below.slack - u_step_[j]);
    c.above.move_slack(c.l1 + u_[j] - c.above.slack + u_step_[j]);
  }
}

// Of the row's system beta_step is known up to a share of its largest entry, and from z_step up to a share of the terms of a
// difference, divided by the hold: small where a piece is at an end of its box, large in between. Each row takes the better
// one, so that slacks and beta stay the same point.
void InteriorPoint::move_pieces() {
  double largest = by_columns_ ? infinity : 0.0;
  std::vector<double> sums(by_columns_ ? 0 : beta_step_.size(), 0.0);
  const auto by_scores = [&](const Piece& piece) {
    return (piece.pull(z_[piece.row]) - z_step_[piece.row]) / piece.hold();
  };
  if (!by_columns_) {
    for (const double step : beta_step_) largest = std::max(largest, std::fabs(step));
    for (const Piece& piece : pieces_) sums[piece.row] += by_scores(piece);
  }
  for (Piece& piece : pieces_) {
    const std::size_t i = piece.row;
    double step = by_scores(piece);
    if (row_hold_[i] * (std::fabs(z_[i]) + std::fabs(z_step_[i]) + std::fabs(piece.t)) > largest) {
      step += (beta_step_[i] - sums[i]) / (piece.hold() * row_hold_[i]);
    }
    piece.low.move_slack(step);
    piece.high.move_slack(-step);
  }
}

// (1/column_hold + X' row_hold X) w_step = X' row_pull + column_pull / column_hold; u_step = -u where there is no penalty.
void InteriorPoint::solve_for_columns() {
  map_.adjoint(row_pull_, u_step_);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    w_step_[j] = u_step_[j] + (columns_[j].free() ? u_[j] : column_pull_[j] / column_hold_[j]);
  }
  factor_.solve_in_place(as_vector(w_step_));
  map_.margins(w_step_, z_step_);
  for (std::size_t i = 0; i < beta_step_.size(); ++i) beta_step_[i] = row_pull_[i] - row_hold_[i] * z_step_[i];
  map_.adjoint(beta_step_, u_step_);
}

// (1/row_hold + X column_hold X' + X_free free_hold X_free') beta_step
//     = row_pull / row_hold - X column_pull - X_free (w_step_free + free_hold u_free),   X_free' beta_step = -u_free.
void InteriorPoint::solve_for_rows() {
  for (std::size_t j = 0; j < columns_.size(); ++j) w_step_[j] = columns_[j].free() ? 0.0 : column_pull_[j];
  for (std::size_t k = 0; k < free_.size(); ++k) w_step_[free_[k]] = free_hold_[k] * u_[free_[k]];
  map_.margins(w_step_, z_step_);
  for (std::size_t i = 0; i < beta_step_.size(); ++i) {
    beta_step_[i] = row_hold_[i] > 0.0 ? row_pull_[i] / row_hold_[i] - z_step_[i] : 0.0;
  }
  factor_.solve_in_place(as_vector(beta_step_));
  dense::Vector free_steps(static_cast<Eigen::Index>(free_.size()));
  if (!free_.empty()) {
    dense::Vector missing = free_columns_.transpose() * as_vector(beta_step_);
    for (std::size_t k = 0; k < free_.size(); ++k) missing[static_cast<Eigen::Index>(k)] += u_[free_[k]];
    free_steps = dense::solve_general(dense::inner_product(free_columns_, free_solutions_), missing);
    as_vector(beta_step_) -= free_solutions_ * free_steps;
  }
  map_.adjoint(beta_step_, u_step_);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (!columns_[j].free()) w_step_[j] = column_pull_[j] + column_hold_[j] * u_step_[j];
  }
  for (std::size_t k = 0; k < free_.size(); ++k) w_step_[free_[k]] = free_steps[static_cast<Eigen::Index>(k)];
  map_.margins(w_step_, z_step_);
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
  double gap = 0.0, primal = 0.0, excess = 1.0;
  for_each_pair([&](const Pair& pair) { gap += pair.product(); });
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (columns_[j].free()) {
      gap += std::fabs(u_[j] * w_[j]);
    } else {
      excess = std::max(excess, std::fabs(u_[j]) / columns_[j].l1);
      primal += columns_[j].l1 * std::fabs(w_[j]);
    }
  }
  for (const Piece& piece : pieces_) {
    const double pull = piece.t - z_[piece.row];
    primal += std::max(piece.most * pull, piece.least * pull);
  }
  estimate_ = {.gap = gap + (1.0 - 1.0 / excess) * primal, .primal = primal, .scatter = 1.5};
}

problem::Candidate InteriorPoint::candidate() {
  double largest = 0.0;
  for (std::size_t j = 0; j < offered_w_.size(); ++j)
    largest = std::max(largest, columns_[j].l1 * std::fabs(w_[j]));
  // In the end either the weight or the room that u has is zero: the smaller of the two, each by its own scale.
  for (std::size_t j = 0; j < offered_w_.size(); ++j) {
    const Column& c = columns_[j];
    const double room = c.free() ? 0.0 : std::min(c.below.slack, c.above.slack) / c.l1;
    offered_w_[j] = c.l1 * std::fabs(w_[j]) < room * largest ? 0.0 : w_[j];
  }
  for (std::size_t i = 0; i < beta_.size(); ++i) {
    const double c = problem_.sample.weight(i);
    offered_alpha_[i] = c > 0.0 ? beta_[i] * problem_.sample.weight_sum / c : 0.0;
  }
  return {.w = offered_w_, .b = problem_.free_bias ? w_.back() : 0.0, .alpha = offered_alpha_};
}

}  // namespace fenchel::solver
