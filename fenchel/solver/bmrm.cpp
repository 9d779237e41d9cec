#include "fenchel/solver/bmrm.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fenchel/base/error.hpp"

namespace fenchel::solver {

std::optional<std::string_view> Bmrm::missing(const loss::Any& /*loss*/, const penalty::Separable& penalty) {
  if (!(penalty.strong_convexity() > 0.0)) return "a penalty that is strongly convex in every feature";
  return std::nullopt;
}

Bmrm::Bmrm(const problem::Problem& problem, const Start& start, const Conduct& /*conduct*/)
    : problem_(problem),
      risk_(problem, start.b),
      bundle_(problem.penalty, first_point(start, problem.dimension())),
      best_b_(start.b) {
  if (problem.rows() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(Fault::failure, "bmrm numbers rows with 32 bits: there are more than 4294967295 rows");
  }
}

double Bmrm::step() {
  bundle_.step(risk_);
  if (bundle_.improved()) best_b_ = risk_.bias();
  duals_.emplace_back(risk_.dual(), problem_.sample.targets, problem_.loss);
  const std::span<const std::size_t> dropped = bundle_.dropped();
  for (std::size_t k = dropped.size(); k-- > 0;) {
    duals_.erase(duals_.begin() + static_cast<std::ptrdiff_t>(dropped[k]));
  }
  return risk_.passes();
}

problem::Candidate Bmrm::candidate() {
  alpha_.assign(problem_.rows(), 0.0);
  const std::span<const double> theta = bundle_.weights();
  for (std::size_t k = 0; k < theta.size(); ++k) {
    if (theta[k] > 0.0) duals_[k].add_to(theta[k], problem_.sample.targets, problem_.loss, alpha_);
  }
  return {.w = bundle_.best_point(), .b = best_b_, .alpha = alpha_};
}

Estimate Bmrm::estimate() const {
  return {.gap = std::max(bundle_.best() - bundle_.lower(), 0.0), .primal = bundle_.best(), .scatter = 1.1};
}

}  // namespace fenchel::solver
