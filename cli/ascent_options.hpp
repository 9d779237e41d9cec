// The options of dual coordinate ascent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "fenchel/registry/settings.hpp"

namespace fenchel::cli {

class AscentOptions {
 public:
  void add(CLI::App& app);
  // A usage error for names that do not exist.
  [[nodiscard]] registry::AscentSettings resolve() const;

 private:
  CLI::App* app_ = nullptr;
  std::string step_, sampling_, iterate_, momentum_, acceleration_;
  std::optional<double> smoothing_;
  std::uint64_t blocks_ = 1;
};

// Their values, as users type them.
std::string_view name(solver::Sampling sampling);
std::string_view name(solver::Iterate iterate);

}  // namespace fenchel::cli
