// The options of accelerated gradient and excessive gap methods.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "fenchel/registry/settings.hpp"

namespace fenchel::cli {

class GradientOptions {
 public:
  void add(CLI::App& app);
  // A usage error for names that do not exist.
  [[nodiscard]] registry::GradientSettings resolve() const;

 private:
  std::string space_, curvature_, weights_;
};

// Their values, as users type them.
std::string_view name(solver::Space space);
std::string_view name(solver::Curvature curvature);
std::string_view name(solver::SmoothingWeights weights);

}  // namespace fenchel::cli
