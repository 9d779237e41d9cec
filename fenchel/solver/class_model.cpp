#include "fenchel/solver/class_model.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/base/sum.hpp"
#include "fenchel/base/weighted_term.hpp"

namespace fenchel::solver {
namespace {

constexpr std::size_t rows_in_task = 128;

// Buffers for one row.
struct RowScratch {
  explicit RowScratch(std::size_t k) : numbers(7 * k), classes(k) {}
  std::span<double> margins() { return std::span(numbers).first(classes); }
  std::span<double> duals() { return std::span(numbers).subspan(classes, classes); }
  std::span<double> weights() { return std::span(numbers).subspan(2 * classes, classes); }
  std::span<double> moved() { return std::span(numbers).subspan(3 * classes, classes); }
  std::span<double> scratch() { return std::span(numbers).subspan(4 * classes, 3 * classes); }

  std::vector<double> numbers;
  std::size_t classes;
};

struct Nothing {
  void add(const Nothing& /*other*/) {}
};

struct Brackets {
  double value = 0.0;
  void add(const Brackets& other) { value += other.value; }
};

loss::RowPoint point_at(std::size_t y, std::span<const double> a, std::span<const double> beta) {
  double rest = 1.0;
  for (std::size_t l = 0; l < beta.size(); ++l) rest -= l == y ? 0.0 : beta[l];
  return {.y = y, .a = a, .beta = beta, .rest = std::max(0.0, rest)};
}

}  // namespace

ClassModel::ClassModel(const problem::MulticlassProblem& problem, std::size_t stride)
    : loss_(problem.loss),
      sample_(problem.sample),
      stride_(stride),
      smoothed_(std::visit([](const auto& l) { return l.sparse_dual; }, problem.loss)) {}

void ClassModel::center(std::span<const double> beta, double q) {
  center_.assign(beta.begin(), beta.end());
  q_ = q;
}

template <class L>
void ClassModel::differentiate(const L& loss, std::size_t i, std::span<const double> margins,
                               std::span<double> beta, std::span<double> weights, std::span<double> scratch) const {
  const std::size_t y = sample_.targets[i];
  if constexpr (L::sparse_dual) {
    loss.dual_step(y, margins, q_, std::span(center_).subspan(i * stride_, sample_.classes), beta, scratch);
    loss.proximal_curvature(y, beta, q_, weights);
  } else {
    loss.dual(y, margins, beta);
    loss.curvature(y, beta, weights);
  }
}

// Calls visit(i, share, sums, buffers) for every row that counts, in parallel; sums are combined in order.
template <class Total, class Visit>
Total ClassModel::sum_rows(Visit&& visit) const {
  const auto visit_block = [&](std::size_t begin, std::size_t end, Total& total) {
    RowScratch buffers(sample_.classes);
    for (std::size_t i = begin; i < end; ++i) {
      const double share = sample_.weight(i) / sample_.weight_sum;
      if (share > 0.0) visit(i, share, total, buffers);
    }
  };
  return sum_of_blocks<Total>(sample_.targets.size(), rows_in_task, visit_block);
}

ClassModel::Sums ClassModel::locate(std::span<const double> z, std::span<double> beta, std::span<double> slope,
                                    std::span<double> h) const {
  const std::size_t k = sample_.classes;
  return std::visit(
      [&](const auto& loss) {
        return sum_rows<Sums>([&](std::size_t i, double share, Sums& sums, RowScratch& row) {
          const std::size_t y = sample_.targets[i], at = i * stride_;
          risk::margins_of(z.subspan(at, k), {}, y, row.margins());
          differentiate(loss, i, row.margins(), row.duals(), row.weights(), row.scratch());
          double sum = 0.0;
          for (std::size_t l = 0; l < k; ++l) {
            h[at + l] = share * row.weights()[l];
            beta[at + l] = l == y ? 0.0 : row.duals()[l];
            slope[at + l] = share * beta[at + l];
            sum += slope[at + l];
          }
          slope[at + y] = -sum;
          sums.risk += share * loss.value(y, row.margins());
          if (smoothed_) {
            sums.brackets += weighted_term(share, loss.fenchel_young(point_at(y, row.margins(), row.duals())));
          }
        });
      },
      loss_);
}

LineSlope ClassModel::along(std::span<const double> z, std::span<const double> dz, double t) const {
  const std::size_t k = sample_.classes;
  return std::visit(
      [&](const auto& loss) {
        return sum_rows<LineSlope>([&](std::size_t i, double share, LineSlope& sums, RowScratch& row) {
          const std::size_t y = sample_.targets[i], at = i * stride_;
          const std::span<const double> move = dz.subspan(at, k);
          for (std::size_t l = 0; l < k; ++l) row.moved()[l] = z[at + l] + t * move[l];
          risk::margins_of(row.moved(), {}, y, row.margins());
          differentiate(loss, i, row.margins(), row.duals(), row.weights(), row.scratch());
          double first = 0.0;
          for (std::size_t l = 0; l < k; ++l) first += l == y ? 0.0 : row.duals()[l] * (move[l] - move[y]);
          sums.first += share * first;
          sums.second += share * loss::spread::square(y, row.weights(), move);
        });
      },
      loss_);
}

Ray ClassModel::along_ray(std::span<const double> z, double t) const {
  const std::size_t k = sample_.classes;
  return std::visit(
      [&](const auto& loss) {
        return sum_rows<Ray>([&](std::size_t i, double share, Ray& sums, RowScratch& row) {
          const std::size_t y = sample_.targets[i];
          risk::margins_of(z.subspan(i * stride_, k), {}, y, row.moved());
          for (std::size_t l = 0; l < k; ++l) row.margins()[l] = t * row.moved()[l];
          loss.dual(y, row.margins(), row.duals());
          double slope = 0.0;
          for (std::size_t l = 0; l < k; ++l) slope += l == y ? 0.0 : row.duals()[l] * row.moved()[l];
          sums.risk += share * loss.value(y, row.margins());
          sums.slope += share * slope;
        });
      },
      loss_);
}

std::vector<double> ClassModel::largest_margins(std::span<const double> z) const {
  const std::size_t k = sample_.classes;
  std::vector<double> largest(sample_.targets.size(), -infinity);
  sum_rows<Nothing>([&](std::size_t i, double /*share*/, Nothing& /*sums*/, RowScratch& /*row*/) {
    const std::size_t y = sample_.targets[i];
    const double* const scores = z.data() + i * stride_;
    double top = -infinity;
    for (std::size_t l = 0; l < k; ++l) top = std::max(top, l == y ? -infinity : scores[l]);
    largest[i] = top - scores[y];
  });
  return largest;
}

Multiple ClassModel::best_multiple(std::span<const double> z, double penalty) const {
  if (!std::holds_alternative<loss::MulticlassHinge>(loss_)) {
    return solver::best_multiple(penalty, [&](double t) { return along_ray(z, t); });
  }
  // Along a ray the largest margin stays the largest one, and alone decides.
  const std::vector<double> largest = largest_margins(z);
  return solver::best_multiple(penalty, [&](double t) {
    return sum_rows<Ray>([&](std::size_t i, double share, Ray& sums, RowScratch& /*row*/) {
      const double violation = 1.0 + t * largest[i];
      if (violation <= 0.0) return;
      sums.risk += share * violation;
      sums.slope += share * largest[i];
    });
  });
}

void ClassModel::linearize(std::span<const double> dz, double t, std::span<const double> h,
                           std::span<const double> beta, std::span<double> result) const {
  const std::size_t k = sample_.classes;
  sum_rows<Nothing>([&](std::size_t i, double share, Nothing& /*sums*/, RowScratch& row) {
    const std::size_t y = sample_.targets[i], at = i * stride_;
    loss::spread::apply(y, h.subspan(at, k), dz.subspan(at, k), row.moved());
    const double factor = t / share;
    for (std::size_t l = 0; l < k; ++l) result[at + l] = l == y ? 0.0 : beta[at + l] + factor * row.moved()[l];
  });
}

double ClassModel::admit(std::span<const double> z, std::span<double> beta, std::span<double> moved) const {
  const std::size_t k = sample_.classes;
  return std::visit(
      [&](const auto& loss) {
        return sum_rows<Brackets>([&](std::size_t i, double share, Brackets& brackets, RowScratch& row) {
                 const std::size_t y = sample_.targets[i], at = i * stride_;
                 const std::span<double> own = beta.subspan(at, k);
                 double sum = 0.0, change = 0.0;
                 for (std::size_t l = 0; l < k; ++l) sum += l == y ? 0.0 : std::max(0.0, own[l]);
                 const double factor = sum > 1.0 ? 1.0 / sum : 1.0;
                 for (std::size_t l = 0; l < k; ++l) {
                   const double inside = l == y ? 0.0 : factor * std::max(0.0, own[l]);
                   moved[at + l] = l == y ? 0.0 : share * (inside - own[l]);
                   change += moved[at + l];
                   own[l] = inside;
                 }
                 moved[at + y] = -change;
                 risk::margins_of(z.subspan(at, k), {}, y, row.margins());
                 brackets.value += weighted_term(share, loss.fenchel_young(point_at(y, row.margins(), own)));
               })
            .value;
      },
      loss_);
}

}  // namespace fenchel::solver
