// Dual vectors of cuts in a few bits a row: of piecewise linear losses nearly all duals are 0 or an end of their domain; the few
// that are not, at kinks, are listed apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/solver/problem_kind.hpp"

namespace fenchel::solver {

// Numbers below `codes`, each in as few bits as hold them, none across two words.
class PackedCodes {
 public:
  PackedCodes(std::size_t count, std::size_t codes);

  [[nodiscard]] std::size_t operator[](std::size_t i) const {
    return static_cast<std::size_t>((words_[i / in_word_] >> (bits_ * (i % in_word_))) & ((1ULL << bits_) - 1));
  }
  // Once for every i: what is there is 0.
  void set(std::size_t i, std::size_t code) {
    words_[i / in_word_] |= static_cast<std::uint64_t>(code) << (bits_ * (i % in_word_));
  }
  void clear() { words_ = {}; }
  [[nodiscard]] std::size_t bytes() const { return words_.size() * sizeof(words_.front()); }

 private:
  std::size_t bits_;
  std::size_t in_word_;
  std::vector<std::uint64_t> words_;
};

// Of one output: two bits a row. Where those listed apart are not few (smooth losses) the vector is kept as doubles.
class CompactDual {
 public:
  CompactDual(std::span<const double> alpha, const problem::Problem& problem);

  // sum += weight * alpha, for the same problem.
  void add_to(double weight, const problem::Problem& problem, std::span<double> sum) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  PackedCodes codes_;
  std::vector<std::pair<std::size_t, double>> others_;
  std::vector<double> plain_;  // in place of both
};

// Of all k classes, where the dual set of a row has k vertices: 0, and 1 for a class other than the row's own. Rows elsewhere
// are listed with their k numbers.
class CompactClassDual {
 public:
  CompactClassDual(std::span<const double> beta, const problem::MulticlassProblem& problem);

  void add_to(double weight, const problem::MulticlassProblem& problem, std::span<double> sum) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  PackedCodes codes_;  // 0: none, l + 1: class l, k + 1: listed
  std::vector<std::size_t> listed_;
  std::vector<double> others_;  // k a row listed
};

template <class Kind>
struct CompactDualOf;
template <>
struct CompactDualOf<OneOutput> {
  using Type = CompactDual;
};
template <>
struct CompactDualOf<AllClasses> {
  using Type = CompactClassDual;
};

}  // namespace fenchel::solver
