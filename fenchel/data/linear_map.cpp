#include "fenchel/data/linear_map.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/rounding.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/base/zeros.hpp"
#include "fenchel/data/dot.hpp"
#include "fenchel/data/row_norms.hpp"

namespace fenchel::data {
namespace {

// Where w and u do not both fit into a core's cache, reading the data twice costs less than misses in two places at once.
constexpr std::size_t most_columns_at_once = 65536;

// A sum and the sum of magnitudes side by side, so that a scatter touches one cache line.
struct Enclosed {
  double sum = 0.0;
  double magnitude = 0.0;
};

void add(double& sum, double product) { sum += product; }
void add(Enclosed& entry, double product) {
  entry.sum += product;
  entry.magnitude += std::fabs(product);
}
void merge(double& sum, double other) { sum += other; }
void merge(Enclosed& entry, const Enclosed& other) {
  entry.sum += other.sum;
  entry.magnitude += other.magnitude;
}

// x . w and the sum of the products' magnitudes, in four partial sums that need not wait for each other.
template <class Row>
Enclosed enclosed_product(const Row& row, const double* w) {
  Enclosed part[4];
  const std::size_t n = row.nonzeros();
  row.with_values([&](const auto& value_at) {
    const auto product = [&](std::size_t k) { return value_at(k) * w[row.column(k)]; };
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4) {
      for (std::size_t l = 0; l < 4; ++l) add(part[l], product(k + l));
    }
    for (; k < n; ++k) add(part[0], product(k));
  });
  merge(part[0], part[1]);
  merge(part[2], part[3]);
  merge(part[0], part[2]);
  return part[0];
}

// Boundaries of at most `count` slabs of rows with about equally many nonzeros.
std::vector<std::size_t> balanced_slabs(const Matrix& matrix, std::size_t count) {
  return std::visit(
      [&](const auto& m) {
        std::vector<std::size_t> bounds{0};
        for (std::size_t k = 1; k < count; ++k) {
          const std::size_t target = m.nonzeros() / count * k;
          std::size_t low = bounds.back(), high = m.rows();
          while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (m.nonzeros_before(middle) < target)
              low = middle + 1;
            else
              high = middle;
          }
          bounds.push_back(low);
        }
        bounds.push_back(m.rows());
        return bounds;
      },
      matrix);
}

template <class Value>
void prefetch_next(const CsrRows<Value>& rows, std::size_t i, std::size_t end) {
  if (rows.scattered()) {
    if (i + scattered_ahead < end) rows.prefetch_scattered(i + scattered_ahead);
  } else if (i + 1 < end) {
    rows.prefetch_value(i + 1);
  }
}
template <class Value>
void prefetch_next(const DenseRows<Value>& /*rows*/, std::size_t /*i*/, std::size_t /*end*/) {}

// u += sum of x_i beta_i over rows [begin, end)
template <class Rows, class Accumulator>
void add_rows(const Rows& rows, std::size_t begin, std::size_t end, std::span<const double> beta,
              std::span<Accumulator> u) {
  for (std::size_t i = begin; i < end; ++i) {
    prefetch_next(rows, i, end);
    const double b = beta[i];
    if (b != 0.0) rows.row(i).for_each_entry([&](std::size_t j, double x) { add(u[j], x * b); });
  }
}

// x_i . w in a walk along rows up to `end`. Where these are dense, asking for the row after the next uses a quarter more of the
// memory's bandwidth than the processor's own foresight does; of sparse rows only the value of a uniform
// one is asked for.
template <class Value>
double product_in_order(const CsrRows<Value>& rows, std::size_t i, std::size_t end, const double* w) {
  prefetch_next(rows, i, end);
  return dot(rows.row(i), w);
}
template <class Value>
double product_in_order(const DenseRows<Value>& rows, std::size_t i, std::size_t end, const double* w) {
  const DenseRow<Value> row = rows.row(i);
  const Value* const later = row.values.data() + (i + 2 < end ? 2 * rows.cols() : 0);
  return dot(row, w, [&](std::size_t j) { __builtin_prefetch(later + j); });
}

