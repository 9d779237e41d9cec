#include "fenchel/solver/bmrm_ls.hpp"

#include <algorithm>

#include "fenchel/base/sum.hpp"

namespace fenchel::solver {

std::optional<std::string_view> BmrmLs::missing(const loss::Any& /*loss*/, const penalty::Separable& penalty) {
  if (!(penalty.strong_convexity() > 0.0)) return "a penalty that is strongly convex in every feature";
  return std::nullopt;
}

BmrmLs::BmrmLs(const problem::Problem& problem, const Start& start, const Conduct& /*conduct*/)
    : risk_(problem, start.b),
      bundle_(problem.penalty, first_point(start, problem.dimension())),
      alpha_(problem.rows(), 0.0),
      best_b_(start.b) {}

double BmrmLs::step() {
  const double eta = bundle_.step(risk_);
  if (bundle_.improved()) best_b_ = risk_.bias();
  const std::span<const double> fresh = risk_.dual();
  for_each_block(alpha_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) alpha_[i] += eta * (fresh[i] - alpha_[i]);
  });
  stationary_ = eta == 0.0;
  return risk_.passes();
}

Estimate BmrmLs::estimate() const {
  return {.gap = std::max(bundle_.best() - bundle_.lower(), 0.0), .primal = bundle_.best(), .scatter = 1.1};
}

}  // namespace fenchel::solver
