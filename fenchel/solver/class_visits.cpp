#include "fenchel/solver/class_visits.hpp"

#include <algorithm>
#include <limits>

#include "fenchel/base/error.hpp"

namespace fenchel::solver {
namespace {

constexpr int longest_rest = 16;  // sweeps

}  // namespace

ClassVisits::ClassVisits(const data::Matrix& matrix, std::span<const double> shares, const Conduct& conduct)
    : shares_(shares),
      random_(conduct.seed),
      windows_(conduct.rows == RowOrder::windows
                   ? RowVisits::cut_windows(matrix)
                   : std::vector<RowVisits::Window>{{.first = 0, .last = shares.size()}}),
      run_(RowVisits::rows_in_run(matrix, conduct.rows)),
      idle_(shares.size(), 0),
      rest_(shares.size(), 0) {
  if (shares.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(Fault::failure, "sdca numbers rows with 32 bits: there are more than 4294967295 rows");
  for (const double share : shares) counted_ += share > 0.0 ? 1 : 0;
}

void ClassVisits::draw() {
  order_.clear();
  if (windows_.size() > 1) random_.shuffle(std::span(windows_));
  for (RowVisits::Window& window : windows_) {
    for (std::size_t i = window.first; i < window.last; ++i) {
      if (shares_[i] == 0.0 || (rest_[i] > 0 && rest_[i]-- > 0)) continue;
      order_.push_back(static_cast<std::uint32_t>(i));
    }
    window.end = order_.size();
  }
  shuffle_within_windows();
}

void ClassVisits::rest() {
  for (const std::uint32_t i : order_) {
    if (idle_[i] > 1) rest_[i] = static_cast<std::uint8_t>(std::min(longest_rest, 1 << std::min(idle_[i] - 2, 5)));
  }
}

void ClassVisits::wake() { std::fill(rest_.begin(), rest_.end(), std::uint8_t{0}); }

void ClassVisits::shuffle_within_windows() {
  std::size_t begin = 0;
  for (const RowVisits::Window& window : windows_) {
    const std::span<std::uint32_t> part = std::span(order_).subspan(begin, window.end - begin);
    shuffle_runs(random_, run_, part, shuffled_);
    std::ranges::copy(shuffled_, part.begin());
    begin = window.end;
  }
}

}  // namespace fenchel::solver