// Dense rows four at a time, so that u is loaded and stored once for them; the order of the sums is that of the rows.
template <class Value>
void add_rows(const DenseRows<Value>& rows, std::size_t begin, std::size_t end, std::span<const double> beta,
              std::span<double> u) {
  constexpr std::size_t lanes = 8;
  const std::size_t d = rows.cols();
  double* const sum = u.data();
  std::size_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const Value* const x0 = rows.row(i).values.data();
    const Value* const x1 = rows.row(i + 1).values.data();
    const Value* const x2 = rows.row(i + 2).values.data();
    const Value* const x3 = rows.row(i + 3).values.data();
    const double b0 = beta[i], b1 = beta[i + 1], b2 = beta[i + 2], b3 = beta[i + 3];
    if (b0 == 0.0 && b1 == 0.0 && b2 == 0.0 && b3 == 0.0) continue;
    const auto add_column = [&](std::size_t j) {
      sum[j] = (((sum[j] + static_cast<double>(x0[j]) * b0) + static_cast<double>(x1[j]) * b1) +
                static_cast<double>(x2[j]) * b2) +
               static_cast<double>(x3[j]) * b3;
    };
    const std::size_t later = i + 8 <= end ? 4 * d : 0;
    std::size_t j = 0;
    for (; j + lanes <= d; j += lanes) {
      for (const Value* const x : {x0, x1, x2, x3}) __builtin_prefetch(x + later + j);
      for (std::size_t l = 0; l < lanes; ++l) add_column(j + l);
    }
    for (; j < d; ++j) add_column(j);
  }
  for (; i < end; ++i) {
    const Value* const x = rows.row(i).values.data();
    const double b = beta[i];
    for (std::size_t j = 0; j < d; ++j) sum[j] += static_cast<double>(x[j]) * b;
  }
}

// Every slab of rows has an accumulator of its own (the first one is the result); they are merged in order. `fill(rows,
// begin, end, u)` adds the rows of a slab.
template <class Accumulator, class Fill>
void accumulate(const Design& design, std::span<const std::size_t> slabs, std::span<const double> beta,
                std::span<Accumulator> result, std::vector<Accumulator>& scratch, const Fill& fill) {
  const std::size_t d = result.size();
  const std::size_t count = slabs.size() - 1;
  scratch.resize(d * (count - 1));
  const auto target = [&](std::size_t slab) {
    return slab == 0 ? result : std::span<Accumulator>(scratch).subspan((slab - 1) * d, d);
  };
  std::visit(
      [&](const auto& m) {
        parallel_for(count, [&](std::size_t slab) {
          const std::span<Accumulator> u = target(slab);
          std::fill(u.begin(), u.end(), Accumulator{});
          fill(m, slabs[slab], slabs[slab + 1], u);
          if (design.constant == 0.0) return;
          for (std::size_t i = slabs[slab]; i < slabs[slab + 1]; ++i) add(u[d - 1], design.constant * beta[i]);
        });
      },
      design.matrix);
  if (count == 1) return;
  for_each_block(d, [&](std::size_t begin, std::size_t end) {
    for (std::size_t slab = 1; slab < count; ++slab) {
      const std::span<const Accumulator> partial = target(slab);
      for (std::size_t j = begin; j < end; ++j) merge(result[j], partial[j]);
    }
  });
}

// The constant column's part of X' beta.
Enclosed constant_sum(const Design& design, std::span<const double> beta) {
  Enclosed result;
  for (const double b : beta) add(result, design.constant * b);
  return result;
}

// Where sums need no magnitudes, slabs are fewer: setting up and merging the accumulators costs a small share of the work.
// A power of two, for machines with as many cores.
std::size_t plain_slab_count(const Matrix& matrix) {
  constexpr std::size_t most_slabs = 16;
  const std::size_t entries = nonzeros(matrix), columns = cols(matrix) + 1;
  if (entries < 8 * columns) return 1;
  return std::bit_floor(std::clamp<std::size_t>(entries / (16 * columns), 2, most_slabs));
}

// Pieces of rows whose products go to one thread after the other: small enough for all threads to end at about the same
// time, which blocks of equally many rows are not where these are long, and large enough to be worth a turn.
std::size_t piece_count(const Matrix& matrix) {
  constexpr std::size_t entries_in_piece = 1 << 15, most_pieces = 64;
  return std::clamp<std::size_t>(nonzeros(matrix) / entries_in_piece, 1, most_pieces);
}

}  // namespace

