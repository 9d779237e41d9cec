#include "cli/gradient_options.hpp"

#include "cli/arguments.hpp"
#include "cli/named_values.hpp"

namespace fenchel::cli {
namespace {

constexpr std::string_view gradient_group = "Accelerated gradient and excessive gap";

using solver::Curvature;
using solver::SmoothingWeights;
using solver::Space;

constexpr Names<Space, 3> spaces{
    {{"primal", Space::primal}, {"dual", Space::dual}, {"dual-smooth", Space::dual_smooth}}};
constexpr Names<Curvature, 2> curvatures{{{"search", Curvature::search}, {"bound", Curvature::bound}}};
constexpr Names<SmoothingWeights, 3> smoothing_weights{{{"equal", SmoothingWeights::equal},
                                                        {"norms", SmoothingWeights::norms},
                                                        {"auto", SmoothingWeights::automatic}}};

}  // namespace

void GradientOptions::add(CLI::App& app) {
  const auto grouped = [](CLI::Option* option) { option->group(std::string(gradient_group)); };
  grouped(
      add_text(app, "--agm-space", space_, "primal|dual|dual-smooth",
               "what agm-inf and agm-1 minimize. primal: P(w) with the loss smoothed where it is not smooth; dual: "
               "-D(alpha), for penalties with an l2 part on every feature; dual-smooth: -D(alpha) + (G/2) sum c_i "
               "alpha_i^2 / sum c. G is that of --smoothing, or falls from stage to stage (default: "
               "dual-smooth where the loss is not smooth and the penalty has such a part, else primal)"));
  grouped(add_text(
      app, "--curvature", curvature_, "search|bound",
      "the L of agm-inf, agm-1 and pragam. search: trials, up and down, of the invariant that the rate rests "
      "on; bound: one that surely holds, from the sum of all ||x_i||^2 (default search)"));
  grouped(add_text(
      app, "--smoothing-weights", weights_, "equal|norms|auto",
      "levels of smoothing by row in agm-inf and agm-1: G s_i for row i, of mean sum c_i s_i / sum c = 1. equal: "
      "s_i = "
      "1; norms: s_i in proportion to ||x_i||, or ||x_i - mean|| with a free bias; auto: norms where they make the "
      "largest eigenvalue of sum (c_i/s_i) x_i x_i' / sum c clearly smaller, by bounds on both (default auto)"));
}

registry::GradientSettings GradientOptions::resolve() const {
  return {.space = value_of("--agm-space", space_, spaces),
          .curvature = value_of("--curvature", curvature_, curvatures),
          .weights = value_of("--smoothing-weights", weights_, smoothing_weights)};
}

std::string_view name(solver::Space space) { return name_of(space, spaces); }
std::string_view name(solver::Curvature curvature) { return name_of(curvature, curvatures); }
std::string_view name(solver::SmoothingWeights weights) { return name_of(weights, smoothing_weights); }

}  // namespace fenchel::cli
