// Which rows a sweep of a row-by-row method visits, and in which order. Rows that are probably fixed rest: they are left
// out until those that remain have settled, then all are visited again. Resting is an order of work and claims nothing.
//
// Data larger than memory are visited in windows (RowOrder::windows): the order is less random, but the disk is read in
// large pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fenchel/base/random.hpp"
#include "fenchel/data/matrix.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

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

  // Rows with share 0 are never visited; `shares` must outlive this. Curvatures, one a row, weigh the draws of
  // Sampling::importance.
  RowVisits(const data::Matrix& matrix, std::span<const double> shares, std::span<const double> curvatures,
            const Conduct& conduct);

  // Curvatures that have changed.
  void weigh(std::span<const double> curvatures);

  // Draws the order of the next sweep.
  void draw();
  // Takes note of the rows that began to rest in a sweep, and of the largest violation it met.
  void settle(double violation);

  [[nodiscard]] std::span<const std::uint32_t> order() const { return order_; }
  [[nodiscard]] std::span<const Window> windows() const {
    return windows_;
  }  // in the order of the sweep; may be empty
  [[nodiscard]] std::span<std::uint8_t> resting() { return resting_; }
  [[nodiscard]] bool all() const { return all_; }  // whether the next sweep visits every row
  [[nodiscard]] double rest_beyond() const { return rest_beyond_; }
  [[nodiscard]] double share() const { return share_; }  // of the rows in the order

  // Every row takes part again.
  void wake();

 private:
  void draw_windows();
  void draw_independently();

  std::span<const double> shares_;
  Random random_;
  Sampling sampling_;
  std::vector<std::uint32_t> order_;
  std::vector<Window> windows_;
  std::vector<std::uint8_t> resting_;
  std::vector<std::uint32_t> drawn_from_;  // by independent draws
  std::vector<double> cumulative_;         // of their weights; empty: uniform
  std::size_t rows_ = 0;                   // that are visited at all
  double share_ = 1.0;
  double rest_beyond_;
  double goal_ = 0.0;  // the violation at which everybody wakes
  double work_ = 0.0;  // since everybody was awake, in passes
  bool all_ = true;
};

}  // namespace fenchel::solver
