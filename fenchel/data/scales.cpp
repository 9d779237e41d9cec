#include "fenchel/data/scales.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/interval.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/linear_map.hpp"

namespace fenchel::data {

namespace {

// The entries of a column around a value r, rows of weight 0 left out. Every sum is compensated, so that neither the
// order of rows nor zeros that are stored or not make a difference.
struct Moments {
  std::uint64_t count = 0;
  CompensatedSum weight;
  CompensatedSum first;   // sum c (x - r)
  CompensatedSum second;  // sum c (x - r)^2
  double low = infinity;
  double high = -infinity;

  void add(double c, double x, double around) {
    ++count;
    weight.add(c);
    add_values(c, x, around);
  }
  // `c` may be the weight of many rows.
  void add_values(double c, double x, double around) {
    const double weighted = c * (x - around);
    first.add(weighted);
    second.add(weighted * (x - around));
    low = std::min(low, x);
    high = std::max(high, x);
  }
  void add(const Moments& other) {
    count += other.count;
    weight.add(other.weight);
    first.add(other.first);
    second.add(other.second);
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
  [[nodiscard]] bool constant() const { return !(low < high); }
};

class Columns {
 public:
  Columns(const Matrix& matrix, std::span<const double> weights)
      : matrix_(matrix), weights_(weights), slabs_(accumulation_slabs(matrix)) {
    for (const double c : weights_) {
      if (c == 0.0) continue;
      ++count_;
      total_.add(c);
    }
  }

  [[nodiscard]] double total() const { return total_.total(); }
  // Stored entries, and the zeros that are not.
  [[nodiscard]] std::vector<Moments> moments(std::span<const double> around);
  // For every column that is asked for, the value that is nearest to around + shift.
  void to_nearest(const std::vector<bool>& asked, std::span<const double> shift, std::span<double> around) const;

 private:
  [[nodiscard]] std::vector<Moments> stored(std::span<const double> around) const;
  [[nodiscard]] std::vector<double> absent_weights(std::span<const Moments> stored) const;
  void sum_absent(const std::vector<bool>& asked, std::span<double> absent) const;

