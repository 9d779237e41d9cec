// A dual vector in two bits a row: of piecewise linear losses nearly all duals are 0 or an end of their domain; the few that
// are not, at kinks, are listed apart. Where they are not few (smooth losses) the vector is kept as doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/loss/any.hpp"

namespace fenchel::solver {

class CompactDual {
 public:
  CompactDual(std::span<const double> alpha, std::span<const double> targets, const loss::Any& loss);

  // sum += weight * alpha, for the same targets and loss.
  void add_to(double weight, std::span<const double> targets, const loss::Any& loss, std::span<double> sum) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::vector<std::uint8_t> codes_;  // of four rows each
  std::vector<std::pair<std::uint32_t, double>> others_;
  std::vector<double> plain_;  // in place of both
};

}  // namespace fenchel::solver
