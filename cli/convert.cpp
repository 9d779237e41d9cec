// fenchel convert: data from any format to any other, without losing a bit or anything else silently.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/data_input.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "fenchel/base/clock.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/base/memory.hpp"
#include "fenchel/data/source.hpp"
#include "fenchel/data/writer.hpp"

namespace fenchel::cli {
namespace {

struct Convert {
  std::string in_path, out_path, to, compress, labels_out;
  bool columns = false;
  OutputOptions output;
  DataOptions data;
  Threads threads;
};

data::WriteOptions target_of(const Convert& convert) {
  data::FileKind kind = data::kind_of(convert.out_path);
  if (!convert.to.empty()) kind.format = convert.to;
  if (!convert.compress.empty()) kind.compression = convert.compress;
  data::check_kind(kind);
  if (kind.format.empty()) {
    throw Error(Fault::usage,
                convert.out_path == "-"
                    ? "standard output has no extension that names a format: give --to FORMAT"
                    : fmt::format("the extension of {} names no format: give --to FORMAT, or one of .svm .svmlight "
                                  ".libsvm .txt .csv .tsv .npy .mtx .fbin, each also with .gz .zst .bz2 or .xz",
                                  data::quote(convert.out_path)));
  }
  if (convert.columns && kind.format != "fenchel-binary") {
    throw Error(Fault::usage, fmt::format("--columns is for fenchel-binary (.fbin) only, not for {}", kind.format));
  }
  if (!convert.labels_out.empty() && data::holds_labels(kind.format)) {
    throw Error(Fault::usage,
                fmt::format("--labels-out is for npy and mtx: {} holds the labels itself", kind.format));
  }
  data::WriteOptions target{.kind = kind, .labels_path = convert.labels_out, .columns = convert.columns};
  if (target.labels_path.empty() && convert.out_path != "-" && !data::holds_labels(kind.format)) {
    target.labels_path = data::labels_path_for(convert.out_path, kind.format);
  }
  return target;
}

// Neither file may take the place of one that is read, nor of the other.
void check_paths(const Convert& convert, const data::WriteOptions& target) {
  const std::string in = convert.in_path == "-" ? "" : convert.in_path;
  const std::string labels_in = convert.data.labels == "-" ? "" : convert.data.labels;
  if (convert.out_path != "-") check_writable(convert.out_path, {in, labels_in, target.labels_path});
  if (target.labels_path == "-") {
    throw Error(Fault::usage, "--labels-out - is not possible: the labels need a file of their own");
  }
  if (!target.labels_path.empty()) check_writable(target.labels_path, {in, labels_in, convert.out_path});
}

// Where the arrays of a file that may not fit into memory go: next to OUT, since that much room is needed there anyway.
std::string spill_for(const Convert& convert) {
  constexpr std::uintmax_t most_growth = 4;  // of text that becomes arrays, with some room
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(convert.in_path, unknown);
  if (unknown || convert.out_path == "-" || bytes <= usable_memory() / most_growth) return {};
  const std::string directory = std::filesystem::path(convert.out_path).parent_path().string();
  return directory.empty() ? "." : directory;
}

int run_convert(Convert& convert) {
  const Stopwatch clock;
  convert.output.check();
  data::ReadOptions reading = convert.data.resolve();
  reading.spill = spill_for(convert);
  const data::WriteOptions target = target_of(convert);
  check_paths(convert, target);
  if (convert.output.json && convert.out_path == "-") {
    throw Error(Fault::usage, "--json needs a file as OUT, since standard output is for the JSON object then");
  }
  convert.threads.apply();
  const data::Dataset dataset = read_data(convert.in_path, reading, convert.output);
  const std::size_t bytes = data::write(convert.out_path, dataset, target);
  const data::Matrix matrix = dataset.matrix();
  const bool labels_apart = !target.labels_path.empty() && !dataset.targets.empty();
  if (convert.output.json) {
    Json object{{"rows", data::rows(matrix)},
                {"features", data::cols(matrix)},
                {"nonzeros", data::nonzeros(matrix)},
                {"bytes", bytes},
                {"seconds", clock.seconds()},
                {"in", convert.in_path},
                {"out", convert.out_path},
                {"format", target.kind.format}};
    if (!target.kind.compression.empty()) object["compression"] = target.kind.compression;
    if (labels_apart) object["labels"] = target.labels_path;
    print_json(object);
  } else if (!convert.output.quiet) {
    note(fmt::format("{}: {}, {} rows, {} features, {} nonzeros, {} bytes{}\n", convert.out_path,
                     target.kind.format, data::rows(matrix), data::cols(matrix), data::nonzeros(matrix), bytes,
                     labels_apart ? fmt::format("; labels in {}", target.labels_path) : ""));
  }
  return exit_done;
}

}  // namespace

Action add_convert(CLI::App& app) {
  auto convert = std::make_shared<Convert>();
  CLI::App& command = *app.add_subcommand(
      "convert",
      "data from one format to another; to the binary form that is mapped, not parsed\n\n"
      "  svmlight        .svm .svmlight .libsvm .txt   text, sparse rows\n"
      "  csv, tsv        .csv .tsv                     text, dense rows, the label in a column\n"
      "  npy             .npy                          NumPy, dense rows; labels in a second file\n"
      "  mtx             .mtx                          MatrixMarket; labels in a second file\n"
      "  fenchel-binary  .fbin                         mapped when it is read, whatever its size\n\n"
      "Each also compressed: .gz .zst .bz2 .xz. Numbers read back as the same, bit for bit.\n");
  add_positional(command, "IN", convert->in_path, "data, or - for standard input")->required();
  add_positional(command, "OUT", convert->out_path, "file to write, or - for standard output")->required();
  add_text(command, "--to", convert->to, "NAME", "format of OUT (default: by its extension)")->group("Output");
  add_text(command, "--compress", convert->compress, "NAME",
           "gzip, zstd, bzip2 or xz (default: by the extension of OUT)")
      ->group("Output");
  command
      .add_flag("--columns", convert->columns, "store the columns' form too, for solvers that go by column (.fbin)")
      ->group("Output");
  add_file(
      command, "--labels-out", convert->labels_out,
      "where the labels go if OUT is npy or mtx (default: OUT without extensions + .labels.npy or .labels.txt)")
      ->group("Output");
  convert->data.add(command);
  convert->data.add_precision(command);
  convert->threads.add(command);
  command.add_flag("--json", convert->output.json, "print exactly one JSON object on standard output")
      ->group("Output");
  command.add_flag("--quiet", convert->output.quiet, "print nothing but errors")->group("Output");
  return [convert] { return run_convert(*convert); };
}

}  // namespace fenchel::cli
