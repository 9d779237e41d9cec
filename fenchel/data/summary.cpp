#include "fenchel/data/summary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>

#include <fmt/format.h>
#include <oneapi/tbb/parallel_sort.h>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::data {

namespace {

std::uint64_t stirred(std::uint64_t bits) {
  bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93U;
  bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93U;
  return bits ^ (bits >> 32);
}

// An entry at a place in a row or column.
std::uint64_t entry_hash(std::uint64_t place, double value) {
  return stirred(std::bit_cast<std::uint64_t>(value) + stirred(place + 1));
}

void widen_to(Spread& spread, double value) {
  spread.smallest = std::min(spread.smallest, value);
  spread.largest = std::max(spread.largest, value);
}

struct RowFacts {
  Spread nonzeros, norms;
  CompensatedSum norm_sum;
  std::size_t total = 0;
  std::size_t empty = 0;

  void add(std::size_t count, double norm) {
    widen_to(nonzeros, static_cast<double>(count));
    widen_to(norms, norm);
    norm_sum.add(norm);
    total += count;
    empty += count == 0 ? 1 : 0;
  }
  void add(const RowFacts& other) {
    for (const double v : {other.nonzeros.smallest, other.nonzeros.largest}) widen_to(nonzeros, v);
    for (const double v : {other.norms.smallest, other.norms.largest}) widen_to(norms, v);
    norm_sum.add(other.norm_sum);
    total += other.total;
    empty += other.empty;
  }
};

// Sorts the hashes of rows; 0 is that of an empty row.
std::size_t repeats(std::vector<std::uint64_t>& hashes) {
  oneapi::tbb::parallel_sort(hashes.begin(), hashes.end());  // equal ones become neighbours
  const auto first = std::ranges::upper_bound(hashes, 0U);
  std::size_t count = 0;
  for (auto at = first; at != hashes.end() && at + 1 != hashes.end(); ++at) count += *at == *(at + 1) ? 1 : 0;
  return count;
}

template <class Rows>
void look_at_rows(const Rows& rows, Summary& summary) {
  std::vector<std::uint64_t> hashes(rows.rows());
  const auto facts = block_sum<RowFacts>(rows.rows(), [&](std::size_t i, RowFacts& block) {
    std::size_t count = 0;
    double squares = 0.0;
    std::uint64_t hash = 0;
    rows.row(i).for_each([&](std::size_t j, double x) {
      if (x == 0.0) return;
      ++count;
      squares += x * x;
      hash += entry_hash(j, x);
    });
    hashes[i] = count == 0 ? 0 : std::max<std::uint64_t>(1, hash);
    block.add(count, std::sqrt(squares));
  });
  const auto n = static_cast<double>(rows.rows());
  summary.nonzeros = facts.total;
  summary.row_nonzeros = facts.nonzeros;
  summary.row_nonzeros.mean = static_cast<double>(facts.total) / n;
  summary.row_norms = facts.norms;
  summary.row_norms.mean = facts.norm_sum.total() / n;
  summary.empty_rows = facts.empty;
  summary.duplicate_rows = repeats(hashes);
}

struct ColumnFacts {
  std::uint64_t count = 0;
  std::uint64_t hash = 0;
  double smallest = infinity;
  double largest = -infinity;
  double squares = 0.0;