  const Matrix& matrix_;
  std::span<const double> weights_;
  std::vector<std::size_t> slabs_;
  std::uint64_t count_ = 0;  // rows of positive weight
  CompensatedSum total_;
  std::vector<double> absent_;  // the weight of the rows that a column does not store
};

// Every slab of rows has sums of its own; they are added up in order.
std::vector<Moments> Columns::stored(std::span<const double> around) const {
  const std::size_t d = around.size();
  const std::size_t count = slabs_.size() - 1;
  std::vector<Moments> sums(d * count);
  std::visit(
      [&](const auto& m) {
        parallel_for(count, [&](std::size_t slab) {
          const std::span<Moments> own = std::span(sums).subspan(slab * d, d);
          for (std::size_t i = slabs_[slab]; i < slabs_[slab + 1]; ++i) {
            const double c = weights_[i];
            if (c == 0.0) continue;
            m.row(i).for_each([&](std::size_t j, double x) { own[j].add(c, x, around[j]); });
          }
        });
      },
      matrix_);
  for (std::size_t slab = 1; slab < count; ++slab) {
    for (std::size_t j = 0; j < d; ++j) sums[j].add(sums[slab * d + j]);
  }
  sums.resize(d);
  return sums;
}

// Row by row, for columns whose absent rows weigh next to nothing.
void Columns::sum_absent(const std::vector<bool>& asked, std::span<double> absent) const {
  std::vector<CompensatedSum> sums(absent.size());
  std::vector<std::size_t> next(absent.size(), 0);
  const auto pass = [&](std::size_t j, std::size_t end) {
    for (std::size_t i = next[j]; i < end; ++i) sums[j].add(weights_[i]);
    next[j] = end + 1;
  };
  std::visit(
      [&](const auto& m) {
        for (std::size_t i = 0; i < m.rows(); ++i) {
          m.row(i).for_each([&](std::size_t j, double) {
            if (asked[j]) pass(j, i);
          });
        }
        for (std::size_t j = 0; j < absent.size(); ++j) {
          if (!asked[j]) continue;
          pass(j, m.rows());
          absent[j] = sums[j].total();
        }
      },
      matrix_);
}

// All but a few columns come by subtraction, which the compensation keeps exact to far below this share of the total.
std::vector<double> Columns::absent_weights(std::span<const Moments> stored) const {
  constexpr double least_share = 1e-10;
  std::vector<double> absent(stored.size(), 0.0);
  std::vector<bool> tiny(stored.size(), false);
  bool any = false;
  for (std::size_t j = 0; j < stored.size(); ++j) {
    if (stored[j].count == count_) continue;
    CompensatedSum rest = total_;
    rest.subtract(stored[j].weight);
    absent[j] = rest.total();
    tiny[j] = !(absent[j] > least_share * total());
    any = any || tiny[j];
  }
  if (any) sum_absent(tiny, absent);
  return absent;
}

std::vector<Moments> Columns::moments(std::span<const double> around) {
  std::vector<Moments> found = stored(around);
  if (absent_.empty()) absent_ = absent_weights(found);
  for (std::size_t j = 0; j < found.size(); ++j) {
    if (found[j].count < count_) found[j].add_values(absent_[j], 0.0, around[j]);
  }
  return found;
}

void Columns::to_nearest(const std::vector<bool>& asked, std::span<const double> shift,
                         std::span<double> around) const {
  std::vector<double> nearest(around.size(), infinity);
  const auto offer = [&](std::size_t j, double x) {
    const auto distance = [&](double value) { return std::fabs((value - around[j]) - shift[j]); };
    if (asked[j] && !(distance(nearest[j]) <= distance(x))) nearest[j] = x;
  };
  for (std::size_t j = 0; j < around.size(); ++j) {
    if (absent_[j] > 0.0) offer(j, 0.0);
  }
  std::visit(
      [&](const auto& m) {
        for (std::size_t i = 0; i < m.rows(); ++i) {
          if (weights_[i] > 0.0) m.row(i).for_each(offer);
        }
      },
      matrix_);
  for (std::size_t j = 0; j < around.size(); ++j) {
    if (asked[j]) around[j] = nearest[j];
  }
}

// The moments around values near the means, so that little cancels in  sum c (x-m)^2 = second - first^2 / sum c.
// Zero is such a value for most sparse columns, the rounded mean for nearly all others. It is not where a column deviates
// by less than its mean is rounded (all but the tiniest weights on one number, say); there the value nearest to the
// mean is, since it is no further from it than the deviation. Two rounds find it: the first makes the mean known to
// the square of the rounding unit.
std::vector<Moments> central_moments(Columns& columns, std::span<double> around) {
  constexpr int most_rounds = 4;
  const std::size_t d = around.size();
  std::vector<Moments> found = columns.moments(around);
  for (int round = 0; round < most_rounds; ++round) {
    std::vector<double> shift(d, 0.0);
    std::vector<bool> cancels(d, false);
    bool any = false;
    for (std::size_t j = 0; j < d; ++j) {
      if (found[j].constant()) continue;
      shift[j] = found[j].first.total() / columns.total();
      cancels[j] = shift[j] * shift[j] > 0.75 * (found[j].second.total() / columns.total());
      any = any || cancels[j];
    }
    if (!any) break;
    if (round > 0) {
      columns.to_nearest(cancels, shift, around);
    } else {
      for (std::size_t j = 0; j < d; ++j) around[j] = cancels[j] ? shift[j] : 0.0;
    }
    found = columns.moments(around);
  }
  return found;
}

}  // namespace

std::vector<double> column_scales(const Matrix& matrix, std::span<const double> weights) {
  const std::size_t d = cols(matrix);
  const std::vector<double> ones(weights.empty() ? rows(matrix) : 0, 1.0);
  Columns columns(matrix, weights.empty() ? std::span<const double>(ones) : weights);
  const double total = columns.total();
  std::vector<double> around(d, 0.0);
  const std::vector<Moments> found = central_moments(columns, around);
  std::vector<double> scales(d, 1.0);
  for (std::size_t j = 0; j < d; ++j) {
    const Moments& column = found[j];
    if (column.constant()) continue;
    CompensatedSum square = column.second;
    const double shift = column.first.total() / total;
    square.add(-shift * column.first.total());
    scales[j] = std::sqrt(std::max(square.total(), 0.0) / total);
    if (!(std::isfinite(scales[j]) && scales[j] > 0.0)) {
      throw Error(Fault::input,
                  fmt::format("the deviation of feature {} (counted from 1), whose values reach from {} to {}, "
                              "is out of the range of doubles: rescale it",
                              j + 1, column.low, column.high));
    }
  }
  return scales;
}

}  // namespace fenchel::data
