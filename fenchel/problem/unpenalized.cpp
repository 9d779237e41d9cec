#include "fenchel/problem/unpenalized.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fenchel/base/dense.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/base/zeros.hpp"
#include "fenchel/problem/certificate.hpp"
#include "fenchel/problem/feasibility.hpp"

namespace fenchel::problem {
namespace {

// Above these the proof would cost far more than a fit.
constexpr std::size_t most_columns = 512;
constexpr std::size_t most_entries = std::size_t{1} << 27;

using Columns = UnpenalizedColumns::Columns;

// The unpenalised columns as a dense matrix, each scaled by a power of two, which is exact; columns without an entry
// ask for nothing and are left out.
Columns gather(const Problem& problem, std::span<const std::size_t> columns) {
  const auto n = static_cast<Eigen::Index>(problem.rows());
  const auto count = static_cast<Eigen::Index>(columns.size());
  Columns a = Columns::Zero(n, count + (problem.free_bias ? 1 : 0));
  const bool constant = problem.design.constant != 0.0 && columns.back() == problem.dimension() - 1;
  std::visit(
      [&](const auto& m) {
        for (Eigen::Index i = 0; i < n; ++i) {
          if (problem.sample.weight(static_cast<std::size_t>(i)) == 0.0) continue;
          m.row(static_cast<std::size_t>(i)).for_each([&](std::size_t j, double x) {
            const auto at = std::lower_bound(columns.begin(), columns.end(), j);
            if (at != columns.end() && *at == j) a(i, at - columns.begin()) = x;
          });
          if (constant) a(i, count - 1) = problem.design.constant;
          if (problem.free_bias) a(i, count) = 1.0;
        }
      },
      problem.design.matrix);
  Eigen::Index kept = 0;
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    const double largest = a.col(j).cwiseAbs().maxCoeff();
    if (largest > 0.0) a.col(kept++) = a.col(j) * std::scalbn(1.0, -std::ilogb(largest));
  }
  return a.leftCols(kept);
}

// A' diag(weight) A, row by row over the nonzeros where there are few (indicator columns), as one product otherwise.
dense::Matrix weighted_gram(const Columns& a, const dense::Vector& weight) {
  if ((a.array() != 0.0).count() * 4 > a.size()) {
    const Columns scaled = weight.asDiagonal() * a;
    return dense::outer_product(a.transpose(), scaled.transpose());
  }
  dense::Matrix gram = dense::Matrix::Zero(a.cols(), a.cols());
  std::vector<Eigen::Index> entries;
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    if (weight[i] == 0.0) continue;
    entries.clear();
    for (Eigen::Index j = 0; j < a.cols(); ++j) {
      if (a(i, j) != 0.0) entries.push_back(j);
    }
    for (const Eigen::Index j : entries) {
      const double scaled = weight[i] * a(i, j);
      for (const Eigen::Index k : entries) gram(k, j) += scaled * a(i, k);
    }
  }
  return gram;
}

// Whether column j equals the combination of the base columns with these coefficients, exactly, on every row: products
// and sums are error-free or the answer is no.
bool exactly_dependent(const Columns& a, Eigen::Index j, std::span<const Eigen::Index> base,
                       const dense::Vector& coefficients) {
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    double sum = -a(i, j);
    for (std::size_t k = 0; k < base.size(); ++k) {
      const double c = coefficients[static_cast<Eigen::Index>(k)];
      const double x = a(i, base[k]);
      if (c == 0.0 || x == 0.0) continue;
      const TwoSum next = two_sum(sum, c * x);
      if (next.error != 0.0 || std::fma(c, x, -(c * x)) != 0.0) return false;
      sum = next.sum;
    }
    if (sum != 0.0) return false;
  }
  return true;
}

