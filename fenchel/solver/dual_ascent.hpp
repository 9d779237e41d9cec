// The engine of dual coordinate ascent: sweeps over the dual of
//     R(w, b) + sum_j g_j(w_j) + (kappa/2) ||w - y||^2 + (1/(2 s)) (b - b_t)^2,
// where kappa (0 for the plain method) and the centre y come from acceleration, and the last term from a free bias: the
// dual of the problem with it has no equality constraint, and moving b_t to b after every sweep is a proximal point
// method for the problem without it. The certificate sees neither term.
//
// Rows may be split into blocks that are swept side by side, each on a copy of w and as if its rows' curvature were
// sigma' times larger (CoCoA+). The blocks' changes u_k are then added, times
//     nu = min(1, sigma' sum ||u_k||^2 / ||sum u_k||^2),
// with which the dual objective cannot fall. The blocks are cut from a fresh permutation, and their number comes
// from the data: threads only change who works on a block.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/kernel/dual_sweep.hpp"
#include "fenchel/solver/dual_momentum.hpp"
#include "fenchel/solver/row_visits.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class DualAscent {
 public:
  DualAscent(const problem::Problem& problem, const Start& start, const Conduct& conduct, double kappa = 0.0);
  // Views point into the object.
  DualAscent(const DualAscent&) = delete;
  DualAscent& operator=(const DualAscent&) = delete;

  // What a sweep saw. The guesses hold for the problem with the added terms.
  struct Seen {
    double passes = 0.0;
    double gap = infinity;           // a guess
    double smoothed_gap = infinity;  // the same for the smoothed loss, which is what sweeps work on
    bool changed = false;
    bool all = false;  // whether every row was visited
  };
  Seen sweep();
  // From so many passes on: before that most sweeps find rows at other ends of their domain than the ones before did.
  static constexpr double passes_before_momentum = 4.0;
  [[nodiscard]] bool has_momentum() const { return momentum_ && kappa_ == 0.0; }

  // Moves the centre y of the added term.
  void recentre(std::span<const double> y);

  [[nodiscard]] std::span<const double> alpha() const { return alpha_; }
  [[nodiscard]] std::span<const double> weights();  // until the next sweep
  [[nodiscard]] double bias() const { return bias_centre_; }
  // Gives back what only sweeps need: certificates follow, which need as much.
  void rest();

  // A guess of R(w, b), from the last sweep.
  [[nodiscard]] double losses(const Seen& seen);
  [[nodiscard]] double kappa() const { return kappa_; }
  [[nodiscard]] double pull();  // (kappa/2) ||w - y||^2
  // A guess of the gap in the problem without kappa, from the last sweep. Duals beyond an l1 bound are scaled for it, as
  // a certificate would.
  [[nodiscard]] double direct_gap(const Seen& seen);
  // Changes kappa and the smoothing of the loss; returns the passes this took.
  double adjust(double kappa, double smoothing);

 private:
  [[nodiscard]] double gather_momentum();
  void forget_momentum();
  [[nodiscard]] kernel::SweepReport sweep_rows(std::span<const std::uint32_t> order);
  [[nodiscard]] std::vector<std::span<const std::uint32_t>> cut(std::span<const std::uint32_t> order,
                                                                std::size_t blocks);
  [[nodiscard]] kernel::SweepReport sweep_blocks(std::span<const std::uint32_t> order, std::size_t blocks);
  void merge(std::span<const std::uint32_t> order, std::span<const kernel::SweepState> states);
  [[nodiscard]] kernel::SweepState state_of(std::span<const std::uint32_t> order);
  [[nodiscard]] kernel::SweepReport run(kernel::SweepState& state, std::span<double> induced) const;
  [[nodiscard]] std::size_t blocks_for(std::span<const std::uint32_t> order) const;
  [[nodiscard]] double entries_in(std::span<const std::uint32_t> order) const;
  [[nodiscard]] bool ridge() const;
  [[nodiscard]] double slope(std::size_t j) const;  // u_j
  [[nodiscard]] double first_bias() const;
  void measure_rows();
  void induce();  // u from alpha, removing the drift of incremental updates

  problem::Problem problem_;
  data::LinearMap map_;
  double kappa_;
  Conduct conduct_;
  double entries_a_row_;
  std::vector<double> shares_;  // c_i / sum c
  LargeVector curvatures_;      // q_i = (c_i / sum c) (sum_j x_ij^2 / (l2_j + kappa) + s)
  double bias_step_ = 0.0;      // s
  LargeVector alpha_;
  LargeVector induced_;         // w under a plain l2 penalty, u + kappa y otherwise
  std::vector<double> centre_;  // y; empty: 0
  std::vector<double> w_;       // the weights last asked for, where `induced_` is not w
  double bias_centre_ = 0.0;    // b_t
  double b_ = 0.0;
  kernel::StepRule rule_;
  std::optional<RowVisits> visits_;  // made once the rows are measured
  std::optional<DualMomentum> momentum_;
  double passes_ = 0.0;                   // of sweeps
  double entries_before_momentum_ = 0.0;  // that sweeps have yet to visit
  double sigma_;                          // sigma'
  std::vector<LargeVector> copies_;       // of `induced_`, one a block
  LargeVector alpha_before_;
  std::vector<std::uint32_t> dealt_;  // rows drawn independently, block by block
  int sweeps_ = 0;
  double last_gap_ = 1.0;
  double passes_since_induced_ = 0.0;
};

}  // namespace fenchel::solver
