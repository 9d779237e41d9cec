// Which rows a sweep of a row-by-row method visits, and in which order. Rows that are probably fixed rest: they are left
// out until those that remain have settled, then all are visited again. Rows that a gap as small as it seems to be would
// prove fixed (Gap Safe screening, Fercoq, Gramfort and Salmon, "Mind the duality gap") are not even asked then, but only
// when the work has doubled. The gap is the sweep's own guess: a certificate would cost more than what it saves, and
// resting is an order of work and claims nothing.
//
// Data larger than memory are visited in windows (RowOrder::windows): the order is less random, but the disk is read in
// large pieces. The same for memory itself are runs of a few rows (RowOrder::runs).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/interval.hpp"
#include "fenchel/base/random.hpp"
#include "fenchel/data/matrix.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

// Puts runs of `run` rows each, the last one may be shorter, into a random order.
void shuffle_runs(Random& random, std::size_t run, std::span<const std::uint32_t> rows,
                  std::vector<std::uint32_t>& order);

class RowVisits {
 public:
  // Consecutive rows, which the sweep visits as one part of its order.
  struct Window {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t end = 0;  // of its part in the order
  };

  // Of about 32 MB each, in the order of the rows.
  static std::vector<Window> cut_windows(const data::Matrix& matrix);

  // Neighbours that a run takes together: as many as make a few kilobytes, a power of two; 1 unless runs are asked for, and for data
  // that a core's own cache holds.
  static std::size_t rows_in_run(const data::Matrix& matrix, RowOrder order);

  // Rows with share 0 are never visited; `shares` must outlive this. Curvatures, one a row, weigh the draws of
  // Sampling::importance.
  RowVisits(const data::Matrix& matrix, std::span<const double> shares, std::span<const double> curvatures,
            const Conduct& conduct);

  // Curvatures that have changed.
  void weigh(std::span<const double> curvatures);

  // Draws the order of the next sweep.
  void draw();
  // Takes note of the rows that began to rest in a sweep, of the largest violation it met, and of the gap it saw; an infinite
  // one settles nobody.
  void settle(double violation, double gap = infinity);

  [[nodiscard]] std::span<const std::uint32_t> order() const { return order_; }
  [[nodiscard]] std::span<const Window> windows() const {
    return windows_;
  }  // in the order of the sweep; may be empty
  [[nodiscard]] std::span<std::uint8_t> resting() { return resting_; }
  // Whether the next sweep visits every row but settled ones, and whether there are none of these.
  [[nodiscard]] bool all() const { return all_; }
  [[nodiscard]] bool complete() const { return all_ && settled_ == 0; }
  [[nodiscard]] double settling_gap() const { return settling_gap_; }
  [[nodiscard]] double rest_beyond() const { return rest_beyond_; }
  [[nodiscard]] double share() const { return share_; }  // of the rows that are awake

  // Every row takes part again, in a problem that may have changed.
  void wake();

 private:
  void wake_settled();    // and all others
  void wake_unsettled();  // only
  void draw_windows();
  void draw_independently();

  std::span<const double> shares_;
  Random random_;
  Sampling sampling_;
  std::size_t run_;                   // rows that are drawn together
  std::vector<std::uint32_t> awake_;  // ascending
  std::vector<std::uint32_t> order_;
  std::vector<Window> windows_;
  std::vector<std::uint8_t> resting_;
  std::vector<double> cumulative_;  // of their weights; empty: uniform
  std::size_t rows_ = 0;            // that are visited at all
  double share_ = 1.0;
  double rest_beyond_;
  double full_violation_;  // of the last sweep over all
  double goal_ = 0.0;      // the violation at which everybody wakes
  double work_ = 0.0;      // since everybody was awake, in passes
  double settling_gap_;
  std::size_t settled_ = 0;   // rows that slept on when the others woke
  double total_work_ = 0.0;   // in passes
  double complete_at_ = 0.0;  // of this, when nobody was left out
  bool all_ = true;
};

}  // namespace fenchel::solver