// Leaves out columns that depend exactly on others. Columns are taken greedily into a base by an incremental Cholesky
// factorisation of the Gram matrix; one whose remainder vanishes is a candidate, with integer coefficients or none.
Columns independent_columns(const Columns& a) {
  constexpr double vanishing = 1e-9;
  constexpr double largest_coefficient = 1024.0;
  const dense::Matrix gram = weighted_gram(a, dense::Vector::Ones(a.rows()));
  std::vector<Eigen::Index> base;
  std::vector<Eigen::Index> kept;
  dense::Matrix factor(a.cols(), a.cols());           // lower triangle of the base's Gram matrix
  for (Eigen::Index j = a.cols() - 1; j >= 0; --j) {  // from the last, so that the bias belongs to the base
    const auto size = static_cast<Eigen::Index>(base.size());
    dense::Vector row(size);
    for (Eigen::Index k = 0; k < size; ++k) row[k] = gram(base[static_cast<std::size_t>(k)], j);
    const auto lower = factor.topLeftCorner(size, size).triangularView<Eigen::Lower>();
    if (size > 0) lower.solveInPlace(row);
    const double remainder = gram(j, j) - row.squaredNorm();
    if (remainder > vanishing * gram(j, j)) {
      factor.row(size).head(size) = row.transpose();
      factor(size, size) = std::sqrt(remainder);
      base.push_back(j);
      kept.push_back(j);
      continue;
    }
    dense::Vector coefficients = row;
    if (size > 0) lower.transpose().solveInPlace(coefficients);
    coefficients = coefficients.array().round();
    const bool small = coefficients.size() == 0 || coefficients.cwiseAbs().maxCoeff() <= largest_coefficient;
    if (!small || !exactly_dependent(a, j, base, coefficients)) kept.push_back(j);
  }
  return a(Eigen::all, kept);
}

dense::Vector rooms(const Problem& problem, std::span<const double> beta) {
  dense::Vector room(static_cast<Eigen::Index>(beta.size()));
  for (std::size_t i = 0; i < beta.size(); ++i) {
    room[static_cast<Eigen::Index>(i)] = dual_room(beta[i], dual_box(problem, i), problem.sample.weight(i));
  }
  return room;
}

// A' beta in twice the working precision, with a bound on what is left of the error.
struct Residual {
  dense::Vector value;
  double norm_bound = 0.0;
};

Residual residual(const Columns& a, std::span<const double> beta) {
  const auto count = static_cast<std::size_t>(a.cols());
  std::vector<CompensatedSum> sums(count);
  std::vector<double> magnitudes(count);
  for (std::size_t i = 0; i < beta.size(); ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const double x = a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      if (x == 0.0) continue;
      const double product = x * beta[i];
      sums[j].add(product);
      sums[j].add(std::fma(x, beta[i], -product));
      magnitudes[j] += std::fabs(product);
    }
  }
  Residual result{.value = dense::Vector(a.cols())};
  const double second_order = std::pow(gamma_bound(2.0 * static_cast<double>(beta.size()) + 2), 2);
  // Scaled by the largest bound, so that no square underflows.
  dense::Vector bounds(a.cols());
  for (std::size_t j = 0; j < count; ++j) {
    const double value = sums[j].total();
    result.value[static_cast<Eigen::Index>(j)] = value;
    bounds[static_cast<Eigen::Index>(j)] = widen(std::fabs(value) + 2 * second_order * magnitudes[j], 4) +
                                           2 * static_cast<double>(beta.size()) * smallest_double;
  }
  const double largest = bounds.size() == 0 ? 0.0 : bounds.maxCoeff();
  result.norm_bound =
      largest == 0.0 ? 0.0 : widen(largest * (bounds / largest).norm(), static_cast<double>(count) + 8);
  return result;
}

// A lower bound on the smallest eigenvalue of A' H A, or nothing where none above 0 can be proved.
std::optional<double> smallest_eigenvalue(const Columns& a, const dense::Vector& room, const dense::Matrix& m) {
  const double estimate = dense::smallest_eigenvalue(m);
  if (!(estimate > 0.0)) return std::nullopt;
  const double shift = 0.5 * estimate;
  const dense::Matrix shifted = m - shift * dense::Matrix::Identity(m.rows(), m.cols());
  if (!dense::Cholesky().factorize(shifted)) return std::nullopt;
  const double trace = (a.rowwise().squaredNorm().array() * room.array()).sum();
  const double product_error = gamma_bound(static_cast<double>(a.rows()) + 8) * trace;
  const double cholesky_error = gamma_bound(static_cast<double>(a.cols()) + 8) * trace;
  const double bound = shift - widen(2 * (product_error + cholesky_error), 8);
  return bound > 0.0 ? std::optional(bound) : std::nullopt;
}

