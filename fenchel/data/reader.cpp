#include "fenchel/data/reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/binary.hpp"
#include "fenchel/data/csv.hpp"
#include "fenchel/data/list.hpp"
#include "fenchel/data/matrix_market.hpp"
#include "fenchel/data/npy.hpp"
#include "fenchel/data/source.hpp"
#include "fenchel/data/svmlight.hpp"

namespace fenchel::data {

namespace {

constexpr std::array<std::string_view, 6> formats{"svmlight", "csv", "tsv", "npy", "mtx", "fenchel-binary"};

constexpr std::string_view whitespace = " \t\r";

// The first line that says something.
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    const std::size_t begin = std::min(line.find_first_not_of(whitespace), line.size());
    line = line.substr(begin, line.find_last_not_of(whitespace) + 1 - begin);
    if (!line.empty() && line.front() != '#') return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// `label index:value ...`, where the label may be several ones with commas between them.
bool like_svmlight(std::string_view line) {
  const std::size_t label_end = std::min(line.find_first_of(whitespace), line.size());
  const std::string_view label = line.substr(0, label_end);
  if (label.find_first_not_of("0123456789+-.eE,") != std::string_view::npos) {
    return label.find_first_not_of("0123456789:+-.eE") == std::string_view::npos;  // only the label is missing
  }
  const std::size_t next = line.find_first_not_of(whitespace, label_end);
  if (next == std::string_view::npos) return label.find(',') == std::string_view::npos;
  const std::string_view entry = line.substr(next, line.find_first_of(whitespace, next) - next);
  return entry.find_first_of(":#") != std::string_view::npos;
}

// A table has cells between commas, semicolons or tabs.
std::string_view text_format(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::string_view line = first_line(head);
  if (like_svmlight(line)) return "svmlight";
  const auto tabs = std::count(line.begin(), line.end(), '\t');
  const auto others = std::count_if(line.begin(), line.end(), [](char c) { return c == ',' || c == ';'; });
  if (tabs == 0 && others == 0) return "svmlight";
  return tabs > others ? "tsv" : "csv";
}

void check_format_name(const std::string& format) {
  if (format.empty() || std::find(formats.begin(), formats.end(), format) != formats.end()) return;
  throw Error(Fault::usage,
              fmt::format("--format {} is unknown; choose one of: {}", quote(format), fmt::join(formats, ", ")));
}

void check_use(std::string_view format, const ReadOptions& options) {
  const bool table = format == "csv" || format == "tsv";
  const auto refuse = [&](std::string_view option, std::string_view of) {
    throw Error(Fault::usage, fmt::format("{} is for {}, but the data are {}", option, of, format));
  };
  if (!table && !options.label.empty()) refuse("--label", "csv and tsv, whose columns have names or positions");
  if (!table && !options.drop.empty()) refuse("--drop", "csv and tsv, whose columns have names or positions");
  if (options.index_base_demanded && format != "svmlight") refuse("--zero-based", "svmlight");
  if (!options.labels_path.empty() && !options.label.empty() && options.label != "none") {
    throw Error(Fault::usage, "--label and --labels exclude each other: give only one of them");
  }
}

Dataset read_as(std::string_view format, Source& source, const ReadOptions& options) {
  if (format == "csv") return read_csv(source, options, '\0');
  if (format == "tsv") return read_csv(source, options, '\t');
  if (format == "npy") return read_npy(source, options);
  if (format == "mtx") return read_matrix_market(source, options);
  if (format == "fenchel-binary") return read_binary(source, options);
  return read_svmlight(source, options);
}

std::vector<double> read_labels(const std::string& path) {
  Source source(path);
  if (source.head().starts_with(npy_magic)) return read_npy_vector(source);
  return read_numbers(source.text(), source.name());
}

void take_labels(Dataset& data, const std::string& path, const std::string& name) {
  std::vector<double> labels = read_labels(path);
  if (labels.size() != data.rows()) {
    throw Error(Fault::input, fmt::format("{}: holds {} labels, but {} has {} rows: one label a row is needed",
                                          path, labels.size(), name, data.rows()));
  }
  data.targets = std::move(labels);
}

void make_binary(Dataset& data, double positive, const std::string& name) {
  if (data.targets.empty()) {
    throw Error(Fault::usage,
                fmt::format("--positive needs labels, but {} has none: name them with --labels", name));
  }
  std::vector<double> targets = data.targets.vector();
  for (double& target : targets) target = target == positive ? 1.0 : -1.0;
  data.targets = std::move(targets);
}

}  // namespace

std::string_view recognized(std::string_view head, const std::string& name) {
  if (is_binary(head)) return "fenchel-binary";
  if (head.starts_with(npy_magic)) return "npy";
  if (is_matrix_market(head)) return "mtx";
  const bool own = head.starts_with("fenchel\x1a");
  if (own || head.starts_with("solver_type ")) {
    throw Error(Fault::input, fmt::format("{}: is a model of {}, where data are needed (name the format with "
                                          "--format if it is data nevertheless)",
                                          name, own ? "fenchel" : "LIBLINEAR"));
  }
  return text_format(head);
}

Dataset read(const std::string& path, const ReadOptions& options) {
  check_format_name(options.format);
  if (path == "-" && options.labels_path == "-") {
    throw Error(Fault::usage, "data and --labels cannot both come from standard input");
  }
  Source source(path);
  const std::string_view format =
      options.format.empty() ? recognized(source.head(), source.name()) : std::string_view(options.format);
  check_use(format, options);
  ReadOptions resolved = options;
  const bool second_file = !options.labels_path.empty();
  if (second_file && (format == "csv" || format == "tsv")) resolved.label = "none";
  Dataset data = read_as(format, source, resolved);
  if (second_file) take_labels(data, options.labels_path, source.name());
  // The svmlight reader does this itself, since its rows may have several labels.
  if (options.positive && (second_file || format != "svmlight"))
    make_binary(data, *options.positive, source.name());
  // Rows of a mapped file are not looked at before they are used.
  if (auto* const rows = std::get_if<CsrStorage>(&data.storage); rows != nullptr && data.guard == nullptr)
    rows->uniform = rows_are_uniform(*rows);
  return data;
}

}  // namespace fenchel::data
