#include "fenchel/solver/bmrm.hpp"

#include <algorithm>

namespace fenchel::solver {

template <class Kind>
std::optional<std::string_view> BmrmOf<Kind>::missing(const typename Kind::Loss& /*loss*/,
                                                      const penalty::Separable& penalty) {
  if (!(penalty.strong_convexity() > 0.0)) return "a penalty that is strongly convex in every feature";
  return std::nullopt;
}

template <class Kind>
BmrmOf<Kind>::BmrmOf(const Problem& problem, const Start& start, const Conduct& /*conduct*/)
    : problem_(problem),
      risk_(problem, Kind::bias(problem, start)),
      bundle_(Kind::penalty(problem), first_point(start.w, problem.dimension() * Kind::width(problem))),
      best_b_(Kind::bias(problem, start)) {}

template <class Kind>
double BmrmOf<Kind>::step() {
  risk_.sharpen(bundle_.best() - bundle_.lower());
  bundle_.step(risk_);
  if (bundle_.improved()) best_b_ = risk_.bias();
  duals_.emplace_back(risk_.dual(), problem_);
  const std::span<const std::size_t> dropped = bundle_.dropped();
  for (std::size_t k = dropped.size(); k-- > 0;) {
    duals_.erase(duals_.begin() + static_cast<std::ptrdiff_t>(dropped[k]));
  }
  return risk_.passes();
}

template <class Kind>
auto BmrmOf<Kind>::candidate() -> Candidate {
  dual_.assign(problem_.rows() * Kind::width(problem_), 0.0);
  const std::span<const double> theta = bundle_.weights();
  for (std::size_t k = 0; k < theta.size(); ++k) {
    if (theta[k] > 0.0) duals_[k].add_to(theta[k], problem_, dual_);
  }
  return {bundle_.best_point(), best_b_, dual_};
}

template <class Kind>
Estimate BmrmOf<Kind>::estimate() const {
  return {.gap = std::max(bundle_.best() - bundle_.lower(), 0.0), .primal = bundle_.best(), .scatter = 1.1};
}

template class BmrmOf<OneOutput>;
template class BmrmOf<AllClasses>;

}  // namespace fenchel::solver
