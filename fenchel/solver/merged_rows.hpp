// Equal rows as one row with the sum of their weights, as its share of all weights. The objective is the same for every (w, b), so that a solver of the
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
  // labels stay apart. Of the sample, only weights matter.
  static std::optional<MergedRows> where_it_pays(const data::Matrix& matrix, std::span<const double> labels,
                                                 const risk::Sample& sample);
  MergedRows(const data::Matrix& matrix, data::EqualRows rows, const risk::Sample& sample);

  [[nodiscard]] std::size_t rows() const { return rows_.first.size(); }
  [[nodiscard]] double passes_a_pass() const { return passes_a_pass_; }  // over the data as they were

  // The problem on merged rows; `targets` will hold its own, and must outlive it like this object.
  [[nodiscard]] problem::Problem problem(const problem::Problem& asked, std::vector<double>& targets) const;
  // Means under the weights, for a dual vector to start from.
  [[nodiscard]] std::vector<double> merged(std::span<const double> alpha, const risk::Sample& sample) const;
  // Which of the merged rows every row is part of, whose alpha is its own.
  [[nodiscard]] std::span<const std::uint32_t> place() const { return rows_.place; }

 private:
  data::EqualRows rows_;
  data::ChosenRows distinct_;
  std::vector<double> shares_;
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
};

}  // namespace fenchel::solver
