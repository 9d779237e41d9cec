#include "fenchel/solver/proximal_ascent.hpp"

#include <algorithm>

namespace fenchel::solver {
namespace {

constexpr double least_passes = 0.01;  // a sweep, so that all of them come to an end
constexpr double most_passes = 10.0;   // a subproblem
constexpr double share_of_pull = 2.0;  // a subproblem's gap may be this times (kappa/2) ||w - y||^2
// and this times the gap without the added term, which says that kappa is too large. Not for a smooth loss under a plain
// l1 penalty: there that gap is mostly the scaling of the dual point, and exact subproblems are what reduces it.
constexpr double share_of_gap = 0.1;
// After so many subproblems without a lower value of the problem that share becomes so much less, while the problem's gap is large:
// under a weak penalty it says little about how far its value is from the optimum.
constexpr int patience = 3;
constexpr double tightening = 0.1;
constexpr double large_gap = 0.01;  // of the problem's value
// Where the value rises by this factor, both shares become so much less: a gap above (kappa/2) ||w - y||^2 is more than the theory of inexact
// proximal point methods allows, and where lambda is tiny errors then grow from subproblem to subproblem.
constexpr double far_rise = 4.0;
constexpr double least_exactness = 1e-4;
constexpr double few_passes = 2.0;   // kappa may fall
constexpr double many_passes = 6.0;  // kappa should grow
constexpr int in_a_row = 3;
constexpr double factor = 3.0;
constexpr double widest = 1e6;  // kappa stays within this factor of the first one

// At which a row's curvature is that of its loss: a sweep then makes up for a constant share of the gap.
double balanced_kappa(const problem::Problem& problem) {
  const LargeVector norms = data::LinearMap(problem.design).row_square_norms({});
  double mean = 0.0;
  for (std::size_t i = 0; i < norms.size(); ++i) mean += problem.sample.weight(i) * norms[i];
  mean /= problem.sample.weight_sum * static_cast<double>(norms.size());
  const double gamma = loss::smoothness(problem.loss);
  return mean > 0.0 ? mean / (gamma > 0.0 ? gamma : 1.0) : 1.0;
}

}  // namespace

ProximalAscent::ProximalAscent(const problem::Problem& problem, const Start& start, const Conduct& conduct)
    : smoothing_(conduct.ascent.smoothing),
      smooth_(loss::smoothness(problem.loss) > 0.0),
      first_kappa_(balanced_kappa(problem)),
      share_of_gap_(!smooth_ || problem.penalty.strong_convexity() > 0.0 ? share_of_gap : 0.0),
      next_kappa_(first_kappa_),
      ascent_(problem, start, conduct, first_kappa_),
      w_(start.w.begin(), start.w.end()) {
  w_.resize(problem.dimension(), 0.0);
  if (!start.w.empty()) ascent_.recentre(start.w);
}

ProximalAscent::Solved ProximalAscent::solve() {
  Solved solved;
  double pull = 0.0;
  do {
    solved.seen = ascent_.sweep();
    solved.passes += std::max(solved.seen.passes, least_passes);
    pull = ascent_.pull();
    solved.gap = ascent_.direct_gap(solved.seen);
  } while (solved.passes < most_passes && solved.seen.changed &&
           solved.seen.smoothed_gap >
               exactness_ * std::max(share_of_pull * pull, allowed_share(solved.gap) * solved.gap));
  rough_ = solved.seen.smoothed_gap > share_of_pull * pull;
  solved.losses = ascent_.losses(solved.seen);
  solved.stationary = solved.seen.all && !solved.seen.changed && pull == 0.0;
  w_.assign(ascent_.weights().begin(), ascent_.weights().end());
  if (pull > 0.0) next_kappa_ = next_kappa(solved.passes);
  return solved;
}

double ProximalAscent::allowed_share(double gap) const {
  return tight_ && gap > large_gap * least_primal_ ? tightening * share_of_gap_ : share_of_gap_;
}

bool ProximalAscent::judge(double primal) {
  if (primal < least_primal_) {
    least_primal_ = primal;
    in_vain_ = 0;
    return false;
  }
  if (primal > far_rise * least_primal_) {
    exactness_ = std::max(tightening * exactness_, least_exactness);
    least_primal_ = primal;  // a low guess may have been one of many
    return true;
  }
  // Values of a loss with corners scatter too much to tell more.
  if (rough_ && smooth_ && ++in_vain_ == patience) tight_ = true;
  return false;
}

double ProximalAscent::next_kappa(double passes) {
  quick_ = passes < few_passes ? quick_ + 1 : 0;
  slow_ = passes > many_passes ? slow_ + 1 : 0;
  if (quick_ < in_a_row && slow_ < in_a_row) return ascent_.kappa();
  const double wanted = quick_ > 0 ? ascent_.kappa() / factor : ascent_.kappa() * factor;
  quick_ = slow_ = 0;
  return std::clamp(wanted, first_kappa_ / widest, first_kappa_ * widest);
}

double ProximalAscent::move_to(std::span<const double> y) {
  ascent_.recentre(y);
  return next_kappa_ == ascent_.kappa() ? 0.0 : ascent_.adjust(next_kappa_, smoothing_);
}

}  // namespace fenchel::solver
