#include "fenchel/solver/row_sums.hpp"

#include <algorithm>

#include "fenchel/base/parallel.hpp"

namespace fenchel::solver {
namespace {

constexpr std::size_t most_pieces = 16;
constexpr std::size_t most_panel_pieces = 8;
// Outer products that are worth a thread.
constexpr double least_products = 20000.0;
// From this share of nonzeros on, a dense matrix product beats a scatter of products.
constexpr double dense_share = 0.25;

template <class Rows>
std::size_t length(const Rows& rows, std::size_t i) {
  return rows.nonzeros_before(i + 1) - rows.nonzeros_before(i);
}

// The sum of work_of(i) over a list of rows: whole numbers or halves, so that their order does not matter.
template <class WorkOf>
double total_work(kernel::RowList list, WorkOf&& work_of) {
  struct Work {
    double sum = 0.0;
    void add(const Work& other) { sum += other.sum; }
  };
  return block_sum<Work>(list.size(), [&](std::size_t k, Work& work) { work.sum += work_of(list[k]); }).sum;
}

// Cuts a list into `count` pieces of about the same work, between parts of equally many rows.
template <class WorkOf>
std::vector<std::size_t> cut_evenly(kernel::RowList list, std::size_t count, double total, WorkOf&& work_of) {
  std::vector<std::size_t> bounds{0};
  if (count > 1) {
    const std::size_t parts = std::min(list.size(), 16 * count);
    const auto bound = [&](std::size_t k) { return list.size() * k / parts; };
    double done = 0.0;
    std::vector<double> work(parts);
    parallel_for(parts, [&](std::size_t k) {
      for (std::size_t r = bound(k); r < bound(k + 1); ++r) work[k] += work_of(list[r]);
    });
    for (std::size_t k = 0; k < parts && bounds.size() < count; ++k) {
      done += work[k];
      if (done * static_cast<double>(count) >= total * static_cast<double>(bounds.size()))
        bounds.push_back(bound(k + 1));
    }
  }
  bounds.resize(count + 1, list.size());
  bounds.back() = list.size();
  return bounds;
}

// Products of a row's entries, a constant one included.
double triangle(std::size_t entries) {
  const auto k = static_cast<double>(entries) + 1.0;
  return 0.5 * k * k;
}

std::size_t pieces(double work, double price, std::size_t most) {
  return static_cast<std::size_t>(std::clamp(work / price, 1.0, static_cast<double>(most)));
}

}  // namespace

RowSums::RowSums(const data::Design& design)
    : design_(design),
      dimension_(design.cols()),
      nonzeros_(static_cast<double>(data::nonzeros(design.matrix)) + 1.0) {}

double RowSums::nonzeros_of(kernel::RowList list) const {
  return std::visit(
      [&](const auto& m) {
        return total_work(list, [&](std::uint32_t i) { return static_cast<double>(length(m, i)); });
      },
      design_.matrix);
}

double RowSums::gram_work(kernel::RowList list) const {
  return std::visit(
      [&](const auto& m) { return total_work(list, [&](std::uint32_t i) { return triangle(length(m, i)); }); },
      design_.matrix);
}

void RowSums::bind(Cut& cut) const {
  cut.nonzeros = nonzeros_of(cut.rows);
  const std::size_t count = pieces(cut.nonzeros, 4.0 * static_cast<double>(dimension_) + 5.0, most_pieces);
  cut.bounds = std::visit(
      [&](const auto& m) {
        return cut_evenly(cut.rows, count, cut.nonzeros,
                          [&](std::uint32_t i) { return static_cast<double>(length(m, i)); });
      },
      design_.matrix);
}

void RowSums::margins(kernel::RowList list, std::span<const double> v, std::span<double> z) const {
  const double constant = design_.constant != 0.0 ? design_.constant * v.back() : 0.0;
  std::visit(
      [&](const auto& m) {
        for_each_block(list.size(), [&](std::size_t begin, std::size_t end) {
          kernel::for_each_in(m, list.subspan(begin, end - begin),
                              [&](std::uint32_t i) { z[i] = data::dot(m.row(i), v.data()) + constant; });
        });
      },
      design_.matrix);
}

// work(begin, end, accumulator) adds a piece of the list; the first piece adds to the result itself.
template <class Work>
void RowSums::sum(std::span<const std::size_t> bounds, std::span<double> result, Work&& work) {
  const std::size_t size = result.size();
  const std::size_t count = bounds.size() - 1;
  scratch_.resize(size * (count - 1));
  const auto run = [&](std::size_t k) {
    std::span<double> target = result;
    if (k > 0) {
      target = std::span(scratch_).subspan((k - 1) * size, size);
      std::fill(target.begin(), target.end(), 0.0);
    }
    work(bounds[k], bounds[k + 1], target);
  };
  if (count == 1) {
    run(0);
    return;
  }
  parallel_for(count, run);
  for_each_block(size, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = 1; k < count; ++k) {
      const double* partial = scratch_.data() + (k - 1) * size;
      for (std::size_t j = begin; j < end; ++j) result[j] += partial[j];
    }
  });
}