// The columns the proof has to deal with. One whose rows all have beta = 0 has nothing to correct: its product with beta is
// exactly 0, and delta is 0 on its rows too. (Features that occur in one class only end like this.)
Columns active_columns(const Columns& a, std::span<const double> beta) {
  std::vector<Eigen::Index> active;
  for (Eigen::Index j = 0; j < a.cols(); ++j) {
    for (std::size_t i = 0; i < beta.size(); ++i) {
      if (beta[i] != 0.0 && a(static_cast<Eigen::Index>(i), j) != 0.0) {
        active.push_back(j);
        break;
      }
    }
  }
  return a(Eigen::all, active);
}

bool prove(const Problem& problem, const Columns& columns, DualPoint& point) {
  point.slack.clear();
  for (std::size_t i = 0; i < point.beta.size(); ++i) {
    if (!std::isfinite(point.beta[i]) || !dual_box(problem, i).contains(point.beta[i])) return false;
  }
  const Columns a = active_columns(columns, point.beta);
  if (a.cols() == 0) return true;
  const dense::Vector room = rooms(problem, point.beta);
  const std::optional<double> eigenvalue = smallest_eigenvalue(a, room, weighted_gram(a, room));
  if (!eigenvalue) return false;
  const double reach = widen(residual(a, point.beta).norm_bound / *eigenvalue);
  point.slack.resize(point.beta.size());
  for (std::size_t i = 0; i < point.beta.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const double step = widen(a.row(row).norm() * reach, static_cast<double>(a.cols()) + 4);
    const Interval box = dual_box(problem, i);
    const bool bounded = std::isfinite(box.low) || std::isfinite(box.high);
    if (!(step < infinity) || (bounded && room[row] > 0.0 && step > 1.0)) return false;
    point.slack[i] = room[row] == 0.0 ? 0.0 : widen(room[row] * step, 2);
  }
  return true;
}

// beta -= H A y with A' H A y = A' beta, repeated because the room H changes with beta.
void correct(const Problem& problem, const Columns& a, std::span<double> beta) {
  constexpr int corrections = 4;
  constexpr double negligible = 1e-12;
  for (int k = 0; k < corrections; ++k) {
    const dense::Vector room = rooms(problem, beta);
    const dense::Vector y = dense::solve_semidefinite(weighted_gram(a, room), residual(a, beta).value);
    if (!y.allFinite()) return;
    const dense::Vector step = room.cwiseProduct(a * y);
    for (std::size_t i = 0; i < beta.size(); ++i) {
      const double moved = dual_box(problem, i).clamp(beta[i] - step[static_cast<Eigen::Index>(i)]);
      beta[i] = std::fabs(moved) <= negligible * std::fabs(beta[i]) ? 0.0 : moved;
    }
  }
}

}  // namespace

UnpenalizedColumns::UnpenalizedColumns(const Problem& problem) {
  for (std::size_t j = 0; j < problem.dimension(); ++j) {
    if (!problem.penalty.constraint() && problem.penalty[j].unpenalized()) columns_.push_back(j);
  }
  manageable_ = any() && columns_.size() <= most_columns && problem.rows() * columns_.size() <= most_entries;
  if (manageable_) matrix_ = independent_columns(gather(problem, columns_));
}

bool UnpenalizedColumns::verify(const Problem& problem, DualPoint& point) const {
  return all_zero(point.beta) || (manageable_ && prove(problem, matrix_, point));
}

void UnpenalizedColumns::repair(const Problem& problem, DualPoint& point) const {
  if (manageable_) {
    correct(problem, matrix_, point.beta);
    if (prove(problem, matrix_, point)) return;
  }
  std::fill(point.beta.begin(), point.beta.end(), 0.0);
  point.slack.clear();
}

}  // namespace fenchel::problem
