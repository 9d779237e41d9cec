// What bundle methods see of a convex risk R: its value at a point, and a cut there,
//     R(v) >= <slope, v> + offset  for every v,  with equality at the point or nearly so.
// The offset is exact for the slope, so that the bounds of a method hold whatever rounding did to the point (for losses of
// all classes with free biases as nearly as the duals of the cut balance, which certificates do not rely on).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fenchel::solver {

class CutOracle {
 public:
  struct Answer {
    double value = 0.0;  // R(w)
    double offset = 0.0;
    double shortfall = 0.0;  // of the cut at w: R(w) - <slope, w> - offset
  };

  CutOracle() = default;
  CutOracle(const CutOracle&) = delete;
  CutOracle& operator=(const CutOracle&) = delete;
  virtual ~CutOracle() = default;

  virtual Answer cut(std::span<const double> w, std::span<double> slope) = 0;
};

// Where the first cut is taken: the weights of a start, of which there may be none.
inline std::vector<double> first_point(std::span<const double> start, std::size_t dimension) {
  std::vector<double> w(start.begin(), start.end());
  w.resize(dimension, 0.0);
  return w;
}

}  // namespace fenchel::solver
