// When is a certificate worth its price? It costs about two passes over the data; the budget is 5 % of the work or two
// passes, whichever is more. Within it, the solver's own estimate, corrected by the last certificate's verdict on it,
// says when the tolerance is likely met; besides, certificates follow a sparse geometric grid.
#pragma once

#include <algorithm>
#include <cmath>

#include "fenchel/run/run.hpp"

namespace fenchel::run {

class Schedule {
 public:
  explicit Schedule(const Options& options) : options_(options) {}

  [[nodiscard]] bool due(double passes, const solver::Estimate& estimate) const {
    if (options_.certify_often) return passes >= dense_growth * last_;
    const double budget = share * (passes + price_);
    const bool affordable = spent_ == 0.0 || spent_ + price_ <= budget;
    // With budget to spare, a hopeful look costs nothing that was promised; the last look is a careful one.
    const double hope = spent_ + 3 * price_ <= budget ? spare_hope : 1.0;
    const double correction = spent_ == 0.0 ? estimate.scatter : correction_;  // cautious until the first verdict
    const bool promising = correction * estimate.gap <= hope * target(estimate);
    return affordable && (promising || passes >= std::max(first_look, blind_growth * last_));
  }

  // Whether the first certificate needs no better estimate.
  [[nodiscard]] bool certain(const solver::Estimate& estimate) const {
    return spent_ == 0.0 && estimate.certain * estimate.gap <= target(estimate);
  }

  void certified(double passes, double price, double estimated_gap, double certified_gap) {
    last_ = passes;
    price_ = price;
    spent_ += price;
    if (estimated_gap > 0.0 && certified_gap < infinity) {
      // Damped: a single step's gap scatters.
      correction_ = std::clamp(std::sqrt(certified_gap / estimated_gap), 1.0 / most_correction, most_correction);
    }
  }

 private:
  [[nodiscard]] double target(const solver::Estimate& estimate) const {
    return std::max(options_.tolerance * std::abs(estimate.primal), options_.absolute_tolerance);
  }

  static constexpr double share = 0.05;
  static constexpr double spare_hope = 1.6;
  static constexpr double dense_growth = 1.1;
  static constexpr double blind_growth = 1.5;  // looks without hope: for progress, and to notice a stall
  static constexpr double first_look = 200.0;
  static constexpr double most_correction = 10.0;

  const Options& options_;
  double last_ = 0.0;
  double spent_ = 0.0;
  double price_ = 2.0;
  double correction_ = 1.0;  // the verdicts of certificates on the estimates before them
};

}  // namespace fenchel::run
