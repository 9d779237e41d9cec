// Which rows a sweep of multiclass dual ascent visits, and in which order. Rows whose visits change nothing rest for a while, longer
// each time. That only orders the work: every row comes back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/solver/row_visits.hpp"

namespace fenchel::solver {

class ClassVisits {
 public:
  // Rows with share 0 are never visited; `shares` must outlive this.
  ClassVisits(const data::Matrix& matrix, std::span<const double> shares, const Conduct& conduct);

  // Draws the order of a sweep over everybody who is awake.
  void draw();
  // Those visited who have been idle more than once fall asleep.
  void rest();
  void wake();

  [[nodiscard]] std::span<const std::uint32_t> order() const { return order_; }
  [[nodiscard]] std::span<const RowVisits::Window> windows() const { return windows_; }
  [[nodiscard]] std::span<std::uint8_t> idle() { return idle_; }             // visits in a row that changed nothing
  [[nodiscard]] bool complete() const { return order_.size() == counted_; }  // whether the order has everybody

 private:
  void shuffle_within_windows();

  std::span<const double> shares_;
  Random random_;
  std::vector<RowVisits::Window>
      windows_;      // shuffled one by one; a single one unless the data are larger than memory
  std::size_t run_;  // rows that are drawn together
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> shuffled_;
  std::vector<std::uint8_t> idle_;
  std::vector<std::uint8_t> rest_;  // sweeps to skip
  std::size_t counted_ = 0;         // rows with a positive share
};

}  // namespace fenchel::solver
