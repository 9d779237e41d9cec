#include "cli/data_input.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "cli/report.hpp"
#include "fenchel/base/error.hpp"

namespace fenchel::cli {

data::Dataset read_data(const std::string& path, const data::ReadOptions& options, const OutputOptions& output) {
  data::Dataset dataset = data::read(path, options);
  if (!dataset.remark.empty() && !output.quiet) note(fmt::format("fenchel: note: {}\n", dataset.remark));
  return dataset;
}

data::Dataset read_labeled_data(const std::string& path, const data::ReadOptions& options,
                                const OutputOptions& output) {
  data::Dataset dataset = read_data(path, options, output);
  if (dataset.targets.empty()) {
    throw Error(Fault::input,
                fmt::format("{}: has no labels: name a file with them by --labels FILE, or their column in csv and "
                            "tsv by --label",
                            path == "-" ? "<stdin>" : path));
  }
  return dataset;
}

void check_writable(const std::string& path, std::initializer_list<std::string> used) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!directory.empty() && !std::filesystem::is_directory(directory, ignored)) {
    throw Error(Fault::failure,
                fmt::format("{}: cannot write: there is no directory {}", path, directory.string()));
  }
  for (const std::string& other : used) {
    if (!other.empty() && (path == other || std::filesystem::equivalent(path, other, ignored))) {
      throw Error(Fault::usage,
                  fmt::format("{} would be overwritten: it is used for something else already", path));
    }
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(Fault::failure, fmt::format("{}: cannot write: it is a directory", path));
  }
}

}  // namespace fenchel::cli
