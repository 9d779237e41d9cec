// A solver is a resumable object. It improves its point by about one pass over the data a step, offers candidates as
// views, and never prints, times, certifies or decides to stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fenchel/kernel/dual_step.hpp"
#include "fenchel/problem/problem.hpp"

namespace fenchel::solver {

// A point to start from; empty spans mean zero.
struct Start {
  std::span<const double> w;
  double b = 0.0;
  std::span<const double> alpha;
};

// The order in which a solver that goes row by row visits them: all shuffled; or short runs of neighbours in random order, which
// memory gives faster and which need no more passes where neighbours are not alike; or windows of consecutive rows in random
// order, shuffled inside, so that data larger than memory are read from the disk in large pieces.
enum class RowOrder { shuffled, runs, windows };

// How dual coordinate ascent draws rows: every row once in a fresh random order, or independently of each other,
// uniformly or with probabilities that grow with the row's norm.
enum class Sampling { permutation, uniform, importance };

// Which iterate dual coordinate ascent offers: the last one, the average of the later steps, or a random one of these; or the last
// dual vector with whichever seems better of the last weights and an average of late ones.
enum class Iterate { automatic, last, averaged, random };

// Choices that dual coordinate ascent leaves open.
struct AscentChoices {
  kernel::StepOption step = kernel::StepOption::exact;
  Sampling sampling = Sampling::permutation;
  Iterate iterate = Iterate::automatic;
  double smoothing = 0.0;  // replaces the loss by a smooth one inside the solver; 0: the loss itself
  bool momentum =
      true;  // sdca: sweeps start farther along the way of the last ones, where dual_momentum.hpp says how
  bool theory = false;     // accelerated-sdca: subproblems solved to the tolerances of its theory
  std::size_t blocks = 0;  // of rows that are worked on side by side; 0: chosen from the data
};

// Where accelerated gradient methods work: on w with a smoothed loss, on the dual vector, or on that with a smoothed loss.
enum class Space { primal, dual, dual_smooth };

// Where the steps of gradient methods come from: trials of the curvature, or a bound on it that surely holds.
enum class Curvature { search, bound };

// The levels of smoothing of the rows: one for all, levels in proportion to the norms of the rows, or these where they
// help as far as bounds tell.
enum class SmoothingWeights { equal, norms, automatic };

// Choices that accelerated gradient and excessive gap methods leave open.
struct GradientChoices {
  std::optional<Space> space =
      {};  // empty: the dual, smoothed, where the loss has corners and the penalty allows it
  Curvature curvature = Curvature::search;
  SmoothingWeights weights = SmoothingWeights::automatic;
  double most_passes = infinity;  // of the whole fit, which say what a better start may cost
};

// Options about a solver's conduct, by the names users know. Every solver lists those that it takes as `takes`.
namespace option {
inline constexpr std::string_view row_order = "--row-order";
inline constexpr std::string_view step = "--sdca-option";
inline constexpr std::string_view sampling = "--sampling";
inline constexpr std::string_view iterate = "--iterate";
inline constexpr std::string_view smoothing = "--smoothing";
inline constexpr std::string_view momentum = "--momentum";
inline constexpr std::string_view acceleration = "--acceleration";
inline constexpr std::string_view blocks = "--blocks";
inline constexpr std::string_view batch = "--batch";
inline constexpr std::string_view space = "--agm-space";
inline constexpr std::string_view smoothing_weights = "--smoothing-weights";
inline constexpr std::string_view curvature = "--curvature";
}  // namespace option

// How a solver goes about it, where it has a choice.
struct Conduct {
  std::uint64_t seed = 0;
  RowOrder rows = RowOrder::shuffled;
  AscentChoices ascent = {};
  std::size_t batch = 1;  // rows a step of pegasos
  GradientChoices gradient = {};
};

// Guesses from numbers seen during the last step. They only say when a certificate is worth its price.
struct Estimate {
  double gap = infinity;
  double primal = 0.0;
  double scatter = 1.0;       // the factor by which the gap of a single step may lie above the guess
  double certain = infinity;  // the factor that leaves nothing to learn from a better guess
};

// What the loop of run/ sees of every solver, whatever its candidates are.
class Method {
 public:
  Method() = default;
  Method(const Method&) = delete;
  Method& operator=(const Method&) = delete;
  virtual ~Method() = default;

  // Improves the point; returns the passes over the data this took.
  virtual double step() = 0;
  // Passes over the data that no step has told of, since this was last asked: for setting up, and for candidates.
  [[nodiscard]] virtual double passes_aside() { return 0.0; }
  [[nodiscard]] virtual Estimate estimate() const = 0;
  // Makes the estimate as good as it can be for less than the price of a certificate, which is asked for only then. Its passes are
  // told aside.
  virtual void refine_estimate() {}
  // Passes that the next candidate may take; told aside.
  [[nodiscard]] virtual double price_of_candidate() const { return 0.0; }
  // Whether further steps cannot change the point.
  [[nodiscard]] virtual bool stationary() const = 0;
};

class Solver : public Method {
 public:
  [[nodiscard]] virtual problem::Candidate candidate() = 0;
};

}  // namespace fenchel::solver
