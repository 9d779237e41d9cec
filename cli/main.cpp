// fenchel: the command line. Finds the command, checks its words, runs it, and turns errors into one line on
// standard error and an exit code.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include <malloc.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cli/signals.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/base/version.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::cli {
namespace {

// Words of the contract that later versions will know.
constexpr std::array<std::string_view, 3> later_commands{"path", "cv", "bench"};
constexpr std::array<std::string_view, 6> later_options{"--groups", "--group-size",       "--shape",
                                                        "--fusion", "--lambda-min-ratio", "--lambdas"};

// The first line of a command's description is its summary in the list of commands.
class Help : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* command) const override {
    const std::string text = command->get_description();
    return fmt::format("  {:<10} {}\n", command->get_name(), text.substr(0, text.find('\n')));
  }
};

class Program {
 public:
  Program()
      : app_("Regularized risk minimization with optimality certificates: minimizes over w and b\n\n    " +
                 std::string(objective_text) + "\n\nand says how far from the optimum the answer is at most.\n",
             "fenchel") {
    app_.formatter(std::make_shared<Help>());
    app_.get_formatter()->column_width(36);
    app_.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app_.set_help_flag("-h,--help", "print this help");
    app_.require_subcommand(1);
    for (const auto add :
         {add_train, add_predict, add_certify, add_export, add_convert, add_generate, add_info, add_solvers}) {
      actions_.push_back(add(app_));
    }
    const std::string line = fmt::format("fenchel {}", version);
    app_.set_version_flag("--version", line, "print the version");
    for (CLI::App* command : commands()) {
      command->set_version_flag("--version", line, "print the version");
      command->group("Commands");
    }
    app_.footer("`fenchel COMMAND --help` explains a command, its options and their formulas.");
  }

  int run(int argc, char** argv) {
    check_words({argv + 1, argv + argc});
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& success) {  // --help, --version
      return app_.exit(success);
    } catch (const CLI::ExtrasError&) {
      throw Error(Fault::usage, fmt::format("unexpected argument: {} (see `{} --help`)",
                                            fmt::join(app_.remaining(true), " "), called()));
    } catch (const CLI::ParseError& error) {
      throw Error(Fault::usage, fmt::format("{} (see `{} --help`)", sentence(error), called()));
    }
    const std::vector<CLI::App*> all = commands();
    const auto at = std::find_if(all.begin(), all.end(), [](const CLI::App* command) { return command->parsed(); });
    return actions_[static_cast<std::size_t>(at - all.begin())]();
  }

 private:
  [[nodiscard]] std::vector<CLI::App*> commands() {
    return app_.get_subcommands([](CLI::App*) { return true; });
  }

  // Unknown commands and long options, before the parser takes them for something else.
  void check_words(const std::vector<std::string>& words) {
    if (words.empty()) throw Error(Fault::usage, "a command is needed (see `fenchel --help`)");
    if (words.front().starts_with("-")) return check_options(app_, words);
    for (CLI::App* command : commands()) {
      if (command->get_name() == words.front()) return check_options(*command, words);
    }
    std::vector<std::string_view> names;
    const auto all = commands();
    names.reserve(all.size());
    for (const CLI::App* command : all) names.emplace_back(command->get_name());
    refuse_name("command", words.front(), names, later_commands);
  }

  static void check_options(const CLI::App& command, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      if (word == "--") return;
      if (!word.starts_with("--")) continue;
      const std::string name = word.substr(0, word.find('='));
      if (command.get_option_no_throw(name) == nullptr) refuse_option(command, name);
    }
  }

  [[noreturn]] static void refuse_option(const CLI::App& command, const std::string& name) {
    const std::string caller = command.get_parent() != nullptr ? "fenchel " + command.get_name() : "fenchel";
    if (std::find(later_options.begin(), later_options.end(), name) != later_options.end()) {
      throw Error(Fault::usage, fmt::format("{} is not part of this version (see `{} --help`)", name, caller));
    }
    std::vector<std::string> known;
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& known_name : option->get_lnames()) known.push_back("--" + known_name);
    }
    const std::vector<std::string_view> views(known.begin(), known.end());
    const auto like = closest(name, views);
    throw Error(Fault::usage, fmt::format("{} has no option {}{} (see `{} --help`)", caller, data::quote(name),
                                          like ? fmt::format("; did you mean {}?", *like) : "", caller));
  }

  // The parser's message as one line.
  static std::string sentence(const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  [[nodiscard]] std::string called() {
    for (const CLI::App* command : commands()) {
      if (command->parsed()) return "fenchel " + command->get_name();
    }
    return "fenchel";
  }

  CLI::App app_;
  std::vector<Action> actions_;  // in the order of the commands
};

// Vectors that come and go with every certificate use the same memory again: given back, it would come back as fresh pages,
// which the system has to clear first.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that is accepted
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

int fail(Fault fault, std::string_view sentence) {
  note(fmt::format("fenchel: {}\n", sentence));
  return static_cast<int>(fault);
}

}  // namespace
}  // namespace fenchel::cli

int main(int argc, char** argv) {
  using fenchel::Fault;
  fenchel::cli::keep_freed_memory();
  fenchel::cli::signals::install();
  try {
    return fenchel::cli::Program().run(argc, argv);
  } catch (const fenchel::Error& error) {
    return fenchel::cli::fail(error.fault(), error.what());
  } catch (const std::bad_alloc&) {
    return fenchel::cli::fail(Fault::failure, "out of memory");
  } catch (const std::exception& error) {
    return fenchel::cli::fail(Fault::failure, error.what());
  }
}
