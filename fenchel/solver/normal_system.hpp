// The linear systems of a Newton step,  H d = r  with  H = diag(ridge) + scale X' diag(h) X,  h >= 0.
//
// Where forming X' diag(h) X is cheaper than the iterations it saves, it is formed once and then kept up to date: only
// rows whose weight has moved are added or taken out, and a Cholesky factorisation solves. Otherwise conjugate gradients,
// preconditioned by the diagonal, with one fused product X'(h (X v)) an iteration over the rows that have a weight.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fenchel/base/dense.hpp"
#include "fenchel/solver/row_sums.hpp"

namespace fenchel::solver {

class NormalSystem {
 public:
  explicit NormalSystem(RowSums& sums, std::size_t rows);

  // Takes the weights, which are 0 outside the list and stay as they are until the next ones are taken. Those that differ from what is in the matrix by less than `slack`
  // relatively may stay as they are there; where `thin`, a sample of the rows may stand for all. Returns the passes this
  // took.
  double assemble(kernel::RowList list, std::span<const double> ridge, double scale, std::span<const double> h,
                  double slack, bool thin);
  // Whether H has the weights of all rows, not of a sample.
  [[nodiscard]] bool complete() const { return complete_; }
  // The weights that H really has for the rows of the list, without `scale`.
  [[nodiscard]] std::span<const double> weights() const { return direct_ ? weights_ : given_; }

  // d with  sum_j residual_j^2 / metric_j <= forcing^2 sum_j rhs_j^2 / metric_j,  residual = rhs - H d, or as good as can be had.
  // Returns the passes this took.
  double solve(std::span<const double> rhs, std::span<const double> metric, double forcing, std::span<double> d,
               std::span<double> residual);

  // Gives back what the next weights make anew.
  void rest();

 private:
  [[nodiscard]] double direct_work(double gram) const;
  void find_held();
  void thin_out();
  [[nodiscard]] double wanted(std::uint32_t row) const;  // weight of a row of the list
  double update_gram(double slack);
  void form_gram();
  void factorize();
  double prepare_iterations();
  double solve_direct(std::span<const double> rhs, std::span<double> d, std::span<double> residual);
  double solve_iteratively(std::span<const double> rhs, std::span<const double> metric, double forcing,
                           std::span<double> d, std::span<double> residual);

  RowSums& sums_;
  std::vector<double> ridge_;
  double scale_ = 1.0;
  std::size_t rows_;
  std::span<const double> given_;  // weights
  struct Sample {                  // of the rows, that stands for all
    double heavy = 0.0;            // rows of such a weight are in it,
    std::uint32_t below = 0;       // and others whose number is scattered below this;
    double factor = 1.0;           // on the weights of these
    [[nodiscard]] bool has(std::uint32_t row, double weight) const {
      return weight >= heavy || row * 2654435769U < below;
    }
  };
  Sample sample_;

  bool complete_ = true;  // no sample
  bool direct_ = false;
  dense::FactoredSquare gram_;         // X' diag(weights) X, and H factorized; empty: never formed
  std::vector<double> weights_;        // of the rows, as they are in it
  int updates_ = 0;                    // since it was formed from nothing
  double last_iterations_work_ = 0.0;  // products of the last solution by conjugate gradients

  RowSums::Cut active_;  // rows with a weight
  LargeList held_;       // those that had one in `weights_` before
  std::vector<double> diagonal_;
  std::vector<double> direction_, product_, preconditioned_;
};

}  // namespace fenchel::solver
