// What the commands share. A command registers its arguments and gives back what to do when it is called; the
// result is the exit code.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace fenchel::cli {

// Exit codes that are not errors; those of errors are the values of `Fault`.
inline constexpr int exit_done = 0;
inline constexpr int exit_refuted = 1;
inline constexpr int exit_stopped_early = 4;
inline constexpr int exit_interrupted = 130;

using Action = std::function<int()>;

Action add_train(CLI::App& app);
Action add_predict(CLI::App& app);
Action add_certify(CLI::App& app);
Action add_export(CLI::App& app);
Action add_convert(CLI::App& app);
Action add_info(CLI::App& app);
Action add_solvers(CLI::App& app);
Action add_generate(CLI::App& app);

}  // namespace fenchel::cli
