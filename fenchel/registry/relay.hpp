// One output's fit: solvers have their turns (turns.hpp), each from the best point of the one before.
#pragma once

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "fenchel/base/clock.hpp"
#include "fenchel/registry/turns.hpp"
#include "fenchel/run/run.hpp"

namespace fenchel::registry {

// What came before is part of the outcome.
inline void add_passes(auto& result, const run::Outcome& before) {
  result.passes += before.passes;
  result.certificate_passes += before.certificate_passes;
  result.certificate_seconds += before.certificate_seconds;
}

template <class Result>
class Relay {
 public:
  Relay(std::span<const Turn> turns, const run::Options& options) : turns_(turns), options_(options) {}

  // `attempt(turn, start, options_now)` is a run of a turn's solver from `start`, where options_now() is asked for after all that
  // comes before it; `start_at(result)` holds the point of a run, and has a view().
  template <class Start, class Attempt, class StartAt>
  Result run(const Start& start, Attempt&& attempt, StartAt&& start_at) {
    Result result = attempt(std::size_t{0}, start, [&] { return options_for(0, 0.0); });
    for (std::size_t last = 0, k = 1; k < turns_.size() && gives_way(result, last); ++k) {
      if (has_stalled(turns_[k].solver)) continue;  // and would again
      if (const auto end = ended()) {
        result.status = *end;
        break;
      }
      Result before = std::move(result);
      const auto from = start_at(before);
      try {
        result = attempt(k, from.view(), [&] { return options_for(k, before.passes); });
      } catch (const std::bad_alloc&) {  // this one has no place here; the answer of the others stands
        return before;
      }
      add_passes(result, before);
      if (before.certificate.gap < result.certificate.gap) keep_point(std::move(before), result);
      last = k;
    }
    return result;
  }

 private:
  // A turn with less than this would be over before it has begun.
  static constexpr double least_passes = 100.0;

  [[nodiscard]] run::Options options_for(std::size_t turn, double passes) const {
    run::Options own = options_;
    own.max_passes = std::min(options_.max_passes - passes, turns_[turn].most_passes);
    const double seconds = clock_.seconds();
    own.time_limit = options_.time_limit - seconds;
    if (options_.observe) {
      own.observe = [this, passes, seconds](run::Progress progress) {
        progress.seconds += seconds;
        progress.passes += passes;
        options_.observe(progress);
      };
    }
    return own;
  }

  // Whether another solver goes on after a turn: not where a limit that the user set ends the fit, or nearly.
  [[nodiscard]] bool gives_way(const run::Outcome& outcome, std::size_t turn) {
    const bool stalled = outcome.status == run::Status::stalled;
    if (stalled) stalled_.push_back(turns_[turn].solver);
    const bool capped = outcome.status == run::Status::max_passes && std::isfinite(turns_[turn].most_passes);
    return (stalled || capped) && outcome.passes + least_passes <= options_.max_passes;
  }

  [[nodiscard]] bool has_stalled(std::string_view solver) const {
    return std::ranges::find(stalled_, solver) != stalled_.end();
  }

  [[nodiscard]] std::optional<run::Status> ended() const {
    if (options_.interrupt != nullptr && options_.interrupt->load()) return run::Status::interrupted;
    if (clock_.seconds() >= options_.time_limit) return run::Status::time_limit;
    return std::nullopt;
  }

  // The point of one run, and the rest of another.
  static void keep_point(Result&& point, Result& result) {
    const run::Outcome rest = result;
    result = std::move(point);
    const problem::Certificate certificate = result.certificate;
    static_cast<run::Outcome&>(result) = rest;
    result.certificate = certificate;
  }

  std::span<const Turn> turns_;
  const run::Options& options_;
  Stopwatch clock_;
  std::vector<std::string_view> stalled_;
};

}  // namespace fenchel::registry
