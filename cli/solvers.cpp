// fenchel solvers: the support table, computed from what each solver says it lacks.
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/choices.hpp"
#include "cli/command.hpp"
#include "cli/report.hpp"
#include "fenchel/registry/multiclass_solvers.hpp"
#include "fenchel/registry/solvers.hpp"

namespace fenchel::cli {
namespace {

constexpr std::array<registry::Bias, 3> biases{registry::Bias::none, registry::Bias::free,
                                               registry::Bias::regularized};

// Every penalty with its default parameters and lambda = 1: support does not depend on how large lambda is.
std::vector<std::pair<std::string_view, penalty::Regularizer>> penalties() {
  std::vector<std::pair<std::string_view, penalty::Regularizer>> list;
  for_each_penalty([&]<class P>(std::type_identity<P>) {
    const auto constraint = penalty::constraint_of(P{});
    list.emplace_back(P::name, constraint ? penalty::Regularizer(*constraint)
                                          : penalty::Regularizer(penalty::Separable(P{}.strength(1.0))));
  });
  return list;
}

std::vector<std::string_view> supported_penalties(const registry::SolverEntry& solver, const loss::Chosen& loss) {
  std::vector<std::string_view> names;
  for (const auto& [name, penalty] : penalties()) {
    if (!registry::missing(solver.name, loss, penalty)) names.push_back(name);
  }
  return names;
}

std::vector<std::string_view> bias_names() {
  std::vector<std::string_view> names(biases.size());
  std::transform(biases.begin(), biases.end(), names.begin(),
                 [](registry::Bias bias) { return model::name(bias); });
  return names;
}

// Words in columns, without blanks at the end.
std::string line_of(std::string_view first, const std::vector<std::string_view>& cells,
                    const std::vector<std::string_view>& heads) {
  std::string text = fmt::format("  {:<28}", first);
  for (std::size_t k = 0; k < cells.size(); ++k)
    text += fmt::format(" {:<{}}", cells[k], std::max<std::size_t>(6, heads[k].size()));
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string table_of(const registry::SolverEntry& solver) {
  std::vector<std::string_view> heads;
  for (const auto& [name, penalty] : penalties()) heads.push_back(name);
  std::string text = fmt::format("{}: {}\n", solver.name, solver.summary) + line_of("", heads, heads);
  loss::for_each_chosen_type([&]<class L>(std::type_identity<L>) {
    std::vector<std::string_view> cells;
    for (const auto& [name, penalty] : penalties()) {
      cells.push_back(registry::missing(solver.name, L{}, penalty) ? "-" : "yes");
    }
    text += line_of(L::name, cells, heads);
  });
  return text + fmt::format("  with --bias {}\n", fmt::join(bias_names(), ", "));
}

Json json_of(const registry::SolverEntry& solver) {
  Json supports = Json::array();
  loss::for_each_chosen_type([&]<class L>(std::type_identity<L>) {
    const std::vector<std::string_view> names = supported_penalties(solver, L{});
    if (!names.empty()) supports.push_back({{"loss", L::name}, {"penalties", names}});
  });
  return {{"name", solver.name}, {"summary", solver.summary}, {"bias", bias_names()}, {"supports", supports}};
}

int run_solvers(bool json) {
  if (json) {
    Json list = Json::array();
    for (const registry::SolverEntry& solver : registry::solvers()) list.push_back(json_of(solver));
    print_json(Json{{"solvers", std::move(list)}});
    return exit_done;
  }
  std::string text;
  for (const registry::SolverEntry& solver : registry::solvers()) text += table_of(solver) + "\n";
  text +=
      "For lambda > 0, default parameters and no penalty factor of 0. --l1 a --l2 b counts as elastic-net, or as "
      "l1 or l2\n"
      "where the other is 0; lambda = 0 counts as none. `--solver auto` takes the one of these that is likely "
      "faster.\n";
  print(text);
  return exit_done;
}

}  // namespace

Action add_solvers(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  CLI::App& command =
      *app.add_subcommand("solvers", "the table: solver x loss x penalty x bias, what each supports");
  command.add_flag("--json", *json, "print it as one JSON object");
  return [json] { return run_solvers(*json); };
}

}  // namespace fenchel::cli
