#include "fenchel/run/run.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "fenchel/base/clock.hpp"
#include "fenchel/problem/multiclass_certificate.hpp"
#include "fenchel/run/schedule.hpp"

namespace fenchel::run {
namespace {

// Where rounding dominates the gap, data in another storage, with other bounds on rounding, prove a range of another width:
// the claim leaves room for that.
Interval with_leeway(Interval range, double b, const problem::Certificate& certificate) {
  if (!(certificate.gap > 0.0) || !std::isfinite(range.high - range.low)) return range;
  const double factor = 1.0 + 3.0 * std::clamp(certificate.rounding / certificate.gap, 0.0, 1.0);
  return {std::min(range.low, b - factor * (b - range.low)), std::max(range.high, b + factor * (range.high - b))};
}

// What the loop asks of whoever keeps the best points.
class Keeper {
 public:
  static constexpr double price = 2.0;  // passes a certificate takes

  Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  virtual ~Keeper() = default;
  // Takes the solver's candidate into account.
  virtual void certify() = 0;
  // The point that the solver was given to start from, if there is one: the answer is to be no worse.
  virtual void certify_start() = 0;
  // All zeros, which takes no pass: nor is the answer to be worse than these. Nothing where a constraint forbids them.
  virtual void certify_origin() = 0;
  [[nodiscard]] virtual bool has_start() const = 0;
  [[nodiscard]] virtual const problem::Certificate& certificate() const = 0;
};

// The best primal and the best dual point seen, and the certificate of the two as a pair: a reported gap never grows.
template <class Certifier, class Primal, class Dual, class Solver, class Start>
class Incumbent : public Keeper {
 public:
  template <class Problem>
  Incumbent(const Problem& problem, Solver& solver, const Start& start)
      : certifier(problem), method(solver), start_(start) {}

  void certify() override { consider(method.candidate()); }
  void certify_start() override { consider(candidate_at(start_)); }
  [[nodiscard]] bool has_start() const override { return !start_.w.empty(); }

  [[nodiscard]] const problem::Certificate& certificate() const override { return best_pair; }

 protected:
  template <class Candidate>
  void consider(Candidate candidate) {
    Primal primal = certifier.primal_with_best_bias(weights_of(candidate), candidate.b);
    Dual dual = dual_of(candidate, primal);
    take(std::move(primal), std::move(dual));
  }

  // Each where it is better than the one there is.
  void take(Primal primal, Dual dual) {
    // Written so that a point whose value is not a number is replaced, and never replaces one.
    const bool better_primal =
        !best_primal || (std::isfinite(primal.value) && !(best_primal->value <= primal.value));
    const bool better_dual = !best_dual || (std::isfinite(dual.value) && !(best_dual->value >= dual.value));
    if (better_primal || better_dual) {
      Primal& p = better_primal ? primal : *best_primal;
      Dual& d = better_dual ? dual : *best_dual;
      problem::Certificate pair = certifier.pair(p, d);
      std::optional<Primal> moved = moved_off_kinks(p, d, pair);
      if (!best_primal || pair.gap <= best_pair.gap) {
        best_pair = pair;
        if (better_primal) best_primal = std::move(primal);
        if (moved) best_primal = std::move(moved);
        if (better_dual) best_dual = std::move(dual);
      }
    }
  }

  // Where rounding dominates the gap of a pair, margins at a kink of the loss may be to blame: a point with a smaller one, and its
  // certificate, if there is one nearby.
  [[nodiscard]] virtual std::optional<Primal> moved_off_kinks(const Primal& /*primal*/, const Dual& /*dual*/,
                                                              problem::Certificate& /*pair*/) const {
    return std::nullopt;
  }

  // Either as any other point; both where they are the optimum exactly, which other points may miss by what rounding takes.
  void take_origin(Primal primal, Dual dual) {
    const problem::Certificate pair = certifier.pair(primal, dual);
    if (pair.gap > 0.0 || !pair.valid()) return take(std::move(primal), std::move(dual));
    best_pair = pair;
    best_primal = std::move(primal);
    best_dual = std::move(dual);
  }

  Certifier certifier;
  Solver& method;
  std::optional<Primal> best_primal;
  std::optional<Dual> best_dual;
  problem::Certificate best_pair;