std::vector<std::size_t> accumulation_slabs(const Matrix& matrix) {
  // More slabs than this would cost more memory traffic for the accumulators than for the data.
  constexpr std::size_t most_slabs = 16;
  return balanced_slabs(matrix, std::clamp<std::size_t>(nonzeros(matrix) / (4 * cols(matrix) + 5), 1, most_slabs));
}

LinearMap::LinearMap(const Design& design)
    : design_(design),
      slabs_(accumulation_slabs(design.matrix)),
      plain_slabs_(balanced_slabs(design.matrix, plain_slab_count(design.matrix))),
      pieces_(balanced_slabs(design.matrix, piece_count(design.matrix))),
      bands_(design.matrix) {
  std::size_t longest = bands_.count() > 0 ? rows() : 0;
  for (std::size_t k = 1; k < slabs_.size(); ++k) longest = std::max(longest, slabs_[k] - slabs_[k - 1]);
  adjoint_gamma_ = gamma_bound(static_cast<double>(longest + slabs_.size()) + 2);
}

template <class Work>
void LinearMap::for_each_piece(const Work& work) const {
  std::visit(
      [&](const auto& m) {
        if (pieces_.size() == 2) return work(m, 0, m.rows());
        parallel_for(pieces_.size() - 1, [&](std::size_t k) { work(m, pieces_[k], pieces_[k + 1]); });
      },
      design_.matrix);
}

template <class Fill>
void LinearMap::for_each_band(std::size_t count, const Fill& fill) const {
  const std::size_t each = bands_.count() / count;
  std::visit(
      [&](const auto& m) {
        if constexpr (requires { m.columns; }) {
          const auto crossings = bands_.crossings(m);
          parallel_for(count, [&](std::size_t k) { fill(m, crossings, k * each, (k + 1) * each); });
        }
      },
      design_.matrix);
}

// Where two accumulators do not fit into a core's cache.
bool LinearMap::banded() const { return bands_.count() > 0 && cols() > 2 * most_columns_at_once; }

void LinearMap::margins(std::span<const double> w, std::span<double> z) const {
  const double constant = design_.constant != 0.0 ? design_.constant * w.back() : 0.0;
  for_each_piece([&](const auto& m, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) z[i] = product_in_order(m, i, end, w.data()) + constant;
  });
}

void LinearMap::margins(std::span<const double> w, std::span<double> z, std::span<double> error) const {
  if (all_zero(w)) {
    std::ranges::fill(z, 0.0);
    std::ranges::fill(error, 0.0);
    return;
  }
  const double constant = design_.constant != 0.0 ? design_.constant * w.back() : 0.0;
  for_each_piece([&](const auto& m, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      prefetch_next(m, i, end);
      const auto row = m.row(i);
      Enclosed product = enclosed_product(row, w.data());
      add(product, constant);
      const auto terms = static_cast<double>(row.nonzeros() + 1);
      z[i] = product.sum;
      // k products and sums; the magnitude itself carries as many errors; a product may underflow.
      error[i] = widen(gamma_bound(terms + 2) * product.magnitude * (1.0 + gamma_bound(terms + 2)), 4) +
                 underflow_of_a_sum;
      if (row.nonzeros() == 0 && constant == 0.0) error[i] = 0.0;
    }
  });
}

void LinearMap::adjoint(std::span<const double> beta, std::span<double> u) {
  if (banded()) {
    // One a thread where that divides them, else all: the bits do not depend on it.
    const std::size_t count = std::has_single_bit(threads()) ? std::min(bands_.count(), threads()) : bands_.count();
    for_each_band(count, [&](const auto& m, const auto& crossings, std::size_t first, std::size_t last) {
      const std::size_t from = bands_.first_column(first);
      std::ranges::fill(u.subspan(from, bands_.first_column(last) - from), 0.0);
      bands_.for_each_product(m, crossings, beta, first, last,
                              [&](std::size_t j, double product) { add(u[j], product); });
    });
    if (design_.constant != 0.0) u.back() = constant_sum(design_, beta).sum;
    return;
  }
  accumulate(design_, plain_slabs_, beta, u, scratch_,
             [&](const auto& m, std::size_t begin, std::size_t end, std::span<double> sums) {
               add_rows(m, begin, end, beta, sums);
             });
}