  void add(const ColumnFacts& other) {
    count += other.count;
    hash += other.hash;
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
    squares += other.squares;
  }
};

// Slabs of rows are looked at side by side and merged in order; their number depends on the data alone.
template <class Rows>
std::vector<ColumnFacts> facts_of_columns(const Rows& rows) {
  constexpr std::size_t most_slabs = 8;
  const std::size_t d = rows.cols();
  const std::size_t slabs = std::clamp<std::size_t>(rows.nonzeros() / (8 * d + 1), 1, most_slabs);
  std::vector<ColumnFacts> facts(d * slabs);
  parallel_for(slabs, [&](std::size_t slab) {
    const std::span<ColumnFacts> mine(facts.data() + slab * d, d);
    for (std::size_t i = slab * rows.rows() / slabs; i < (slab + 1) * rows.rows() / slabs; ++i) {
      rows.row(i).for_each([&](std::size_t j, double x) {
        if (x != 0.0) mine[j].add({1, entry_hash(i, x), x, x, x * x});
      });
    }
  });
  for (std::size_t k = d; k < facts.size(); ++k) facts[k % d].add(facts[k]);
  facts.resize(d);
  return facts;
}

void list(ColumnKind& kind, std::size_t column) {
  if (kind.count++ < ColumnKind::most_listed) kind.first.push_back(column);
}

ColumnKind repeated(std::span<const ColumnFacts> facts) {
  const auto key = [&](std::uint32_t j) { return std::tuple(facts[j].hash, facts[j].count, j); };
  std::vector<std::uint32_t> order;
  for (std::uint32_t j = 0; j < facts.size(); ++j) {
    if (facts[j].count > 0) order.push_back(j);
  }
  oneapi::tbb::parallel_sort(order.begin(), order.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  std::vector<std::uint32_t> later;
  for (std::size_t k = 1; k < order.size(); ++k) {
    const ColumnFacts &a = facts[order[k - 1]], &b = facts[order[k]];
    if (a.hash == b.hash && a.count == b.count) later.push_back(order[k]);
  }
  std::ranges::sort(later);
  ColumnKind kind;
  for (const std::uint32_t j : later) list(kind, j);
  return kind;
}

void look_at_columns(std::span<const ColumnFacts> facts, Summary& summary) {
  std::vector<double> scales;
  for (std::size_t j = 0; j < facts.size(); ++j) {
    const ColumnFacts& column = facts[j];
    if (column.count == 0) {
      list(summary.empty_columns, j);
      continue;
    }
    if (column.count == summary.rows && column.smallest == column.largest) list(summary.constant_columns, j);
    widen_to(summary.values, column.smallest);
    widen_to(summary.values, column.largest);
    scales.push_back(std::sqrt(column.squares / static_cast<double>(column.count)));
  }
  summary.duplicate_columns = repeated(facts);
  if (scales.empty()) return;
  std::ranges::sort(scales);
  const std::size_t apart = scales.size() / 100;
  summary.small_scale = scales[apart];
  summary.large_scale = scales[scales.size() - 1 - apart];
}

LabelSummary look_at_labels(std::span<const double> targets) {
  std::vector<double> sorted(targets.begin(), targets.end());
  oneapi::tbb::parallel_sort(sorted.begin(), sorted.end());
  const auto quantile = [&](std::size_t quarter) { return sorted[(sorted.size() - 1) * quarter / 4]; };
  LabelSummary labels{.smallest = sorted.front(),
                      .lower_quartile = quantile(1),
                      .median = quantile(2),
                      .upper_quartile = quantile(3),
                      .largest = sorted.back(),
                      .most_frequent = {}};
  labels.least_count = sorted.size();
  const auto more_frequent = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  };
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && sorted[end] == sorted[begin]) ++end;
    ++labels.distinct;
    labels.integers = labels.integers && std::trunc(sorted[begin]) == sorted[begin];
    labels.least_count = std::min(labels.least_count, end - begin);
    // A short list is kept sorted, however many labels there are.
    const std::pair entry(sorted[begin], end - begin);
    const auto place = std::ranges::upper_bound(labels.most_frequent, entry, more_frequent);
    labels.most_frequent.insert(place, entry);
    if (labels.most_frequent.size() > LabelSummary::most_listed) labels.most_frequent.pop_back();
  }
  return labels;
}

}  // namespace

bool LabelSummary::like_regression(std::size_t rows) const {
  constexpr std::size_t many = 100;
  return !integers || (distinct > many && distinct > rows / many);
}

Summary summarize(const Dataset& data) {
  const Matrix matrix = data.matrix();
  Summary summary;
  summary.rows = rows(matrix);
  summary.columns = cols(matrix);
  std::visit(
      [&](const auto& m) {
        look_at_rows(m, summary);
        look_at_columns(facts_of_columns(m), summary);
      },
      matrix);
  const double cells = static_cast<double>(summary.rows) * static_cast<double>(summary.columns);
  if (cells > 0.0) summary.density = static_cast<double>(summary.nonzeros) / cells;
  if (!data.targets.empty()) summary.labels = look_at_labels(data.targets);
  return summary;
}

std::vector<Suggestion> suggestions(const Summary& summary) {
  constexpr double far_apart = 100.0;
  constexpr double imbalanced = 10.0;
  std::vector<Suggestion> list;
  if (summary.labels && summary.labels->like_regression(summary.rows)) {
    list.push_back(
        {"--loss squared", fmt::format("{} different labels look like a regression (squared, huber, absolute, "
                                       "epsilon-insensitive or quantile loss), not like classes",
                                       summary.labels->distinct)});
  } else if (summary.labels && summary.labels->distinct > 1) {
    const std::size_t most = summary.labels->most_frequent.front().second;
    const std::size_t least = summary.labels->least_count;
    if (static_cast<double>(most) > imbalanced * static_cast<double>(least)) {
      list.push_back(
          {"--class-weight balanced", fmt::format("the largest class has {} rows, the smallest {}", most, least)});
    }
  }
  if (summary.large_scale > far_apart * summary.small_scale) {
    list.push_back(
        {"--standardize", fmt::format("the scales of the columns differ, from {:.3g} to {:.3g}, so that the "
                                      "penalty treats them very differently",
                                      summary.small_scale, summary.large_scale)});
  } else if (summary.row_norms.largest > far_apart) {
    list.push_back(
        {"--standardize", fmt::format("rows have norms up to {:.3g}: unscaled features make the problem hard",
                                      summary.row_norms.largest)});
  }
  return list;
}

}  // namespace fenchel::data
