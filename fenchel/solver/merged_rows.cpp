#include "fenchel/solver/merged_rows.hpp"

#include <limits>
#include <utility>

#include "fenchel/base/sum.hpp"
#include "fenchel/data/residence.hpp"

namespace fenchel::solver {
namespace {

// Fewer rows are solved in less time than anybody would notice.
constexpr std::size_t least_rows = 4096;
// They must be so much smaller than the data. Finding equal rows takes about two passes, and what they need memory: dense ones
// are copied.
constexpr double largest_part = 0.4;

// A row without entries is work, too.
double entries_and_rows(const data::Matrix& matrix) {
  return static_cast<double>(data::nonzeros(matrix)) + static_cast<double>(data::rows(matrix));
}

}  // namespace

std::optional<MergedRows> MergedRows::where_it_pays(const data::Matrix& matrix, std::span<const double> labels,
                                                    const risk::Sample& sample) {
  const std::size_t n = data::rows(matrix);
  if (n < least_rows || n > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  if (!data::sample_repeats(matrix, labels)) return std::nullopt;
  data::EqualRows rows = data::find_equal_rows(matrix, labels);
  const auto part = static_cast<double>(data::bytes_of_rows(matrix, rows.first));
  if (!(part < largest_part * static_cast<double>(data::bytes_of(matrix)))) return std::nullopt;
  return MergedRows(matrix, std::move(rows), sample);
}

MergedRows::MergedRows(const data::Matrix& matrix, data::EqualRows rows, const risk::Sample& sample)
    : rows_(std::move(rows)),
      distinct_(matrix, rows_.first),
      shares_(rows_.first.size()),
      passes_a_pass_(entries_and_rows(distinct_.matrix()) / entries_and_rows(matrix)) {
  if (sample.weights.empty()) {  // counts are exact
    for (const std::uint32_t k : rows_.place) shares_[k] += 1.0;
  } else {
    std::vector<CompensatedSum> sums(shares_.size());
    for (std::size_t i = 0; i < rows_.place.size(); ++i) sums[rows_.place[i]].add(sample.weights[i]);
    for (std::size_t k = 0; k < sums.size(); ++k) shares_[k] = sums[k].total();
  }
  for (double& share : shares_) share /= sample.weight_sum;
}

problem::Problem MergedRows::problem(const problem::Problem& asked, std::vector<double>& targets) const {
  targets.resize(rows());
  for (std::size_t k = 0; k < targets.size(); ++k) targets[k] = asked.sample.targets[rows_.first[k]];
  problem::Problem result = asked;
  result.design.matrix = distinct_.matrix();
  result.sample = {.targets = targets, .weights = shares_, .weight_sum = 1.0};
  return result;
}

std::vector<double> MergedRows::merged(std::span<const double> alpha, const risk::Sample& sample) const {
  std::vector<CompensatedSum> sums(rows());
  for (std::size_t i = 0; i < alpha.size(); ++i) sums[rows_.place[i]].add(sample.weight(i) * alpha[i]);
  std::vector<double> means(sums.size(), 0.0);
  for (std::size_t k = 0; k < means.size(); ++k) {
    if (shares_[k] > 0.0) means[k] = sums[k].total() / sample.weight_sum / shares_[k];
  }
  return means;
}

MergedSolver::MergedSolver(const MergedRows& rows, const problem::Problem& asked, const Start& start, Make make)
    : rows_(rows) {
  const problem::Problem problem = rows.problem(asked, targets_);
  std::vector<double> alpha;
  if (!start.alpha.empty()) alpha = rows.merged(start.alpha, asked.sample);
  solver_ = make(problem, {.w = start.w, .b = start.b, .alpha = alpha});
}

problem::Candidate MergedSolver::candidate() {
  problem::Candidate offered = solver_->candidate();
  if (!offered.alpha.empty()) offered.place = rows_.place();
  return offered;
}

}  // namespace fenchel::solver
