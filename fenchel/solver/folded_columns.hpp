// Columns with a single entry, all those of a row folded into one. Under a plain l2 penalty the best weights of such columns are
// multiples of their entries, so that one column of value sqrt(sum x^2) does the work of them all: for every weight v of it
// there are weights v x_j / sqrt(sum x^2) of theirs with the same scores and the same penalty. Empty columns have weights 0.
// In text most words are rare; the weights of a row of all classes are long, and what solvers copy, merge and go through becomes
// half as large. Duals are the same, and certificates see the problem asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/base/parallel.hpp"
#include "fenchel/problem/multiclass.hpp"
#include "fenchel/solver/multiclass_solver.hpp"

namespace fenchel::solver {

class FoldedColumns {
 public:
  // Folds where that makes large weights smaller by far; nothing otherwise.
  static std::optional<FoldedColumns> where_it_pays(const problem::MulticlassProblem& asked);
  // Of a plain l2 penalty.
  explicit FoldedColumns(const problem::MulticlassProblem& asked);

  // The problem on folded columns; a view of this object.
  [[nodiscard]] problem::MulticlassProblem problem() const;
  // The weights of the problem asked.
  void expand(std::span<const double> w, LargeVector& expanded) const;
  [[nodiscard]] double share() const;  // of the entries asked that are left
  [[nodiscard]] std::size_t classes() const { return asked_.classes(); }

 private:
  struct Place {
    std::uint32_t column = 0;
    double factor = 0.0;  // of the weight there
  };

  FoldedColumns(const problem::MulticlassProblem& asked, std::span<const std::uint32_t> entries);
  template <class Rows>
  void fold(const Rows& rows, std::span<const std::uint32_t> entries);

  problem::MulticlassProblem asked_;
  std::vector<Place> places_;  // of the columns asked, without the constant one
  std::size_t columns_ = 0;
  std::vector<std::uint64_t> offsets_;
  LargeList indexes_;
  LargeVector values_;
};

// A solver of the problem on folded columns, seen as one of the problem asked. It starts from duals.
class FoldedSolver final : public MulticlassSolver {
 public:
  using Make = FunctionRef<std::unique_ptr<MulticlassSolver>(const problem::MulticlassProblem&)>;

  FoldedSolver(const FoldedColumns& columns, Make make);

  // Passes are those over the data asked.
  double step() override { return columns_.share() * solver_->step(); }
  [[nodiscard]] double passes_aside() override {
    return std::exchange(owed_, 0.0) + columns_.share() * solver_->passes_aside();
  }
  [[nodiscard]] problem::MulticlassCandidate candidate() override;
  [[nodiscard]] Estimate estimate() const override { return solver_->estimate(); }
  void refine_estimate() override { solver_->refine_estimate(); }
  [[nodiscard]] double price_of_candidate() const override {
    return columns_.share() * solver_->price_of_candidate();
  }
  [[nodiscard]] bool stationary() const override { return solver_->stationary(); }

 private:
  const FoldedColumns& columns_;
  std::unique_ptr<MulticlassSolver> solver_;
  double owed_;  // passes that folding took: two over one class
};

}  // namespace fenchel::solver