void RowSums::add_rows(const Cut& cut, std::span<const double> h, std::span<double> u) {
  std::visit(
      [&](const auto& m) {
        sum(cut.bounds, u, [&](std::size_t begin, std::size_t end, std::span<double> target) {
          kernel::weighted_rows(m, design_.constant, kernel::RowList(cut.rows).subspan(begin, end - begin), h,
                                target);
        });
      },
      design_.matrix);
}

void RowSums::add_squares(const Cut& cut, std::span<const double> h, std::span<double> u) {
  std::visit(
      [&](const auto& m) {
        sum(cut.bounds, u, [&](std::size_t begin, std::size_t end, std::span<double> target) {
          kernel::weighted_squares(m, design_.constant, kernel::RowList(cut.rows).subspan(begin, end - begin), h,
                                   target);
        });
      },
      design_.matrix);
}

void RowSums::product(const Cut& cut, std::span<const double> h, std::span<const double> v, std::span<double> y) {
  std::fill(y.begin(), y.end(), 0.0);
  std::visit(
      [&](const auto& m) {
        sum(cut.bounds, y, [&](std::size_t begin, std::size_t end, std::span<double> target) {
          kernel::normal_product(m, design_.constant, kernel::RowList(cut.rows).subspan(begin, end - begin), h, v,
                                 target);
        });
      },
      design_.matrix);
}

// Ranges of columns with about the same number of products each, as the first list had them.
std::vector<kernel::ColumnRange> RowSums::column_ranges(kernel::RowList list, std::size_t count) {
  if (count > 1 && column_work_.empty()) {
    column_work_.assign(dimension_, 0.0);
    std::visit(
        [&](const auto& m) {
          for (const std::uint32_t i : list) {
            std::size_t left = length(m, i) + 1;
            m.row(i).for_each([&](std::size_t j, double) { column_work_[j] += static_cast<double>(left--); });
          }
        },
        design_.matrix);
  }
  double total = 0.0, done = 0.0;
  for (const double work : column_work_) total += work;
  std::vector<kernel::ColumnRange> ranges(1);
  // No range begins behind the last column: it would add what belongs to that one once more.
  for (std::size_t j = 0; j + 1 < column_work_.size() && ranges.size() < count; ++j) {
    done += column_work_[j];
    if (done * static_cast<double>(count) < total * static_cast<double>(ranges.size())) continue;
    ranges.back().end = j + 1;
    ranges.push_back({.begin = j + 1});
  }
  ranges.back().end = dimension_;
  return ranges;
}

void RowSums::add_gram(const Cut& cut, std::span<const double> change, std::span<double> lower) {
  const double total = gram_work(cut.rows);
  std::visit(
      [&]<class Rows>(const Rows& m) {
        if constexpr (requires { m.offsets; }) {
          if (cut.nonzeros <= dense_share * static_cast<double>(cut.rows.size() * dimension_)) {
            const std::size_t count = pieces(total, least_products, threads());
            const std::vector<kernel::ColumnRange> ranges = column_ranges(cut.rows, count);
            parallel_for(ranges.size(), [&](std::size_t k) {
              kernel::scatter_outer_products(m, design_.constant, cut.rows, change, ranges[k], lower.data(),
                                             dimension_);
            });
            return;
          }
        }
        const std::size_t count = pieces(total, 2.0 * static_cast<double>(lower.size()), most_panel_pieces);
        const std::vector<std::size_t> bounds =
            cut_evenly(cut.rows, count, total, [&](std::uint32_t i) { return triangle(length(m, i)); });
        sum(bounds, lower, [&](std::size_t begin, std::size_t end, std::span<double> target) {
          kernel::panel_outer_products(m, design_.constant, kernel::RowList(cut.rows).subspan(begin, end - begin),
                                       change, target.data(), dimension_);
        });
      },
      design_.matrix);
}

}  // namespace fenchel::solver
