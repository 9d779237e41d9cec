#include "fenchel/solver/class_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/solver/class_vectors.hpp"

namespace fenchel::solver {
namespace {

constexpr int most_class_iterations = 400;
constexpr std::size_t largest_block = 1000;   // columns
constexpr double patience_with_blocks = 2.0;  // in what new ones cost
// A multiplication inside a factorisation or a product of dense matrices is so much cheaper than one of a product with X.
constexpr double block_speed = 2.0;
constexpr double same_scale_of_classes = 1e4;  // as in normal_system.cpp

}  // namespace

ClassSystem::ClassSystem(const problem::MulticlassProblem& problem, const data::Design& design,
                         const ClassSums& sums)
    : sample_(problem.sample), sums_(sums), rows_(sums.rows().begin(), sums.rows().end()), row_sums_(design) {
  const std::size_t size = sums.dimension() * sums.stride();
  image_.assign(problem.rows() * sums.stride(), 0.0);
  for (auto* vector : {&diagonal_, &p_, &product_, &preconditioned_}) vector->assign(size, 0.0);
}

double ClassSystem::assemble(std::span<const double> ridge, std::span<const double> h) {
  ridge_.assign(ridge.begin(), ridge.end());
  h_ = h;
  const std::size_t k = sample_.classes, stride = sums_.stride();
  std::vector<std::uint32_t> curved;
  for (const std::uint32_t i : rows_) {
    const auto own = h_.subspan(i * stride, k);
    if (std::any_of(own.begin(), own.end(), [](double x) { return x > 0.0; })) curved.push_back(i);
  }
  sums_.select(std::move(curved));
  for (const std::uint32_t i : sums_.rows()) {
    loss::spread::diagonal(sample_.targets[i], h_.subspan(i * stride, k), std::span(image_).subspan(i * stride, k));
  }
  if (row_sums_.dimension() <= largest_block) {
    // New blocks are worth while when the iterations since the last ones have cost more than they do.
    const double price = block_work();
    if (work_since_ >= (blocks_.empty() ? 1.0 : patience_with_blocks) * price) {
      factorize_blocks();
      work_since_ = 0.0;
      return price / (static_cast<double>(stride) * row_sums_.nonzeros());
    }
    if (!blocks_.empty()) return 0.0;
  }
  take_diagonal();
  return 1.0;
}

double ClassSystem::block_work() const {
  const std::size_t k = sample_.classes;
  const auto d = static_cast<double>(row_sums_.dimension());
  double work = static_cast<double>(k) * d * d * d / 6;
  work += static_cast<double>(k) * row_sums_.gram_work(sums_.rows());
  return work / block_speed;
}

// Rounding may leave a block without a positive pivot; then its diagonal grows until it has.
void ClassSystem::factorize_blocks() {
  const std::size_t k = sample_.classes, stride = sums_.stride(), size = row_sums_.dimension();
  const auto d = static_cast<Eigen::Index>(size);
  blocks_.resize(k);
  std::vector<double> weights(sample_.targets.size(), 0.0), gram(size * size);
  for (std::size_t l = 0; l < k; ++l) {
    for (const std::uint32_t i : sums_.rows()) weights[i] = image_[i * stride + l];
    RowSums::Cut cut;
    row_sums_.select(
        sums_.rows(), [&](std::size_t i) { return weights[i] > 0.0; }, cut);
    std::fill(gram.begin(), gram.end(), 0.0);
    row_sums_.add_gram(cut, weights, gram);
    for (double lift = 0.0; lift <= 1.0; lift = lift == 0.0 ? 1e-14 : 10 * lift) {
      dense::Matrix matrix = Eigen::Map<const dense::Matrix>(gram.data(), d, d);
      for (Eigen::Index j = 0; j < d; ++j) {
        matrix(j, j) = (matrix(j, j) + ridge_[static_cast<std::size_t>(j)]) * (1.0 + lift);
      }
      if (blocks_[l].factorize(std::move(matrix))) break;
    }
  }
}

void ClassSystem::take_diagonal() {
  const std::size_t stride = sums_.stride();
  sums_.squares(image_, diagonal_);
  for (std::size_t j = 0; j < ridge_.size(); ++j) {
    for (std::size_t e = j * stride; e < (j + 1) * stride; ++e) {
      const double whole = ridge_[j] + diagonal_[e];
      // As in normal_system.cpp.
      diagonal_[e] = whole <= same_scale_of_classes * ridge_[j] ? std::sqrt(ridge_[j] * whole) : whole;
    }
  }
}

void ClassSystem::precondition(std::span<const double> r, std::span<double> result) {
  if (blocks_.empty()) {
    for_each_block(r.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) result[e] = r[e] / diagonal_[e];
    });
    return;
  }
  const std::size_t stride = sums_.stride(), d = row_sums_.dimension();
  parallel_for(blocks_.size(), [&](std::size_t l) {
    dense::Vector column(static_cast<Eigen::Index>(d));
    for (std::size_t j = 0; j < d; ++j) column[static_cast<Eigen::Index>(j)] = r[j * stride + l];
    blocks_[l].solve_in_place(column);
    for (std::size_t j = 0; j < d; ++j) result[j * stride + l] = column[static_cast<Eigen::Index>(j)];
  });
}

