// Solvers of multiclass problems; see solver.hpp.
#pragma once

#include <span>

#include "fenchel/problem/multiclass.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::solver {

// A point to start from; empty spans mean zero. Laid out as in problem::MulticlassCandidate.
struct MulticlassStart {
  std::span<const double> w;
  std::span<const double> b;
  std::span<const double> beta;
};

class MulticlassSolver : public Method {
 public:
  [[nodiscard]] virtual problem::MulticlassCandidate candidate() = 0;
};

}  // namespace fenchel::solver