 private:
  static problem::Candidate candidate_at(const solver::Start& start) {
    return {.w = start.w, .b = start.b, .alpha = start.alpha};
  }
  static problem::MulticlassCandidate candidate_at(const solver::MulticlassStart& start) {
    return {.w = start.w, .b = start.b, .beta = start.beta};
  }
  static std::span<const double> weights_of(const problem::Candidate& candidate) { return candidate.w; }
  static LargeVector weights_of(problem::MulticlassCandidate& candidate) {
    return std::move(candidate).take_weights();
  }
  Dual dual_of(const problem::Candidate& candidate, const Primal& primal) const {
    return candidate.alpha.empty() ? certifier.dual_of(primal) : certifier.dual(candidate.alpha, candidate.place);
  }
  Dual dual_of(const problem::MulticlassCandidate& candidate, const Primal& primal) const {
    return candidate.beta.empty() ? certifier.dual_of(primal) : certifier.dual(candidate.beta);
  }

  Start start_;
};

class ScalarIncumbent final : public Incumbent<problem::Certifier, problem::PrimalPoint, problem::DualPoint,
                                               solver::Solver, solver::Start> {
 public:
  ScalarIncumbent(const problem::Problem& problem, solver::Solver& solver, const solver::Start& start)
      : Incumbent(problem, solver, start),
        rows_(problem.rows()),
        dimension_(problem.dimension()),
        origin_allowed_(!problem.penalty.constraint() ||
                        penalty::contains(*problem.penalty.constraint(), std::vector<double>(dimension_, 0.0))),
        cornered_(loss::smoothness(problem.loss) == 0.0) {}

  void certify_origin() override {
    if (!origin_allowed_) return;
    problem::PrimalPoint primal = certifier.primal_with_best_bias(std::vector<double>(dimension_, 0.0), 0.0);
    take_origin(std::move(primal), certifier.dual(std::vector<double>(rows_, 0.0)));
  }

  void release(Result& result) {
    result.bias_range =
        with_leeway(certifier.bias_range(*best_primal, *best_dual, best_pair), best_primal->b, best_pair);
    result.w = std::move(best_primal->w);
    result.b = best_primal->b;
    result.beta = std::move(best_dual->beta);
  }

 private:
  [[nodiscard]] std::optional<problem::PrimalPoint> moved_off_kinks(const problem::PrimalPoint& primal,
                                                                    const problem::DualPoint& dual,
                                                                    problem::Certificate& pair) const override {
    if (!cornered_ || !(pair.rounding > 0.25 * pair.gap)) return std::nullopt;
    double error = unit_roundoff;
    for (const double e : primal.z_error) error = std::max(error, e);
    std::optional<problem::PrimalPoint> best;
    double least = pair.gap;
    for (double t = 4 * error; t < 1e-6; t *= 16) {
      problem::PrimalPoint point = certifier.stretched(primal, 1.0 + t);
      const double gap = certifier.pair(point, dual).gap;
      if (!(gap < least)) continue;
      least = gap;
      best = std::move(point);
    }
    if (!best) return std::nullopt;
    // Evaluated anew, as whoever checks the claim later will.
    problem::PrimalPoint point = certifier.primal(best->w, best->b);
    const problem::Certificate anew = certifier.pair(point, dual);
    if (!(anew.gap < pair.gap)) return std::nullopt;
    pair = anew;
    return point;
  }

  std::size_t rows_, dimension_;
  bool origin_allowed_;
  bool cornered_;  // whether the loss has kinks
};

class MulticlassIncumbent final
    : public Incumbent<problem::MulticlassCertifier, problem::MulticlassPrimal, problem::MulticlassDual,
                       solver::MulticlassSolver, solver::MulticlassStart> {
 public:
  MulticlassIncumbent(const problem::MulticlassProblem& problem, solver::MulticlassSolver& solver,
                      const solver::MulticlassStart& start)
      : Incumbent(problem, solver, start),
        weights_(problem.dimension() * problem.classes()),
        duals_(problem.rows() * problem.classes()) {}

  void certify_origin() override {
    problem::MulticlassPrimal primal = certifier.primal_with_best_bias(LargeVector(weights_, 0.0), {});
    take_origin(std::move(primal), certifier.dual(LargeVector(duals_, 0.0)));
  }

  void release(MulticlassResult& result) {
    result.w = std::move(best_primal->w);
    result.b = std::move(best_primal->b);
    result.beta = std::move(best_dual->beta);
  }

 private:
  std::size_t weights_, duals_;
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
  static constexpr double patience = 2000.0;
  double gap_ = infinity;
  double since_ = 0.0;
};

// The loop itself. `afterwards` is the number of passes that are still to come when it ends.
Outcome iterate(solver::Method& solver, Keeper& incumbent, const Options& options, double afterwards) {
  const Stopwatch clock;
  Schedule schedule(options);
  StallWatch watch;
  Outcome result;

  const double reserve = Keeper::price + afterwards;
  double last_step = 1.0;
  bool begun = false;
  const auto limit_reached = [&]() -> std::optional<Status> {
    if (options.interrupt != nullptr && options.interrupt->load()) return Status::interrupted;
    // What is still to come after the limit is part of it.
    if (result.passes + reserve + solver.price_of_candidate() + last_step > options.max_passes) {
      return Status::max_passes;
    }
    if (clock.seconds() >= options.time_limit) return Status::time_limit;
    return std::nullopt;
  };
  const auto told = [&](const Stopwatch& certifying, double price) {
    result.passes += price;
    result.certificate_passes += price;
    result.certificate_seconds += certifying.seconds();
    if (options.observe) {
      options.observe(
          {.seconds = clock.seconds(), .passes = result.passes, .certificate = incumbent.certificate()});
    }
    return meets(incumbent.certificate(), options);
  };
  const auto certify = [&] {
    const Stopwatch certifying;
    incumbent.certify();
    result.passes += solver.passes_aside();
    const bool enough = told(certifying, Keeper::price);
    schedule.certified(result.passes, Keeper::price, solver.estimate().gap, incumbent.certificate().gap);
    return enough;
  };
  // Not part of the schedule: it tells nothing of the solver.
  const auto start_is_enough = [&] {
    if (!incumbent.has_start() || 2 * Keeper::price + afterwards + last_step > options.max_passes) return false;
    const Stopwatch certifying;
    incumbent.certify_start();
    return told(certifying, Keeper::price);
  };
  const auto origin_is_enough = [&] {
    const Stopwatch certifying;
    incumbent.certify_origin();
    return told(certifying, 0.0);
  };

  if (start_is_enough()) {
    result.status = Status::optimal;
    result.certificate = incumbent.certificate();
    result.passes += solver.passes_aside() + afterwards;
    return result;
  }
  result.passes += solver.passes_aside();
  for (;;) {
    if (!begun || !limit_reached()) result.passes += last_step = solver.step();
    begun = true;
    const std::optional<Status> limit = limit_reached();
    const bool last = limit.has_value() || solver.stationary();
    if (!last) {
      const solver::Estimate guess = solver.estimate();
      if (!schedule.due(result.passes, guess)) continue;
      if (!schedule.certain(guess)) {
        solver.refine_estimate();
        result.passes += solver.passes_aside();
        if (!schedule.due(result.passes, solver.estimate())) continue;
      }
    }
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
  if (result.status != Status::optimal && origin_is_enough()) result.status = Status::optimal;
  result.certificate = incumbent.certificate();
  result.passes += afterwards;
  return result;
}

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

Result run(const problem::Problem& problem, solver::Solver& solver, const Options& options,
           const solver::Start& start) {
  const Stopwatch clock;
  ScalarIncumbent incumbent(problem, solver, start);
  const bool ranged = problem.free_bias && problem.penalty.strong_convexity() > 0.0;
  Result result{iterate(solver, incumbent, options, ranged ? 1.0 : 0.0), {}, 0.0, {}, {}};
  incumbent.release(result);
  result.seconds = clock.seconds();
  return result;
}

MulticlassResult run(const problem::MulticlassProblem& problem, solver::MulticlassSolver& solver,
                     const Options& options, const solver::MulticlassStart& start) {
  const Stopwatch clock;
  MulticlassIncumbent incumbent(problem, solver, start);
  MulticlassResult result{iterate(solver, incumbent, options, 0.0), {}, {}, {}};
  incumbent.release(result);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace fenchel::run
