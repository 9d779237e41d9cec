// What newton offers, what it says of it, and what it gives back meanwhile.
#include <algorithm>
#include <cmath>

#include "fenchel/solver/newton.hpp"

namespace fenchel::solver {
namespace {

// How exactly conjugate gradients solve a system, depending on how the last one went.
constexpr double least_forcing = 0.2;
constexpr double most_forcing = 1e-3;

}  // namespace

double Newton::mismatch(std::span<const double> difference) const {
  double sum = 0.0;
  for (std::size_t j = 0; j < difference.size(); ++j) sum += 0.5 * difference[j] * (difference[j] / metric_[j]);
  return sum;
}

void Newton::assess() {
  double penalty = 0.0;
  for (std::size_t j = 0; j < v_.size(); ++j) penalty += 0.5 * ridge_[j] * v_[j] * v_[j];
  const double own = mismatch(gradient_);
  forcing_ = std::isfinite(last_mismatch_)
                 ? std::clamp(std::sqrt(own / last_mismatch_), most_forcing, least_forcing)
                 : least_forcing;
  last_mismatch_ = own;
  estimate_ = {.gap = own + at_z_.brackets, .primal = at_z_.risk + outside_risk_ + penalty, .scatter = 1.2};
  const double linearized = assess_linearized();
  if (linearized < estimate_.gap) {
    estimate_.gap = linearized;
    estimate_.scatter = 2.0;  // its brackets are known to second order
    offered_ = linear_alpha_;
  } else {
    offered_ = alpha_;
  }
}

double Newton::assess_linearized() {
  if (!linearized_) return infinity;
  const double brackets = rows_.brackets_of(working_.rows, z_, alpha_, weights_, linear_alpha_, changes_);
  if (brackets >= estimate_.gap) return infinity;
  RowSums::Cut clipped;
  sums_.select(
      working_.rows, [&](std::size_t i) { return changes_[i] != 0.0; }, clipped);
  sums_.add_rows(clipped, changes_, residual_);
  return brackets + mismatch(residual_);
}

problem::Candidate Newton::candidate() {
  rest();
  return {
      .w = std::span(v_).first(problem_.dimension()), .b = problem_.free_bias ? v_.back() : 0.0, .alpha = offered_};
}

// Of alpha_ and linear_alpha_, which differ in working rows only, the one that is offered stays.
void Newton::rest() {
  system_.rest();
  weights_ = std::vector<double>();
  changes_ = std::vector<double>();
  if (rows_.smooth() && begun_) {
    std::vector<double>& other = offered_.data() == alpha_.data() ? linear_alpha_ : alpha_;
    other = std::vector<double>();
  }
  if (!step_was_short()) dz_ = std::vector<double>();
}

void Newton::wake() {
  if (!weights_.empty()) return;
  for (auto* vector : {&weights_, &changes_, &dz_}) vector->resize(z_.size(), 0.0);
  if (!begun_) return;
  if (alpha_.empty()) alpha_ = linear_alpha_;
  if (rows_.smooth() && linear_alpha_.empty()) linear_alpha_ = alpha_;
  locate();  // where everything is already
  changing_ = false;
}

}  // namespace fenchel::solver