// Steihaug's conjugate gradients: with this preconditioner M the iterates move away from 0 in its norm, and the first one outside
// the radius is pulled back to it.
ClassSystem::Solution ClassSystem::solve(std::span<const double> rhs, std::span<const double> metric,
                                         double forcing, double radius, std::span<double> D,
                                         std::span<double> residual) {
  std::fill(D.begin(), D.end(), 0.0);
  std::copy(rhs.begin(), rhs.end(), residual.begin());
  std::fill(p_.begin(), p_.end(), 0.0);
  const auto in_metric = [&](std::span<const double> r) {
    return weighted_square(r, sums_.stride(), [&](std::size_t j) { return 1.0 / metric[j]; });
  };
  const double target = forcing * forcing * in_metric(rhs);
  double rho = 0.0, square_p = 0.0, cross = 0.0, square = 0.0;  // |p|^2, p.D and |D|^2 in the norm of M
  bool inside = true;
  int iterations = 0;
  while (inside && iterations < most_class_iterations && in_metric(residual) > target) {
    precondition(residual, preconditioned_);
    const double next = inner_product(residual, preconditioned_);
    const double beta = rho > 0.0 ? next / rho : 0.0;
    rho = next;
    for_each_block(p_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) p_[e] = preconditioned_[e] + beta * p_[e];
    });
    cross *= beta;
    square_p = rho + beta * beta * square_p;
    product(p_, product_);
    const double curvature = inner_product(p_, product_);
    ++iterations;
    if (!(curvature > 0.0)) break;
    double step = rho / curvature;
    if (square + 2 * step * cross + step * step * square_p > radius * radius) {
      inside = false;
      step = (std::sqrt(cross * cross + square_p * (radius * radius - square)) - cross) / square_p;
    }
    square += 2 * step * cross + step * step * square_p;
    cross += step * square_p;
    for_each_block(p_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) {
        D[e] += step * p_[e];
        residual[e] -= step * product_[e];
      }
    });
  }
  const double passes = 2.0 * iterations * row_sums_.nonzeros_of(sums_.rows()) / row_sums_.nonzeros();
  work_since_ += passes * static_cast<double>(sums_.stride()) * row_sums_.nonzeros();
  return {.passes = passes, .length = std::sqrt(square), .inside = inside};
}

void ClassSystem::product(std::span<const double> v, std::span<double> result) {
  const std::size_t k = sample_.classes, stride = sums_.stride();
  sums_.normal_product(
      v,
      [&](std::size_t i) {
        const std::span<double> own = std::span(image_).subspan(i * stride, k);
        loss::spread::apply(sample_.targets[i], h_.subspan(i * stride, k), own, own);
      },
      image_, result);
  for_each_block(ridge_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t e = j * stride; e < (j + 1) * stride; ++e) {
        result[e] = ridge_[j] * v[e] + result[e];
      }
    }
  });
}

}  // namespace fenchel::solver
