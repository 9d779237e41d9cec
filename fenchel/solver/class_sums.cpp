#include "fenchel/solver/class_sums.hpp"

#include <algorithm>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/data/column_ranges.hpp"
#include "fenchel/kernel/class_rows.hpp"

namespace fenchel::solver {
namespace {

constexpr std::size_t most_ranges = 8;
// Entries of a piece for every number of its accumulator.
constexpr double entries_repaid = 32.0;
constexpr std::size_t rows_at_once = 64;

// Pieces of a list with about as many entries each.
std::vector<std::size_t> row_pieces(const data::Matrix& matrix, std::span<const std::uint32_t> list,
                                    std::size_t columns) {
  return std::visit(
      [&](const auto& m) {
        std::vector<double> before{0.0};
        for (const std::uint32_t i : list) {
          before.push_back(before.back() + static_cast<double>(m.nonzeros_before(i + 1) - m.nonzeros_before(i)));
        }
        const double wanted = before.back() / (entries_repaid * static_cast<double>(columns));
        const auto count = static_cast<std::size_t>(std::clamp(wanted, 1.0, static_cast<double>(most_ranges)));
        std::vector<std::size_t> bounds{0};
        for (std::size_t piece = 1; piece < count; ++piece) {
          const double target = before.back() * static_cast<double>(piece) / static_cast<double>(count);
          bounds.push_back(static_cast<std::size_t>(std::lower_bound(before.begin(), before.end() - 1, target) -
                                                    before.begin()));
        }
        bounds.push_back(list.size());
        return bounds;
      },
      matrix);
}

}  // namespace

ClassSums::ClassSums(const data::Design& design, std::size_t classes, std::vector<std::uint32_t> rows)
    : design_(design),
      stride_(kernel::padded(classes)),
      ranges_(std::visit([](const auto& m) { return data::column_ranges(m, most_ranges); }, design.matrix)) {
  select(std::move(rows));
}

void ClassSums::select(std::vector<std::uint32_t> rows) {
  rows_ = std::move(rows);
  pieces_ = row_pieces(design_.matrix, rows_, design_.cols());
}

template <class Row>
void ClassSums::score(std::size_t i, const Row& row, std::span<const double> v, std::span<double> z) const {
  double* const scores = z.data() + i * stride_;
  kernel::row_scores(row, kernel::detail::PlainWeights{}, v.data(), stride_, scores);
  if (design_.constant == 0.0) return;
  const double* const constants = v.data() + (dimension() - 1) * stride_;
  for (std::size_t l = 0; l < stride_; ++l) scores[l] += design_.constant * constants[l];
}

void ClassSums::for_each_row(FunctionRef<void(std::size_t)> visit) const {
  for_each_block(rows_.size(), rows_at_once, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) visit(rows_[n]);
  });
}

void ClassSums::margins(std::span<const double> v, std::span<double> z) const {
  std::visit([&](const auto& m) { for_each_row([&](std::size_t i) { score(i, m.row(i), v, z); }); },
             design_.matrix);
}

template <class Add>
void ClassSums::accumulate(std::span<const double> a, std::span<double> u, double constant, Add&& add) {
  const std::size_t size = u.size();
  const std::size_t pieces = pieces_.size() - 1;
  std::visit(
      [&](const auto& m) {
        if (pieces == 1) {
          parallel_for(ranges_.size() - 1, [&](std::size_t range) {
            const std::size_t begin = ranges_[range], end = ranges_[range + 1];
            std::fill(u.begin() + static_cast<std::ptrdiff_t>(begin * stride_),
                      u.begin() + static_cast<std::ptrdiff_t>(end * stride_), 0.0);
            for (const std::uint32_t i : rows_) {
              const auto [part, skipped] = data::columns_between(m.row(i), begin, end);
              add(i, part, u.data() + skipped * stride_);
            }
          });
          return;
        }
        scratch_.resize(size * (pieces - 1));
        parallel_for(pieces, [&](std::size_t piece) {
          const std::span<double> target = piece == 0 ? u : std::span(scratch_).subspan((piece - 1) * size, size);
          std::fill(target.begin(), target.end(), 0.0);
          for (std::size_t n = pieces_[piece]; n < pieces_[piece + 1]; ++n) {
            add(rows_[n], m.row(rows_[n]), target.data());
          }
        });
        for_each_block(size, [&](std::size_t begin, std::size_t end) {
          for (std::size_t piece = 0; piece + 1 < pieces; ++piece) {
            const double* const partial = scratch_.data() + piece * size;
            for (std::size_t e = begin; e < end; ++e) u[e] += partial[e];
          }
        });
      },
      design_.matrix);
  if (constant == 0.0) return;
  double* const last = u.data() + (dimension() - 1) * stride_;
  std::fill_n(last, stride_, 0.0);
  for (const std::uint32_t i : rows_) {
    for (std::size_t l = 0; l < stride_; ++l) last[l] += constant * a[i * stride_ + l];
  }
}

void ClassSums::adjoint(std::span<const double> a, std::span<double> u) {
  accumulate(a, u, design_.constant, [&](std::size_t i, const auto& row, double* target) {
    kernel::add_row(row, a.data() + i * stride_, stride_, target);
  });
}

void ClassSums::squares(std::span<const double> a, std::span<double> u) {
  accumulate(a, u, design_.constant * design_.constant, [&](std::size_t i, const auto& row, double* target) {
    const double* const weights = a.data() + i * stride_;
    row.for_each([&](std::size_t j, double x) {
      for (std::size_t l = 0; l < stride_; ++l) target[j * stride_ + l] += x * x * weights[l];
    });
  });
}

void ClassSums::normal_product(std::span<const double> v, FunctionRef<void(std::size_t)> change,
                               std::span<double> z, std::span<double> u) {
  if (pieces_.size() == 2) {
    margins(v, z);
    for_each_row(change);
    adjoint(z, u);
    return;
  }
  // Pieces are whole rows, which are used twice while they are near.
  accumulate(z, u, design_.constant, [&](std::size_t i, const auto& row, double* target) {
    score(i, row, v, z);
    change(i);
    kernel::add_row(row, z.data() + i * stride_, stride_, target);
  });
}

}  // namespace fenchel::solver