double LinearMap::margins_and_adjoint(std::span<const double> w, std::span<double> z,
                                      const std::function<void(std::size_t begin, std::size_t end)>& make,
                                      std::span<const double> beta, std::span<double> u) {
  // One slab would leave all to one thread, which margins need not.
  if (plain_slabs_.size() == 2 || cols() > most_columns_at_once) {
    margins(w, z);
    for_each_block(rows(), make);
    adjoint(beta, u);
    return 2.0;
  }
  // Rows are used twice while they are in the cache nearest to the processor.
  constexpr std::size_t entries_at_once = 2048;
  const double constant = design_.constant != 0.0 ? design_.constant * w.back() : 0.0;
  accumulate(design_, plain_slabs_, beta, u, scratch_,
             [&](const auto& m, std::size_t begin, std::size_t end, std::span<double> sums) {
               for (std::size_t next = begin; begin < end; begin = next) {
                 const std::size_t enough = m.nonzeros_before(begin) + entries_at_once;
                 // In fours, as dense rows are added up.
                 do {
                   const std::size_t stop = std::min(end, next + 4);
                   for (; next < stop; ++next) z[next] = product_in_order(m, next, end, w.data()) + constant;
                 } while (next < end && m.nonzeros_before(next) < enough);
                 make(begin, next);
                 add_rows(m, begin, next, beta, sums);
               }
             });
  return 1.0;
}

void LinearMap::adjoint(std::span<const double> beta, std::span<double> u, std::span<double> magnitude) const {
  if (all_zero(beta)) {
    std::ranges::fill(u, 0.0);
    std::ranges::fill(magnitude, 0.0);
    return;
  }
  const auto split = [&](std::span<const Enclosed> entries, std::size_t from) {
    for (std::size_t j = 0; j < entries.size(); ++j) {
      u[from + j] = entries[j].sum;
      magnitude[from + j] = entries[j].magnitude;
    }
  };
  if (bands_.count() > 0) {
    for_each_band(bands_.count(), [&](const auto& m, const auto& crossings, std::size_t first, std::size_t last) {
      const std::size_t from = bands_.first_column(first);
      std::vector<Enclosed> band(bands_.first_column(last) - from);
      bands_.for_each_product(m, crossings, beta, first, last,
                              [&](std::size_t j, double product) { add(band[j - from], product); });
      split(band, from);
    });
    if (design_.constant != 0.0) split(std::array{constant_sum(design_, beta)}, cols() - 1);
    return;
  }
  std::vector<Enclosed> enclosed(u.size());
  std::vector<Enclosed> scratch;
  accumulate(design_, slabs_, beta, std::span<Enclosed>(enclosed), scratch,
             [&](const auto& m, std::size_t begin, std::size_t end, std::span<Enclosed> sums) {
               add_rows(m, begin, end, beta, sums);
             });
  split(enclosed, 0);
}

double LinearMap::adjoint_error(double magnitude) const {
  return widen(adjoint_gamma_ * magnitude * (1.0 + adjoint_gamma_), 4) + underflow_of_a_sum;
}

LargeVector LinearMap::row_square_norms(std::span<const double> scale) const {
  LargeVector norms(rows());
  row_square_norms(scale, norms);
  return norms;
}

void LinearMap::row_square_norms(std::span<const double> scale, std::span<double> norms) const {
  const double constant_scale = scale.empty() ? 1.0 : scale.back();
  const double constant = design_.constant * design_.constant * constant_scale;
  for_each_piece([&](const auto& m, std::size_t begin, std::size_t end) {
    if (scale.empty()) return square_norms(m, begin, end, constant, norms);
    for (std::size_t i = begin; i < end; ++i) {
      double sum = constant;
      m.row(i).for_each([&](std::size_t j, double x) { sum += x * x * scale[j]; });
      norms[i] = sum;
    }
  });
}

LargeVector LinearMap::row_absolute_sums() const {
  LargeVector sums(rows());
  for_each_piece([&](const auto& m, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double sum = std::fabs(design_.constant);
      m.row(i).for_each([&](std::size_t /*j*/, double x) { sum += std::fabs(x); });
      sums[i] = sum;
    }
  });
  return sums;
}

}  // namespace fenchel::data
