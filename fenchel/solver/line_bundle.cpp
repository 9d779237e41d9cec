#include "fenchel/solver/line_bundle.hpp"

#include <cmath>

namespace fenchel::solver {

LineBundle::LineBundle(const penalty::Separable& penalty, std::span<const double> start)
    : penalty_(penalty), v_(start.size()), w_(start.begin(), start.end()), best_w_(w_), slope_(start.size()) {}

double LineBundle::step(CutOracle& oracle) {
  const CutOracle::Answer answer = oracle.cut(w_, slope_);
  const double value = answer.value + penalty_.penalty().value(w_);
  improved_ = value < best_;
  if (improved_) {
    best_ = value;
    best_w_ = w_;
  }
  double eta = 1.0;
  if (lower_ > -infinity) {
    std::vector<double>& direction = slope_;
    for (std::size_t j = 0; j < v_.size(); ++j) direction[j] -= v_[j];
    eta = penalty_.line_maximizer(v_, direction, value - answer.shortfall - lower_);
    for (std::size_t j = 0; j < v_.size(); ++j) v_[j] += eta * direction[j];
    offset_ += eta * (answer.offset - offset_);
  } else {
    v_ = slope_;
    offset_ = answer.offset;
  }
  lower_ = offset_ - penalty_.conjugate(v_);
  penalty_.minimizer(v_, w_);
  return eta;
}

}  // namespace fenchel::solver
