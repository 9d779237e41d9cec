// Equal rows as one row with the sum of their weights. The objective is the same for every (w, b), so that a solver of the
// smaller problem solves the problem asked; a dual vector alpha of the smaller one gives every row the alpha of the row it
// became part of, which leaves X'(c alpha) and the dual objective as they are. Certificates see the problem asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fenchel/base/parallel.hpp"
#include "fenchel/data/dataset.hpp"
#include "fenchel/data/equal_rows.hpp"
#include "fenchel/problem/problem.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

class MergedRows {
 public:
  // Merges where that makes the data smaller by far, which it finds out cheaply; nothing otherwise. Rows of different
  // labels stay apart. `weights` may be empty: all 1.
  static std::optional<MergedRows> where_it_pays(const data::Matrix& matrix, std::span<const double> labels,
                                                 std::span<const double> weights);
  MergedRows(const data::Matrix& matrix, data::EqualRows rows, std::span<const double> weights);

  [[nodiscard]] std::size_t rows() const { return rows_.first.size(); }
  [[nodiscard]] double passes_a_pass() const { return passes_a_pass_; }  // over the data as they were

  // The problem on merged rows; `targets` will hold its own, and must outlive it like this object.
  [[nodiscard]] problem::Problem problem(const problem::Problem& asked, std::vector<double>& targets) const;
  // Means under the weights, for a dual vector to start from.
  [[nodiscard]] std::vector<double> merged(std::span<const double> alpha, const risk::Sample& sample) const;
  // The dual vector of the problem asked.
  void expand(std::span<const double> alpha, std::vector<double>& expanded) const;

 private:
  data::EqualRows rows_;
  data::Dataset distinct_;
  std::vector<double> weights_;
  double passes_a_pass_;
};

// A solver of the problem on merged rows, seen as one of the problem asked.
class MergedSolver final : public Solver {
 public:
  using Make = FunctionRef<std::unique_ptr<Solver>(const problem::Problem&, const Start&)>;

  MergedSolver(const MergedRows& rows, const problem::Problem& asked, const Start& start, Make make);

  double step() override { return rows_.passes_a_pass() * solver_->step(); }
  [[nodiscard]] problem::Candidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return solver_->estimate(); }
  [[nodiscard]] bool stationary() const override { return solver_->stationary(); }

 private:
  const MergedRows& rows_;
  std::vector<double> targets_;
  std::unique_ptr<Solver> solver_;
  std::vector<double> alpha_;  // last offered
};

}  // namespace fenchel::solver
