// The linear systems of the interior point method, and the steps that follow from their solutions.
#include <algorithm>
#include <cmath>

#include "fenchel/kernel/inner_products.hpp"
#include "fenchel/solver/interior_point.hpp"

namespace fenchel::solver {
namespace {

constexpr int refinements = 1;
constexpr double harmless = 1e-6;  // errors of u, as shares of the room it has

Eigen::Map<dense::Vector> eigen_view(std::vector<double>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

}  // namespace

void InteriorPoint::gather_free_columns() {
  free_columns_.resize(matrix_.rows(), static_cast<Eigen::Index>(free_.size()));
  std::vector<double> unit(columns_.size(), 0.0), entries(design_.rows());
  for (std::size_t k = 0; k < free_.size(); ++k) {
    unit[free_[k]] = 1.0;
    map_.margins(unit, entries);
    unit[free_[k]] = 0.0;
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] = problem_.sample.weight(i) > 0.0 ? entries[i] : 0.0;
    free_columns_.col(static_cast<Eigen::Index>(k)) = eigen_view(entries);
  }
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
    dense::add_outer_square(matrix_.data(), column, free_hold_[k]);
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

double InteriorPoint::solve() {
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
  const double passes = by_columns_ ? solve_for_columns() : solve_for_rows();
  move_pieces();
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    Column& c = columns_[j];
    if (c.free()) continue;
    c.below.move_slack(c.l1 - u_[j] - c.below.slack - u_step_[j]);
    c.above.move_slack(c.l1 + u_[j] - c.above.slack + u_step_[j]);
  }
  return passes;
}

// Of the row's system beta_step is known up to a share of its largest entry, and from z_step up to a share of the terms of a
// difference, divided by the hold: small where a piece is at an end of its box, large in between. Each row takes the better
// one, so that slacks and beta stay the same point. The system of the columns is refined until its beta_step is the better one.
void InteriorPoint::move_pieces() {
  double largest = 0.0;
  std::vector<double> sums(beta_step_.size(), 0.0);
  const auto by_scores = [&](const Piece& piece) {
    return (piece.pull(z_[piece.row]) - z_step_[piece.row]) / piece.hold();
  };
  if (!by_columns_) {
    for (const double step : beta_step_) largest = std::max(largest, std::fabs(step));
  }
  for (const Piece& piece : pieces_) sums[piece.row] += by_scores(piece);
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

// (1/column_hold + X' row_hold X) w_step = X' row_pull + column_pull / column_hold; u_step = -u where there is no penalty. Towards
// a vertex row_hold is so large for rows in between that what rounding leaves of z_step drowns their beta_step. It comes back
// in what the equations of u_step lack, and steps that make up for that are small, and so are their errors.
double InteriorPoint::solve_for_columns() {
  std::fill(w_step_.begin(), w_step_.end(), 0.0);
  std::fill(z_step_.begin(), z_step_.end(), 0.0);
  beta_step_ = row_pull_;
  std::vector<double> more(columns_.size()), scores(beta_step_.size());
  for (int round = 0;; ++round) {
    map_.adjoint(beta_step_, u_step_);
    bool negligible = true;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      const Column& c = columns_[j];
      more[j] = u_step_[j] + (c.free() ? u_[j] : (column_pull_[j] - w_step_[j]) / column_hold_[j]);
      const double harm = c.free() ? std::fabs(more[j] * w_[j]) / estimate_.gap
                                   : std::fabs(more[j]) / std::min(c.below.slack, c.above.slack);
      negligible = negligible && harm <= harmless;
    }
    if (round > refinements || (round > 0 && negligible)) return 1.0 + 2.0 * round;
    factor_.solve_in_place(eigen_view(more));
    map_.margins(more, scores);
    for (std::size_t j = 0; j < columns_.size(); ++j) w_step_[j] += more[j];
    for (std::size_t i = 0; i < beta_step_.size(); ++i) {
      z_step_[i] += scores[i];
      beta_step_[i] -= row_hold_[i] * scores[i];
    }
  }
}

// (1/row_hold + X column_hold X' + X_free free_hold X_free') beta_step
//     = row_pull / row_hold - X column_pull - X_free (w_step_free + free_hold u_free),   X_free' beta_step = -u_free,
// and once more for what these lack afterwards.
double InteriorPoint::solve_for_rows() {
  std::fill(beta_step_.begin(), beta_step_.end(), 0.0);
  for (std::size_t j = 0; j < columns_.size(); ++j) w_step_[j] = columns_[j].free() ? 0.0 : column_pull_[j];
  map_.margins(w_step_, z_step_);
  dense::Vector more(static_cast<Eigen::Index>(beta_step_.size()));
  for (int round = 0; round <= refinements; ++round) {
    for (std::size_t i = 0; i < beta_step_.size(); ++i) {
      more[static_cast<Eigen::Index>(i)] =
          row_hold_[i] > 0.0 ? (row_pull_[i] - beta_step_[i]) / row_hold_[i] - z_step_[i] : 0.0;
    }
    if (free_.empty()) {
      factor_.solve_in_place(more);
    } else {
      dense::Vector missing = -(free_columns_.transpose() * eigen_view(beta_step_));
      for (std::size_t k = 0; k < free_.size(); ++k) missing[static_cast<Eigen::Index>(k)] -= u_[free_[k]];
      for (std::size_t k = 0; k < free_.size(); ++k) {
        const auto column = static_cast<Eigen::Index>(k);
        more += free_columns_.col(column) * (free_hold_[k] * missing[column]);
      }
      factor_.solve_in_place(more);
      const dense::Vector free_steps = dense::solve_general(dense::inner_product(free_columns_, free_solutions_),
                                                            free_columns_.transpose() * more - missing);
      more -= free_solutions_ * free_steps;
      for (std::size_t k = 0; k < free_.size(); ++k) w_step_[free_[k]] += free_steps[static_cast<Eigen::Index>(k)];
    }
    eigen_view(beta_step_) += more;
    map_.adjoint(beta_step_, u_step_);
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      if (!columns_[j].free()) w_step_[j] = column_pull_[j] + column_hold_[j] * u_step_[j];
    }
    map_.margins(w_step_, z_step_);
  }
  return 3.0 + 2.0 * refinements;
}

}  // namespace fenchel::solver
