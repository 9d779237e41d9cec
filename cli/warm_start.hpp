// A point to start from, taken out of a model file.
#pragma once

#include <string>
#include <vector>

#include "fenchel/model/model.hpp"
#include "fenchel/registry/plan.hpp"
#include "fenchel/solver/solver.hpp"

namespace fenchel::cli {

class WarmStart {
 public:
  // A usage Error where classes or features do not fit. A dual point belongs to its rows: with another number of
  // rows only the weights are taken, and `note` says so.
  WarmStart(const model::Model& model, const registry::Plan& plan, std::size_t features);

  [[nodiscard]] std::vector<solver::Start> starts() const;  // views into this object
  [[nodiscard]] const std::string& note() const { return note_; }

 private:
  struct Point {
    std::vector<double> w;
    double b = 0.0;
    std::vector<double> alpha;
  };
  std::vector<Point> points_;
  std::string note_;
};

}  // namespace fenchel::cli
