#include "fenchel/solver/staged_newton.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/base/large_vector.hpp"
#include "fenchel/base/sum.hpp"
#include "fenchel/data/linear_map.hpp"
#include "fenchel/solver/multiclass_sdca.hpp"

namespace fenchel::solver {
namespace {

// Passes of dual ascent: in proportion to the root of kappa / n, which is what the best of first-order methods would take. On news20,
// usps, mnist.t and 20news-tfidf (C = 300) half or twice as many take about the same time.
constexpr double passes_a_root = 4.0;
constexpr double least_ascent = 10.0;
constexpr double most_ascent = 100.0;
// With fewer columns Newton's method alone is faster; with few, so many passes a column are enough.
constexpr std::size_t least_columns = 200;
constexpr double passes_a_column = 1.0 / 8.0;
constexpr double most_curvature = 1e10;  // beyond it, steps of single rows are lost in rounding

double ascent_worth(const problem::MulticlassProblem& problem, const MulticlassStart& start) {
  if (!start.w.empty() || !start.beta.empty() || problem.dimension() < least_columns) return 0.0;
  if (std::visit([](const auto& loss) { return loss.sparse_dual; }, problem.loss)) return 0.0;
  const double condition = mean_curvature(problem) / loss::smoothness(problem.loss, problem.classes());
  if (!(condition < most_curvature)) return 0.0;
  const double enough = std::min(most_ascent, passes_a_column * static_cast<double>(problem.dimension()));
  return std::clamp(passes_a_root * std::sqrt(condition), least_ascent, enough);
}

// The risk without weights.
double value_at_zero(const problem::MulticlassProblem& problem) {
  const std::vector<double> a(problem.classes(), 0.0);
  return std::visit([&](const auto& loss) { return loss.value(0, a); }, problem.loss);
}

}  // namespace

double mean_curvature(const problem::MulticlassProblem& problem) {
  std::vector<double> scale(problem.dimension());
  for (std::size_t j = 0; j < scale.size(); ++j) scale[j] = 1.0 / problem.penalty[j].l2;
  CompensatedSum sum;
  for (const double norm : data::LinearMap(problem.design).row_square_norms(scale)) sum.add(norm);
  const auto rows = static_cast<double>(problem.rows());
  return sum.total() / (rows * rows);
}

StagedNewton::StagedNewton(const problem::MulticlassProblem& problem, const MulticlassStart& start,
                           const Conduct& conduct)
    : problem_(problem),
      most_passes_(conduct.gradient.most_passes),
      ascent_(ascent_worth(problem, start)),
      in_ascent_(ascent_ > 0.0) {
  if (in_ascent_) {
    stage_ = std::make_unique<MulticlassSdca>(problem_, start, conduct);
  } else {
    stage_ = std::make_unique<MulticlassNewton>(problem_, start, conduct);
  }
}

double StagedNewton::step() {
  // A first Newton step is worth as much as all of the ascent; where the fit has to end before, that goes on.
  const bool leaves_room = passes_ + ascent_ <= most_passes_;
  double passes = 0.0;
  if (in_ascent_ && (stage_->stationary() || (passes_ >= ascent_ && leaves_room))) passes += turn();
  passes += stage_->step();
  passes_ += passes;
  return passes;
}

double StagedNewton::turn() {
  const Estimate seen = stage_->estimate();
  problem::MulticlassCandidate last = stage_->candidate();
  std::vector<double> b(last.b.begin(), last.b.end());
  old_duals_.assign(last.beta.begin(), last.beta.end());
  LargeVector w = std::move(last).take_weights();
  old_gap_ = seen.gap;
  old_value_ = seen.primal - seen.gap;
  // An ascent that has led nowhere yet is no start.
  if (!(seen.primal < value_at_zero(problem_))) {
    w = {};
    b = {};
  }
  const double owed = stage_->passes_aside();
  stage_.reset();  // its memory is what the next one needs
  stage_ = std::make_unique<MulticlassNewton>(problem_, MulticlassStart{.w = w, .b = b, .beta = {}}, Conduct{});
  in_ascent_ = false;
  return owed;
}

bool StagedNewton::offers_old_duals() const {
  // The old value is a guess, the own gap is not: once that is as small as the old one seemed, guesses do not count.
  const Estimate own = stage_->estimate();
  return own.gap > old_gap_ && own.primal - old_value_ < own.gap;
}

Estimate StagedNewton::estimate() const {
  Estimate result = stage_->estimate();
  if (offers_old_duals()) result.gap = std::max(0.0, result.primal - old_value_);
  return result;
}

problem::MulticlassCandidate StagedNewton::candidate() {
  problem::MulticlassCandidate result = stage_->candidate();
  if (offers_old_duals()) result.beta = old_duals_;
  return result;
}

}  // namespace fenchel::solver
