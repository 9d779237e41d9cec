#include "fenchel/solver/folded_columns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/parallel.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::solver {
namespace {

// Smaller weights stay in a core's own cache as they are.
constexpr std::size_t least_weights = 1 << 16;
// The part of the weights that has to be left out. Folding takes a copy of the data and about two passes over one class.
constexpr double least_left_out = 0.15;

template <class Rows>
constexpr bool sparse = requires(const Rows& rows) {
  rows.offsets;
};

// Entries of every column, counted by threads that share rows out where these are long against the counts.
std::vector<std::uint32_t> count_entries(const data::Matrix& matrix) {
  constexpr std::size_t entries_repaid = 4, most_parts = 8;
  const std::size_t worth = data::nonzeros(matrix) / (entries_repaid * (data::cols(matrix) + 1));
  const std::size_t parts = std::clamp<std::size_t>(worth, 1, std::min(threads(), most_parts));
  std::vector<std::vector<std::uint32_t>> counts(parts);
  std::visit(
      [&](const auto& rows) {
        parallel_for(parts, [&](std::size_t part) {
          counts[part].assign(rows.cols(), 0);
          for (std::size_t i = part * rows.rows() / parts; i < (part + 1) * rows.rows() / parts; ++i) {
            rows.row(i).for_each([&](std::size_t j, double /*x*/) { ++counts[part][j]; });
          }
        });
      },
      matrix);
  for_each_block(counts.front().size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t part = 1; part < parts; ++part) {
      for (std::size_t j = begin; j < end; ++j) counts.front()[j] += counts[part][j];
    }
  });
  return std::move(counts.front());
}

// The length of a row's part in columns with a single entry; 0 where there is none.
template <class Row>
double rare_norm(const Row& row, std::span<const std::uint32_t> entries) {
  double largest = 0.0, squares = 0.0;
  row.for_each([&](std::size_t j, double x) {
    if (entries[j] == 1) largest = std::max(largest, std::fabs(x));
  });
  if (!(largest > 0.0)) return 0.0;
  row.for_each([&](std::size_t j, double x) {
    if (entries[j] == 1) squares += (x / largest) * (x / largest);  // x^2 might underflow
  });
  return largest * std::sqrt(squares);
}

}  // namespace

std::optional<FoldedColumns> FoldedColumns::where_it_pays(const problem::MulticlassProblem& asked) {
  if (!asked.penalty.uniform() || asked.penalty.base().l1 > 0.0 || !(asked.penalty.base().l2 > 0.0)) return {};
  if (!std::visit([]<class Rows>(const Rows&) { return sparse<Rows>; }, asked.design.matrix)) return {};
  if (asked.dimension() * asked.classes() < least_weights) return {};
  const std::vector<std::uint32_t> entries = count_entries(asked.design.matrix);
  const auto rare = static_cast<std::size_t>(std::ranges::count(entries, 1u));
  const auto empty = static_cast<std::size_t>(std::ranges::count(entries, 0u));
  // Every row may keep one.
  const auto left_out = static_cast<double>(empty + rare - std::min(rare, asked.rows()));
  if (!(left_out > least_left_out * static_cast<double>(asked.dimension()))) return {};
  if (empty == entries.size()) return {};  // nothing to solve for
  return FoldedColumns(asked, entries);
}

FoldedColumns::FoldedColumns(const problem::MulticlassProblem& asked)
    : FoldedColumns(asked, count_entries(asked.design.matrix)) {}

FoldedColumns::FoldedColumns(const problem::MulticlassProblem& asked, std::span<const std::uint32_t> entries)
    : asked_(asked) {
  places_.resize(entries.size());
  for (std::size_t j = 0; j < entries.size(); ++j) {
    if (entries[j] > 1) places_[j] = {.column = static_cast<std::uint32_t>(columns_++), .factor = 1.0};
  }
  std::visit([&](const auto& rows) { fold(rows, entries); }, asked.design.matrix);
}

// A row keeps its entries in columns with several, and then has one for the others. First every row says how many entries that makes,
// then each is written to its place.
template <class Rows>
void FoldedColumns::fold(const Rows& rows, std::span<const std::uint32_t> entries) {
  const std::size_t n = rows.rows();
  LargeVector norms(n);
  offsets_.resize(n + 1);
  offsets_[0] = 0;
  for_each_block(n, long_rows_in_block, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto row = rows.row(i);
      norms[i] = rare_norm(row, entries);
      offsets_[i + 1] = norms[i] > 0.0 ? 1 : 0;
      row.for_each([&](std::size_t j, double /*x*/) { offsets_[i + 1] += entries[j] > 1 ? 1 : 0; });
    }
  });
  LargeList columns(n);  // of the rows' own entries
  for (std::size_t i = 0; i < n; ++i) {
    offsets_[i + 1] += offsets_[i];
    columns[i] = static_cast<std::uint32_t>(columns_);
    columns_ += norms[i] > 0.0 ? 1 : 0;
  }
  indexes_.resize(offsets_.back());
  values_.resize(offsets_.back());
  for_each_block(n, long_rows_in_block, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      std::size_t place = offsets_[i];
      rows.row(i).for_each([&](std::size_t j, double x) {
        if (entries[j] > 1) {
          indexes_[place] = places_[j].column;
          values_[place++] = x;
        } else if (norms[i] > 0.0) {
          places_[j] = {.column = columns[i], .factor = x / norms[i]};
        }
      });
      if (!(norms[i] > 0.0)) continue;
      indexes_[place] = columns[i];
      values_[place] = norms[i];
    }
  });
}

problem::MulticlassProblem FoldedColumns::problem() const {
  problem::MulticlassProblem result = asked_;
  result.design.matrix =
      data::CsrRows<double>{.offsets = offsets_, .columns = indexes_, .values = values_, .column_count = columns_};
  return result;
}

void FoldedColumns::expand(std::span<const double> w, LargeVector& expanded) const {
  const std::size_t k = asked_.classes();
  expanded.resize(asked_.dimension() * k);
  for_each_block(places_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const Place place = places_[j];
      for (std::size_t l = 0; l < k; ++l) {
        expanded[j * k + l] = place.factor == 0.0 ? 0.0 : place.factor * w[place.column * k + l];
      }
    }
  });
  // The constant column comes last in both.
  std::copy(w.begin() + static_cast<std::ptrdiff_t>(columns_ * k), w.end(),
            expanded.begin() + static_cast<std::ptrdiff_t>(places_.size() * k));
}

double FoldedColumns::share() const {
  const std::size_t entries = data::nonzeros(asked_.design.matrix);
  return entries == 0 ? 1.0 : static_cast<double>(values_.size()) / static_cast<double>(entries);
}

FoldedSolver::FoldedSolver(const FoldedColumns& columns, Make make)
    : columns_(columns), solver_(make(columns.problem())), owed_(2.0 / static_cast<double>(columns.classes())) {}

problem::MulticlassCandidate FoldedSolver::candidate() {
  problem::MulticlassCandidate offered = solver_->candidate();
  auto expanded = std::make_unique<LargeVector>();
  columns_.expand(offered.w, *expanded);
  offered.w = *expanded;
  offered.own = std::move(expanded);
  return offered;
}

}  // namespace fenchel::solver
