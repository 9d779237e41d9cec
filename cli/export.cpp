// fenchel export: the weights of a model for other tools.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/report.hpp"
#include "fenchel/base/atomic_file.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/model/export.hpp"
#include "fenchel/model/file.hpp"

namespace fenchel::cli {
namespace {

struct Export {
  std::string model_path, out_path, format;
  bool quiet = false;
};

int run_export(const Export& wanted) {
  const auto formats = model::export_formats();
  if (wanted.format.empty()) {
    throw Error(Fault::usage, fmt::format("--format is needed; choose one of: {}", fmt::join(formats, ", ")));
  }
  if (std::ranges::find(formats, wanted.format) == formats.end())
    refuse_name("--format", wanted.format, formats, {});
  const model::Model model = model::load(wanted.model_path);
  if (wanted.out_path == "-") {
    print(model::export_bytes(model, wanted.format));
    return exit_done;
  }
  model::export_file(model, wanted.format, wanted.out_path);
  if (!wanted.quiet) note(fmt::format("{} written\n", wanted.out_path));
  return exit_done;
}

}  // namespace

Action add_export(CLI::App& app) {
  auto wanted = std::make_shared<Export>();
  CLI::App& command = *app.add_subcommand("export",
                                          "write the weights for other tools\n\n  liblinear  a model file for "
                                          "liblinear-predict: any bias becomes `bias 1` and a "
                                          "last row\n  csv        feature,weight (or one column a class), and a "
                                          "last row `bias`\n  json       weights, bias, "
                                          "classes, loss, penalty, lambda; numbers read back exactly\n  npy        "
                                          "the weights alone, float64, without the "
                                          "bias\n");
  add_positional(command, "MODEL", wanted->model_path, "a model of fenchel")->required();
  add_positional(command, "OUT", wanted->out_path, "the file to write, or - for standard output")->required();
  add_text(command, "--format", wanted->format, "NAME", "liblinear, csv, json or npy; must be given");
  command.add_flag("--quiet", wanted->quiet, "print nothing but errors");
  return [wanted] { return run_export(*wanted); };
}

}  // namespace fenchel::cli
