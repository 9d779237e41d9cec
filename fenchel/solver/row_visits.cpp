#include "fenchel/solver/row_visits.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "fenchel/base/error.hpp"
#include "fenchel/data/residence.hpp"
#include "fenchel/kernel/dual_sweep.hpp"

namespace fenchel::solver {
namespace {

// Large enough for a disk to read at full speed, and to mix many rows; small against any memory. It must not depend on the
// machine, so that the same seed gives the same bits.
constexpr std::size_t window_bytes = std::size_t{32} << 20;
// Everybody wakes when the violation among those awake has come down by this factor since all were visited.
constexpr double wake_factor = 0.3;
// It may never come down while somebody rests (a free bias can run away from one who would hold it back), so that everybody
// wakes after this much work, in passes, in any case.
constexpr double most_work_between = 10.0;
// A row rests whose margin is farther from where it would matter than this part of the largest violation; in a sweep over
// all, when rows that had left long ago are asked again, this part of the largest violation of the last such sweep. Larger
// parts keep rows that are never changed, smaller ones let go of some that will have to be called back: on
// rcv1-binary, imdb-tfidf and 20news-bigram, hinge and squared hinge, C = 0.1 to 10, to 1e-3 and 1e-5, a part of 0.1 takes 0.5 to 1.1 times
// the passes that 1 does.
constexpr double part_among_awake = 0.1;
constexpr double part_among_all = 0.3;

// A run is long enough for the processor to foresee most of it, and short enough to mix rows well: 4 and 8 rows needed the passes of 1
// on rcv1-binary, imdb-tfidf and 20news-bigram (hinge, C = 1), 64 up to half as many again.
constexpr std::size_t most_rows_in_run = 8, bytes_in_run = 16384, bytes_in_cache = std::size_t{1} << 20;
// Runs only while at least one row in so many is awake: neighbours among fewer are far from each other.
constexpr std::size_t most_rows_per_awake = 16;

}  // namespace

void shuffle_runs(Random& random, std::size_t run, std::span<const std::uint32_t> rows,
                  std::vector<std::uint32_t>& order) {
  if (run == 1) {
    order.assign(rows.begin(), rows.end());
    random.shuffle(std::span(order));
    return;
  }
  std::vector<std::uint32_t> starts((rows.size() + run - 1) / run);
  for (std::size_t k = 0; k < starts.size(); ++k) starts[k] = static_cast<std::uint32_t>(k * run);
  random.shuffle(std::span(starts));
  order.resize(rows.size());
  auto end = order.begin();
  for (const std::uint32_t start : starts) {
    end = std::ranges::copy(rows.subspan(start, std::min(run, rows.size() - start)), end).out;
  }
}

std::size_t RowVisits::rows_in_run(const data::Matrix& matrix, RowOrder order) {
  if (order != RowOrder::runs) return 1;
  const std::size_t bytes = data::bytes_of(matrix);
  if (bytes < bytes_in_cache) return 1;
  const std::size_t bytes_a_row = bytes / data::rows(matrix) + 1;
  return std::bit_floor(std::clamp<std::size_t>(bytes_in_run / bytes_a_row, 1, most_rows_in_run));
}

std::vector<RowVisits::Window> RowVisits::cut_windows(const data::Matrix& matrix) {
  std::vector<Window> windows;
  const std::size_t n = data::rows(matrix);
  const std::size_t bytes_a_row = data::bytes_of(matrix) / n;
  const std::size_t rows = std::clamp<std::size_t>(window_bytes / (bytes_a_row + 1), 1, n);
  for (std::size_t first = 0; first < n; first += rows) windows.push_back({first, std::min(n, first + rows)});
  return windows;
}

RowVisits::RowVisits(const data::Matrix& matrix, std::span<const double> shares, std::span<const double> curvatures,
                     const Conduct& conduct)
    : shares_(shares),
      random_(conduct.seed),
      sampling_(conduct.ascent.sampling),
      run_(rows_in_run(matrix, conduct.rows)),
      resting_(shares.size(), 0),
      rest_beyond_(infinity),
      full_violation_(infinity),
      settling_gap_(infinity) {
  if (shares.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Fault::failure,
                "rows are numbered with 32 bits here: more than 4294967295 rows need --solver fista");
  }
  // Independent draws come from all over the data: windows are for permutations.
  if (conduct.rows == RowOrder::windows && sampling_ == Sampling::permutation) windows_ = cut_windows(matrix);
  wake();
  order_ = awake_;
  rows_ = awake_.size();
  weigh(curvatures);
}

