// Prox-SDCA (Shalev-Shwartz and Zhang, section 5.7, Option I with their OptimizeDual corrected) for multiclass losses: one row,
// that is k dual variables, at a time, in a fresh random order every epoch; for penalties that are strongly convex in every
// coordinate. A free bias is solved by proximal steps on the k biases, as in sdca.hpp.
//
// Rows whose visits change nothing rest for a while, longer each time (class_visits.hpp). That only orders the work: every
// row comes back, and the certificate looks at all of them.
//
// A sweep over everything is followed by some over each row's own class and those with a dual variable that is not 0, the
// support (as LIBLINEAR leaves out classes), and only over the rows that gained most of what the last one did: these are
// shorter, and only order the work, too. Every window does both before the next one; blocks are merged in between.
//
// The multiclass hinge, under a plain l2 penalty and without a free bias: conjugate gradients on all supports follow after some
// epochs, where weights are few (support_ascent.hpp).
//
// Losses with corners: the dual comes near its optimum long before the last weights do, which go to and fro about theirs. The
// candidate's weights are a running mean over the last epochs, or a multiple of it (multiclass_sdca_offer.cpp), which begins anew with
// every candidate.
//
// Where rows are long, and not in blocks, two threads sweep in step, each with the weights of half of the features
// (feature_halves.hpp). Where rows have no gaps, two threads sweep over supports that have no class in common (class_rounds.hpp).
// One alone gets the same bits.
//
// Blocks of rows are swept side by side and merged as in dual_ascent.hpp: their number comes from the data or --blocks,
// never from the number of threads, and merging cannot lower the dual.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fenchel/base/duo.hpp"
#include "fenchel/base/large_vector.hpp"
#include "fenchel/data/class_map.hpp"
#include "fenchel/kernel/class_supports.hpp"
#include "fenchel/kernel/multiclass_sweep.hpp"
#include "fenchel/solver/class_visits.hpp"
#include "fenchel/solver/multiclass_solver.hpp"
#include "fenchel/solver/support_ascent.hpp"

namespace fenchel::solver {

class MulticlassSdca final : public MulticlassSolver {
 public:
  static constexpr std::string_view name = "sdca";
  static constexpr std::array<std::string_view, 2> takes{option::row_order, option::blocks};
  // What the problem lacks for this solver, or nothing.
  static std::optional<std::string_view> missing(const loss::AnyVector& loss, const penalty::Separable& penalty);

  MulticlassSdca(const problem::MulticlassProblem& problem, const MulticlassStart& start, const Conduct& conduct);

  double step() override;
  [[nodiscard]] double passes_aside() override { return std::exchange(owed_, 0.0); }
  [[nodiscard]] problem::MulticlassCandidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return estimate_; }
  void refine_estimate() override { prepare_offer(); }
  [[nodiscard]] double price_of_candidate() const override { return offers_multiples() ? 1.0 : 0.0; }
  [[nodiscard]] bool stationary() const override { return stationary_; }
  // How often two threads have worked together, which shows in nothing but the time.
  [[nodiscard]] std::size_t runs_in_step() const { return duo_ == nullptr ? 0 : duo_->runs(); }

 private:
  void set_start(const MulticlassStart& start);
  void induce();  // the stored weights from beta, removing the drift of incremental updates
  void write_weights(std::span<const double> from, double factor, std::span<double> to) const;
  void take_stock(double gain);  // of the weights after a sweep that gained so much
  void prepare_offer();          // which weights the candidate will have, and how good they are
  [[nodiscard]] bool offers_mean() const;
  [[nodiscard]] bool offers_multiples() const;
  void find_best_multiple(std::span<const double> weights);
  [[nodiscard]] LargeVector scores_of(std::span<const double> weights) const;
  [[nodiscard]] double dual_value() const;
  struct Block {
    LargeVector stored;     // its copy of the weights
    std::vector<double> b;  // and of the biases
  };
  kernel::MulticlassSweepReport sweep();
  // Over the supports of those rows that gained enough by a sweep over everything.
  void sweep_support(std::span<const std::uint32_t> order, kernel::MulticlassSweepReport& report);
  // Over those of a list of rows; returns the work.
  double sweep_supports(std::span<const std::uint32_t> list, int times, double least_gain);
  // Conjugate gradients on all supports, and sweeps over these, in proportion to the work of the sweeps before.
  void climb_supports(kernel::MulticlassSweepReport& report);
  kernel::MulticlassSweepReport sweep_window(std::span<const std::uint32_t> order);
  kernel::MulticlassSweepReport sweep_blocks(std::span<const std::uint32_t> order, std::size_t blocks);
  [[nodiscard]] std::size_t blocks_for(std::size_t rows) const;
  [[nodiscard]] double passes_of(double work) const;  // nonzeros x classes
  [[nodiscard]] kernel::MulticlassSweepState state_of(std::span<const std::uint32_t> order);
  [[nodiscard]] kernel::MulticlassSweepReport run(kernel::MulticlassSweepState state);
  [[nodiscard]] bool halves_pay() const;
  [[nodiscard]] double entries_a_row() const;
  // The second thread for so many products with weights, where it pays and these are as many as its start takes.
  [[nodiscard]] Duo* duo_for(double products, double least) const;
  void merge(std::span<const std::uint32_t> order, std::size_t blocks);

  problem::MulticlassProblem problem_;
  data::ClassMap map_;
  std::size_t stride_;
  bool plain_;                  // whether weights are stored, not u
  bool cornered_;               // whether most dual variables of the loss are 0
  bool gapless_;                // whether every row has an entry for every feature
  std::vector<double> shares_;  // c_i / sum c
  ClassVisits visits_;
  std::vector<double> gains_;            // of the dual, by the last visit to the row
  LargeVector curvatures_;               // q_i = (c_i / sum c) (sum_j x_ij^2 / l2_j + 1/kappa)
  LargeVector beta_;                     // rows x classes
  LargeVector stored_;                   // w under a plain l2 penalty, u otherwise; padded rows
  std::vector<double> l1_, inverse_l2_;  // of the features, or one for all
  LargeVector mean_;                     // of stored_ over the epochs since the last candidate; empty: not needed
  bool scattered_ = false;               // whether it has the weights of one epoch only
  std::vector<double> center_, b_;       // empty without a free bias
  double last_gain_ = 0.0;               // of the dual, by the last sweep over everything
  double bias_step_ = 0.0;
  Random random_;       // for sweeps over supports
  std::size_t blocks_;  // 0: chosen from the data
  double sigma_;        // the blocks' caution
  std::vector<Block> workers_;
  kernel::ClassSupports supports_;
  SupportAscent ascent_;
  std::vector<std::uint32_t> splits_;  // of rows; empty where features are not halved
  std::unique_ptr<Duo> duo_;           // none where one thread is there, or is better
  LargeVector beta_before_;            // of the rows that blocks work on
  Estimate estimate_;
  bool stationary_ = false;
  double credit_ = 1.0;          // the part of the estimated gap that the offered weights leave
  double owed_ = 0.0;            // passes that candidates took
  double last_conjugate_ = 0.0;  // of the penalty, at the last weights
  std::uint64_t epoch_ = 0;
  std::optional<std::uint64_t> prepared_;  // the epoch whose offer is known
  double multiple_ = 1.0;                  // of the weights that are stored, or of their mean: the offer
};

}  // namespace fenchel::solver
