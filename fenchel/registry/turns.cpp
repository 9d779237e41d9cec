#include "fenchel/registry/turns.hpp"

#include <algorithm>

#include "fenchel/registry/multiclass_solvers.hpp"
#include "fenchel/registry/solvers.hpp"

namespace fenchel::registry {
namespace {

constexpr std::size_t most_turns = 3;
// Where columns or rows are so few, a second-order method or a bundle of cuts is cheap, and is tried before the first one has stalled.
constexpr std::size_t small_size = 1000;

// What is enough for a solver on small problems that are for it, or nearly: going row by row to a relative gap of 1e-6 took less
// wherever it was the right choice; a bundle's own problem outgrows the data later; newton mostly ends by itself.
double patience_with(std::string_view solver) {
  if (solver == solver::Sdca::name || solver == solver::AcceleratedSdca::name) return 500.0;
  if (solver == solver::Newton::name) return 4000.0;
  if (solver == solver::Fista::name) return 5000.0;
  if (solver == solver::Bmrm::name) return 600.0;
  return infinity;
}

}  // namespace

std::vector<Turn> turns_of(std::string_view chosen, const Settings& settings, const penalty::Regularizer& penalty,
                           std::size_t rows, std::size_t columns) {
  std::vector<Turn> turns{{.solver = chosen}};
  if (settings.solver != "auto") return turns;
  const std::vector<std::string_view> able = supporting(settings.loss, penalty, demands(settings));
  const auto add = [&](std::string_view heir) {
    if (heir == chosen || std::ranges::find(able, heir) == able.end()) return false;
    turns.push_back({.solver = heir});
    return true;
  };
  if (std::min(rows, columns) > small_size) {
    for (const std::string_view heir :
         {solver::Newton::name, solver::Sdca::name, solver::Fista::name, solver::Pdhg::name}) {
      if (turns.size() < most_turns) add(heir);
    }
    return turns;
  }
  if (!add(solver::Newton::name)) {
    for (const std::string_view heir : {solver::Sdca::name, solver::Fista::name, solver::Bmrm::name}) add(heir);
  }
  if (turns.size() == 1) return turns;
  for (Turn& turn : turns) turn.most_passes = patience_with(turn.solver);
  // Who was cut short has the rest; not newton, which would go the same way again.
  const auto patient =
      std::ranges::find_if(turns, [](const Turn& turn) { return turn.solver != solver::Newton::name; });
  turns.push_back({.solver = patient->solver});
  return turns;
}

}  // namespace fenchel::registry