// Half by curvature, half uniformly: a row with a small norm is not left out for long.
void RowVisits::weigh(std::span<const double> curvatures) {
  if (sampling_ != Sampling::importance) return;
  double mean = 0.0, sum = 0.0;
  cumulative_.clear();
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    if (shares_[i] > 0.0) mean += curvatures[i] / static_cast<double>(rows_);
  }
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    if (shares_[i] > 0.0) cumulative_.push_back(sum += curvatures[i] + (mean > 0.0 ? mean : 1.0));
  }
}

void RowVisits::wake() {
  settling_gap_ = infinity;
  full_violation_ = infinity;
  wake_settled();
}

void RowVisits::wake_settled() {
  std::fill(resting_.begin(), resting_.end(), kernel::awake);
  complete_at_ = total_work_;
  wake_unsettled();
  share_ = 1.0;
}

void RowVisits::wake_unsettled() {
  awake_.clear();
  settled_ = 0;
  share_ = 0.0;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    if (shares_[i] == 0.0) continue;
    if (resting_[i] == kernel::settled) {
      ++settled_;
      continue;
    }
    resting_[i] = kernel::awake;
    awake_.push_back(static_cast<std::uint32_t>(i));
    share_ += shares_[i];
  }
  rest_beyond_ = part_among_all * full_violation_;
  all_ = true;
}

void RowVisits::draw() {
  if (sampling_ != Sampling::permutation) {
    draw_independently();
  } else if (windows_.empty()) {
    shuffle_runs(random_, most_rows_per_awake * awake_.size() >= rows_ ? run_ : 1, awake_, order_);
  } else {
    draw_windows();
  }
}

void RowVisits::draw_windows() {
  random_.shuffle(std::span(windows_));
  order_.clear();
  for (Window& window : windows_) {
    const std::size_t begin = order_.size();
    const auto first = std::ranges::lower_bound(awake_, window.first);
    order_.insert(order_.end(), first, std::ranges::lower_bound(first, awake_.end(), window.last));
    random_.shuffle(std::span(order_).subspan(begin));
    window.end = order_.size();
  }
}

void RowVisits::draw_independently() {
  for (std::uint32_t& row : order_) {
    std::size_t k = 0;
    if (cumulative_.empty()) {
      k = random_.below(rows_);
    } else {
      const double point = random_.uniform() * cumulative_.back();
      k = static_cast<std::size_t>(std::upper_bound(cumulative_.begin(), cumulative_.end(), point) -
                                   cumulative_.begin());
    }
    row = awake_[std::min(k, rows_ - 1)];
  }
}

void RowVisits::settle(double violation, double gap) {
  if (sampling_ != Sampling::permutation) return;
  // A sweep costs something besides its rows.
  const double cost = std::max(static_cast<double>(awake_.size()) / static_cast<double>(rows_), 0.01);
  work_ += cost;
  total_work_ += cost;
  const bool long_since = total_work_ >= 2 * complete_at_;
  if (all_) {
    if (settled_ > 0 && long_since) {
      wake_settled();
      return;
    }
    full_violation_ = violation;
    goal_ = wake_factor * violation;
    work_ = 0.0;
    settling_gap_ = gap;
  } else if (violation <= goal_ || work_ >= most_work_between) {
    long_since ? wake_settled() : wake_unsettled();
    return;
  }
  const std::size_t before = awake_.size();
  std::erase_if(awake_, [&](std::uint32_t i) { return resting_[i] != kernel::awake; });
  if (awake_.size() < before) {
    share_ = 0.0;
    for (const std::uint32_t i : awake_) share_ += shares_[i];
  }
  all_ = awake_.size() + settled_ == rows_;
  rest_beyond_ = part_among_awake * violation;
}

}  // namespace fenchel::solver
