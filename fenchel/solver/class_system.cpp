#include "fenchel/solver/class_system.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

constexpr int most_class_iterations = 400;
constexpr std::size_t largest_block = 1000;  // columns
// So many more iterations than the blocks needed at first make new ones worth while.
constexpr int iterations_lost = 15;
// A multiplication inside a factorisation or a product of dense matrices is so much cheaper than one of a product with X.
constexpr double block_speed = 2.0;
constexpr double same_scale_of_classes = 1e4;  // as in normal_system.cpp
constexpr std::size_t rows_a_task = 128;

struct Sum {
  double value = 0.0;
  void add(const Sum& other) { value += other.value; }
};

double inner_of(std::span<const double> a, std::span<const double> b) {
  return block_sum<Sum>(a.size(), [&](std::size_t e, Sum& sum) { sum.value += a[e] * b[e]; }).value;
}

// sum_j |r_j|^2 / metric_j, with `stride` numbers a feature
double square_in(std::span<const double> r, std::span<const double> metric, std::size_t stride) {
  return block_sum<Sum>(metric.size(),
                        [&](std::size_t j, Sum& sum) {
                          double square = 0.0;
                          for (std::size_t l = 0; l < stride; ++l) square += r[j * stride + l] * r[j * stride + l];
                          sum.value += square / metric[j];
                        })
      .value;
}

}  // namespace

ClassSystem::ClassSystem(const problem::MulticlassProblem& problem, const data::Design& design,
                         const ClassModel& model, ClassSums& sums)
    : sample_(problem.sample), model_(model), sums_(sums), row_sums_(design) {
  const std::size_t size = sums.dimension() * sums.stride();
  image_.assign(problem.rows() * sums.stride(), 0.0);
  for (auto* vector : {&diagonal_, &p_, &product_, &preconditioned_}) vector->assign(size, 0.0);
}

double ClassSystem::assemble(std::span<const double> ridge, double scale, std::span<const double> h) {
  ridge_.assign(ridge.begin(), ridge.end());
  scale_ = scale;
  h_ = h;
  active_ = sums_.select(h, model_.sparse());
  const std::size_t k = sample_.classes, stride = sums_.stride();
  parallel_for((active_.rows.size() + rows_a_task - 1) / rows_a_task, [&](std::size_t task) {
    const std::size_t end = std::min(active_.rows.size(), (task + 1) * rows_a_task);
    for (std::size_t n = task * rows_a_task; n < end; ++n) {
      const std::size_t i = active_.rows[n];
      loss::spread::diagonal(sample_.targets[i], h_.subspan(i * stride, k),
                             std::span(image_).subspan(i * stride, k));
    }
  });
  if (row_sums_.dimension() <= largest_block) {
    const bool worn = blocks_.empty() ? false : iterations_ > block_iterations_ + iterations_lost;
    if (worn || (blocks_.empty() && iterations_work_ > 0.0 && iterations_work_ > block_work())) factorize_blocks();
    if (!blocks_.empty()) return block_work_ / (static_cast<double>(stride) * row_sums_.nonzeros());
  }
  take_diagonal();
  return active_.passes;
}

double ClassSystem::block_work() {
  const std::size_t k = sample_.classes, stride = sums_.stride();
  const auto d = static_cast<double>(row_sums_.dimension());
  double work = static_cast<double>(k) * d * d * d / 6;
  for (const std::uint32_t i : active_.rows) {
    const double gram = row_sums_.gram_work(kernel::RowList(&i, 1));
    for (std::size_t l = 0; l < k; ++l) work += image_[i * stride + l] > 0.0 ? gram : 0.0;
  }
  return work / block_speed;
}

// Rounding may leave a block without a positive pivot; then its diagonal grows until it has.
void ClassSystem::factorize_blocks() {
  const std::size_t k = sample_.classes, stride = sums_.stride(), size = row_sums_.dimension();
  const auto d = static_cast<Eigen::Index>(size);
  block_work_ = block_work();
  block_iterations_ = 0;
  blocks_.resize(k);
  std::vector<double> weights(sample_.targets.size(), 0.0), gram(size * size);
  for (std::size_t l = 0; l < k; ++l) {
    for (const std::uint32_t i : active_.rows) weights[i] = image_[i * stride + l];
    RowSums::Cut cut;
    row_sums_.select(
        active_.rows, [&](std::size_t i) { return weights[i] > 0.0; }, cut);
    std::fill(gram.begin(), gram.end(), 0.0);
    row_sums_.add_gram(cut, weights, gram);
    for (double lift = 0.0; lift <= 1.0; lift = lift == 0.0 ? 1e-14 : 10 * lift) {
      dense::Matrix matrix = scale_ * Eigen::Map<const dense::Matrix>(gram.data(), d, d);
      for (Eigen::Index j = 0; j < d; ++j) {
        matrix(j, j) = (matrix(j, j) + ridge_[static_cast<std::size_t>(j)]) * (1.0 + lift);
      }
      if (blocks_[l].factorize(matrix)) break;
    }
  }
}

void ClassSystem::take_diagonal() {
  const std::size_t stride = sums_.stride();
  sums_.squares(active_, image_, diagonal_);
  for (std::size_t j = 0; j < ridge_.size(); ++j) {
    for (std::size_t e = j * stride; e < (j + 1) * stride; ++e) {
      const double whole = ridge_[j] + scale_ * diagonal_[e];
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

double ClassSystem::solve(std::span<const double> rhs, std::span<const double> metric, double forcing,
                          std::span<double> D, std::span<double> residual) {
  std::fill(D.begin(), D.end(), 0.0);
  std::copy(rhs.begin(), rhs.end(), residual.begin());
  std::fill(p_.begin(), p_.end(), 0.0);
  const double target = forcing * forcing * square_in(rhs, metric, sums_.stride());
  double rho = 0.0;
  iterations_ = 0;
  while (iterations_ < most_class_iterations && square_in(residual, metric, sums_.stride()) > target) {
    precondition(residual, preconditioned_);
    const double next = inner_of(residual, preconditioned_);
    const double beta = rho > 0.0 ? next / rho : 0.0;
    rho = next;
    for_each_block(p_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) p_[e] = preconditioned_[e] + beta * p_[e];
    });
    product(p_, product_);
    const double curvature = inner_of(p_, product_);
    ++iterations_;
    if (!(curvature > 0.0)) break;
    const double step = rho / curvature;
    for_each_block(p_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t e = begin; e < end; ++e) {
        D[e] += step * p_[e];
        residual[e] -= step * product_[e];
      }
    });
  }
  if (block_iterations_ == 0) block_iterations_ = iterations_;
  const double passes = 2.0 * active_.passes * iterations_;
  iterations_work_ = passes * static_cast<double>(sums_.stride()) * row_sums_.nonzeros();
  return passes;
}

void ClassSystem::product(std::span<const double> v, std::span<double> result) {
  sums_.margins(active_, v, image_);
  model_.curve(active_.rows, h_, image_, image_);
  sums_.adjoint(active_, image_, result);
  const std::size_t stride = sums_.stride();
  for_each_block(ridge_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (std::size_t e = j * stride; e < (j + 1) * stride; ++e) {
        result[e] = ridge_[j] * v[e] + scale_ * result[e];
      }
    }
  });
}

}  // namespace fenchel::solver
