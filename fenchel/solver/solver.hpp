// A solver is a resumable object. It improves its point by about one pass over the data a step, offers candidates as
// views, and never prints, times, certifies or decides to stop.
#pragma once

#include <cstdint>
#include <span>

#include "fenchel/problem/problem.hpp"

namespace fenchel::solver {

// A point to start from; empty spans mean zero.
struct Start {
  std::span<const double> w;
  double b = 0.0;
  std::span<const double> alpha;
};

// The order in which a solver that goes row by row visits them: all shuffled, or windows of consecutive rows in random
// order, shuffled inside, so that data larger than memory are read from the disk in large pieces.
enum class RowOrder { shuffled, windows };

// What a solver draws from chance.
struct Chance {
  std::uint64_t seed = 0;
  RowOrder rows = RowOrder::shuffled;

  // Implicit: a seed alone is enough.
  Chance(std::uint64_t s, RowOrder order = RowOrder::shuffled)
      : seed(s), rows(order) {}  // NOLINT(google-explicit-constructor)
};

// Guesses from numbers seen during the last step. They only say when a certificate is worth its price.
struct Estimate {
  double gap = infinity;
  double primal = 0.0;
  double scatter = 1.0;  // the factor by which the gap of a single step may lie above the guess
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
  [[nodiscard]] virtual Estimate estimate() const = 0;
  // Whether further steps cannot change the point.
  [[nodiscard]] virtual bool stationary() const = 0;
};

class Solver : public Method {
 public:
  [[nodiscard]] virtual problem::Candidate candidate() = 0;
};

}  // namespace fenchel::solver
