#include "fenchel/run/run.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "fenchel/base/clock.hpp"
#include "fenchel/run/schedule.hpp"

namespace fenchel::run {
namespace {

// The best primal and the best dual point seen, and the certificate of the two as a pair: a reported gap never grows.
class Incumbent {
 public:
  static constexpr double price = 2.0;  // passes a certificate takes

  explicit Incumbent(const problem::Problem& problem) : certifier_(problem) {}

  // Takes the solver's candidate into account; returns the passes this took.
  double certify(const problem::Candidate& candidate) {
    problem::PrimalPoint primal = certifier_.primal_with_best_bias(candidate.w, candidate.b);
    problem::DualPoint dual =
        candidate.alpha.empty() ? certifier_.dual_of(primal) : certifier_.dual(candidate.alpha);
    // Written so that a point whose value is not a number is replaced, and never replaces one.
    const bool better_primal = !primal_ || (std::isfinite(primal.value) && !(primal_->value <= primal.value));
    const bool better_dual = !dual_ || (std::isfinite(dual.value) && !(dual_->value >= dual.value));
    if (better_primal || better_dual) {
      problem::PrimalPoint& p = better_primal ? primal : *primal_;
      problem::DualPoint& d = better_dual ? dual : *dual_;
      const problem::Certificate pair = certifier_.pair(p, d);
      if (!primal_ || pair.gap <= certificate_.gap) {
        certificate_ = pair;
        if (better_primal) primal_ = std::move(primal);
        if (better_dual) dual_ = std::move(dual);
      }
    }
    if (certificate_.rounding > 0.25 * certificate_.gap) stretch();
    return price;
  }

  [[nodiscard]] const problem::Certificate& certificate() const { return certificate_; }

  void release(Result& result) {
    result.certificate = certificate_;
    result.bias_range = certifier_.bias_range(*primal_, *dual_, certificate_);
    result.w = std::move(primal_->w);
    result.b = primal_->b;
    result.beta = std::move(dual_->beta);
  }

 private:
  // Where rounding dominates the gap, margins at a kink of the loss may be to blame: tries to move them off it.
  void stretch() {
    double error = unit_roundoff;
    for (const double e : primal_->z_error) error = std::max(error, e);
    for (double t = 4 * error; t < 1e-6; t *= 16) {
      problem::PrimalPoint point = certifier_.stretched(*primal_, 1.0 + t);
      const problem::Certificate pair = certifier_.pair(point, *dual_);
      if (!(pair.gap < certificate_.gap)) continue;
      certificate_ = pair;
      primal_ = std::move(point);
    }
  }

  problem::Certifier certifier_;
  std::optional<problem::PrimalPoint> primal_;
  std::optional<problem::DualPoint> dual_;
  problem::Certificate certificate_;
};

// The gap has stopped moving when it has not fallen by 1 % while the work has doubled.
class StallWatch {
 public:
  bool stalled(double passes, double gap) {
    if (gap < 0.99 * gap_) {
      gap_ = gap;
      since_ = passes;
    }
    return passes > std::max(2 * since_, patience);
  }

 private:
  static constexpr double patience = 400.0;
  double gap_ = infinity;
  double since_ = 0.0;
};

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::optimal: return "optimal";
    case Status::time_limit: return "time-limit";
    case Status::max_passes: return "max-passes";
    case Status::interrupted: return "interrupted";
    case Status::stalled: return "stalled";
  }
  return "";
}

bool meets(const problem::Certificate& certificate, const Options& options) {
  if (!certificate.valid()) return false;
  return certificate.gap <=
             options.tolerance * std::max(std::fabs(certificate.primal), std::fabs(certificate.dual)) ||
         certificate.gap <= options.absolute_tolerance;
}

Result run(const problem::Problem& problem, solver::Solver& solver, const Options& options) {
  const Stopwatch clock;
  Incumbent incumbent(problem);
  Schedule schedule(options);
  StallWatch watch;
  Result result;

  const bool ranged = problem.free_bias && problem.penalty.strong_convexity() > 0.0;
  const double reserve = Incumbent::price + (ranged ? 1.0 : 0.0);
  double last_step = 1.0;
  const auto limit_reached = [&]() -> std::optional<Status> {
    if (options.interrupt != nullptr && options.interrupt->load()) return Status::interrupted;
    // What is still to come after the limit is part of it.
    if (result.passes + reserve + last_step > options.max_passes) return Status::max_passes;
    if (clock.seconds() >= options.time_limit) return Status::time_limit;
    return std::nullopt;
  };
  const auto certify = [&] {
    const Stopwatch certifying;
    const double price = incumbent.certify(solver.candidate());
    result.passes += price;
    result.certificate_passes += price;
    result.certificate_seconds += certifying.seconds();
    schedule.certified(result.passes, price, solver.estimate().gap, incumbent.certificate().gap);
    if (options.observe) {
      options.observe(
          {.seconds = clock.seconds(), .passes = result.passes, .certificate = incumbent.certificate()});
    }
    return meets(incumbent.certificate(), options);
  };

  for (;;) {
    if (result.passes == 0.0 || !limit_reached()) result.passes += last_step = solver.step();
    const std::optional<Status> limit = limit_reached();
    const bool last = limit.has_value() || solver.stationary();
    if (!last && !schedule.due(result.passes, solver.estimate())) continue;
    if (certify()) {
      result.status = Status::optimal;
    } else if (limit) {
      result.status = *limit;
    } else if (last || watch.stalled(result.passes, incumbent.certificate().gap)) {
      result.status = Status::stalled;
    } else {
      continue;
    }
    break;
  }
  incumbent.release(result);
  if (ranged) result.passes += 1.0;
  result.seconds = clock.seconds();
  return result;
}

}  // namespace fenchel::run
