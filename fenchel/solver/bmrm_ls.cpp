#include "fenchel/solver/bmrm_ls.hpp"

#include <algorithm>

#include "fenchel/base/sum.hpp"

namespace fenchel::solver {

template <class Kind>
std::optional<std::string_view> BmrmLsOf<Kind>::missing(const typename Kind::Loss& /*loss*/,
                                                        const penalty::Separable& penalty) {
  if (!(penalty.strong_convexity() > 0.0)) return "a penalty that is strongly convex in every feature";
  return std::nullopt;
}

template <class Kind>
BmrmLsOf<Kind>::BmrmLsOf(const Problem& problem, const Start& start, const Conduct& /*conduct*/)
    : risk_(problem, Kind::bias(problem, start)),
      bundle_(Kind::penalty(problem), first_point(start.w, problem.dimension() * Kind::width(problem))),
      dual_(problem.rows() * Kind::width(problem), 0.0),
      best_b_(Kind::bias(problem, start)) {}

template <class Kind>
double BmrmLsOf<Kind>::step() {
  risk_.sharpen(bundle_.best() - bundle_.lower());
  const double eta = bundle_.step(risk_);
  if (bundle_.improved()) best_b_ = risk_.bias();
  const std::span<const double> fresh = risk_.dual();
  for_each_block(dual_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) dual_[i] += eta * (fresh[i] - dual_[i]);
  });
  stationary_ = eta == 0.0 && risk_.sharpest();
  return risk_.passes();
}

template <class Kind>
Estimate BmrmLsOf<Kind>::estimate() const {
  return {.gap = std::max(bundle_.best() - bundle_.lower(), 0.0), .primal = bundle_.best(), .scatter = 1.1};
}

template class BmrmLsOf<OneOutput>;
template class BmrmLsOf<AllClasses>;

}  // namespace fenchel::solver
