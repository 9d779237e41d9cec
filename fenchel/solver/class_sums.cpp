#include "fenchel/solver/class_sums.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/kernel/class_rows.hpp"

namespace fenchel::solver {
namespace {

constexpr std::size_t most_ranges = 8;
// Entries of a piece for every number of its accumulator.
constexpr double entries_repaid = 32.0;
constexpr std::size_t rows_at_once = 64;
// A vector instruction does `lanes` classes at a time, and one that is listed costs as much as a few lanes do.
constexpr std::size_t price_of_listed = 2;

template <class Value>
std::pair<data::SparseRow<Value>, std::size_t> columns_between(const data::SparseRow<Value>& row, std::size_t begin,
                                                               std::size_t end) {
  const auto from = std::lower_bound(row.columns.begin(), row.columns.end(), begin);
  const auto to = std::lower_bound(from, row.columns.end(), end);
  const auto skipped = static_cast<std::size_t>(from - row.columns.begin());
  const auto count = static_cast<std::size_t>(to - from);
  return {{row.columns.subspan(skipped, count), row.values.subspan(skipped, count)}, 0};
}
// The rest of a dense row counts its columns from 0 again.
template <class Value>
std::pair<data::DenseRow<Value>, std::size_t> columns_between(const data::DenseRow<Value>& row, std::size_t begin,
                                                              std::size_t end) {
  return {{row.values.subspan(begin, end - begin)}, begin};
}

// Calls work(part) for a list in parts of at most four.
template <class Work>
void in_fours(std::span<const std::uint32_t> list, Work&& work) {
  for (; list.size() > 4; list = list.subspan(4)) work(list.first(4));
  work(list);
}

std::vector<std::size_t> column_ranges(const data::Matrix& matrix) {
  return std::visit(
      [](const auto& m) {
        std::vector<std::size_t> counts(m.cols(), 0);
        for (std::size_t i = 0; i < m.rows(); ++i) {
          m.row(i).for_each([&](std::size_t j, double /*x*/) { ++counts[j]; });
        }
        std::vector<std::size_t> bounds{0};
        std::size_t sum = 0;
        for (std::size_t j = 0; j < counts.size() && bounds.size() < most_ranges; ++j) {
          sum += counts[j];
          if (sum * most_ranges >= m.nonzeros() * bounds.size()) bounds.push_back(j + 1);
        }
        if (bounds.back() < counts.size()) bounds.push_back(counts.size());
        return bounds;
      },
      matrix);
}

}  // namespace

ClassSums::ClassSums(const data::Design& design, std::size_t classes)
    : design_(design), classes_(classes), stride_(kernel::padded(classes)), ranges_(column_ranges(design.matrix)) {}

ClassSums::Cut ClassSums::select(std::span<const double> values, bool sparse) const {
  Cut cut;
  if (sparse) cut.first.push_back(0);
  for (std::size_t i = 0; i < design_.rows(); ++i) {
    const std::span<const double> own = values.subspan(i * stride_, classes_);
    if (!sparse) {
      if (std::any_of(own.begin(), own.end(), [](double x) { return x != 0.0; })) {
        cut.rows.push_back(static_cast<std::uint32_t>(i));
      }
      continue;
    }
    for (std::size_t l = 0; l < classes_; ++l) {
      if (own[l] != 0.0) cut.classes.push_back(static_cast<std::uint32_t>(l));
    }
    if (cut.classes.size() == cut.first.back()) continue;
    cut.rows.push_back(static_cast<std::uint32_t>(i));
    cut.first.push_back(cut.classes.size());
  }
  balance(cut);
  return cut;
}

void ClassSums::balance(Cut& cut) const {
  std::visit(
      [&](const auto& m) {
        double total = 0.0, work = 0.0;
        std::vector<double> before{0.0};
        for (std::size_t n = 0; n < cut.rows.size(); ++n) {
          const std::size_t i = cut.rows[n];
          const auto entries = static_cast<double>(m.nonzeros_before(i + 1) - m.nonzeros_before(i));
          total += entries;
          work += entries * static_cast<double>(listed(cut, n)
                                                    ? price_of_listed * kernel::lanes * cut.classes_of(n).size()
                                                    : stride_);
          before.push_back(work);
        }
        cut.passes = work / (static_cast<double>(m.nonzeros() * stride_) + 1.0);
        const double wanted = total / (entries_repaid * static_cast<double>(dimension()));
        const auto pieces = static_cast<std::size_t>(std::clamp(wanted, 1.0, static_cast<double>(most_ranges)));
        cut.bounds.assign(1, 0);
        for (std::size_t piece = 1; piece < pieces; ++piece) {
          const double target = work * static_cast<double>(piece) / static_cast<double>(pieces);
          cut.bounds.push_back(static_cast<std::size_t>(std::lower_bound(before.begin(), before.end() - 1, target) -
                                                        before.begin()));
        }
        cut.bounds.push_back(cut.rows.size());
      },
      design_.matrix);
}

bool ClassSums::listed(const Cut& cut, std::size_t n) const {
  return !cut.first.empty() && price_of_listed * kernel::lanes * cut.classes_of(n).size() < stride_;
}

template <class Row>
void ClassSums::score(const Cut& cut, std::size_t n, const Row& row, std::span<const double> v,
                      std::span<double> z) const {
  const double constant = design_.constant;
  const double* const constants = v.data() + (dimension() - 1) * stride_;
  double* const scores = z.data() + cut.rows[n] * stride_;
  if (!listed(cut, n)) {
    kernel::row_scores(row, kernel::detail::PlainWeights{}, v.data(), stride_, scores);
    if (constant == 0.0) return;
    for (std::size_t l = 0; l < stride_; ++l) scores[l] += constant * constants[l];
    return;
  }
  in_fours(cut.classes_of(n), [&](std::span<const std::uint32_t> few) {
    std::array<double, 4> sums{};
    kernel::listed_scores(row, few, v.data(), stride_, sums.data());
    for (std::size_t l = 0; l < few.size(); ++l) {
      scores[few[l]] = sums[l] + (constant != 0.0 ? constant * constants[few[l]] : 0.0);
    }
  });
}

template <class Row>
void ClassSums::add(const Cut& cut, std::size_t n, const Row& row, std::span<const double> a, double* u) const {
  const double* const change = a.data() + cut.rows[n] * stride_;
  if (!listed(cut, n)) return kernel::add_row(row, change, stride_, u);
  in_fours(cut.classes_of(n), [&](std::span<const std::uint32_t> few) {
    std::array<double, 4> numbers{};
    for (std::size_t l = 0; l < few.size(); ++l) numbers[l] = change[few[l]];
    kernel::add_listed(row, few, numbers.data(), stride_, u);
  });
}

void ClassSums::margins(const Cut& cut, std::span<const double> v, std::span<double> z) const {
  std::visit(
      [&](const auto& m) {
        parallel_for((cut.rows.size() + rows_at_once - 1) / rows_at_once, [&](std::size_t block) {
          const std::size_t end = std::min(cut.rows.size(), (block + 1) * rows_at_once);
          for (std::size_t n = block * rows_at_once; n < end; ++n) score(cut, n, m.row(cut.rows[n]), v, z);
        });
      },
      design_.matrix);
}

template <class Add>
void ClassSums::accumulate(const Cut& cut, std::span<const double> a, std::span<double> u, double constant,
                           Add&& add) {
  const std::size_t size = u.size();
  const std::size_t pieces = cut.bounds.size() - 1;
  std::visit(
      [&](const auto& m) {
        if (pieces == 1) {
          parallel_for(ranges_.size() - 1, [&](std::size_t range) {
            const std::size_t begin = ranges_[range], end = ranges_[range + 1];
            std::fill(u.begin() + static_cast<std::ptrdiff_t>(begin * stride_),
                      u.begin() + static_cast<std::ptrdiff_t>(end * stride_), 0.0);
            for (std::size_t n = 0; n < cut.rows.size(); ++n) {
              const auto [part, skipped] = columns_between(m.row(cut.rows[n]), begin, end);
              add(n, part, u.data() + skipped * stride_);
            }
          });
          return;
        }
        scratch_.resize(size * (pieces - 1));
        parallel_for(pieces, [&](std::size_t piece) {
          const std::span<double> target = piece == 0 ? u : std::span(scratch_).subspan((piece - 1) * size, size);
          std::fill(target.begin(), target.end(), 0.0);
          for (std::size_t n = cut.bounds[piece]; n < cut.bounds[piece + 1]; ++n) {
            add(n, m.row(cut.rows[n]), target.data());
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
  for (const std::uint32_t i : cut.rows) {
    for (std::size_t l = 0; l < stride_; ++l) last[l] += constant * a[i * stride_ + l];
  }
}

void ClassSums::adjoint(const Cut& cut, std::span<const double> a, std::span<double> u) {
  accumulate(cut, a, u, design_.constant,
             [&](std::size_t n, const auto& row, double* target) { add(cut, n, row, a, target); });
}

void ClassSums::normal_product(const Cut& cut, std::span<const double> v, FunctionRef<void(std::size_t)> change,
                               std::span<double> z, std::span<double> u) {
  // Where pieces are whole rows, these are used twice while they are near.
  const bool at_once = cut.bounds.size() > 2;
  if (!at_once) {
    margins(cut, v, z);
    parallel_for((cut.rows.size() + rows_at_once - 1) / rows_at_once, [&](std::size_t block) {
      const std::size_t end = std::min(cut.rows.size(), (block + 1) * rows_at_once);
      for (std::size_t n = block * rows_at_once; n < end; ++n) change(cut.rows[n]);
    });
    adjoint(cut, z, u);
    return;
  }
  accumulate(cut, z, u, design_.constant, [&](std::size_t n, const auto& row, double* target) {
    score(cut, n, row, v, z);
    change(cut.rows[n]);
    add(cut, n, row, z, target);
  });
}

void ClassSums::squares(const Cut& cut, std::span<const double> a, std::span<double> u) {
  const double constant = design_.constant * design_.constant;
  accumulate(cut, a, u, constant, [&](std::size_t n, const auto& row, double* target) {
    const double* const change = a.data() + cut.rows[n] * stride_;
    row.for_each([&](std::size_t j, double x) {
      for (std::size_t l = 0; l < stride_; ++l) target[j * stride_ + l] += x * x * change[l];
    });
  });
}

}  // namespace fenchel::solver
