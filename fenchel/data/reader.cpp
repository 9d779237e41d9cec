#include "fenchel/data/reader.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/source.hpp"
#include "fenchel/data/svmlight.hpp"

namespace fenchel::data {

namespace {

constexpr std::string_view formats[] = {"svmlight", "csv", "tsv", "npy", "mtx", "fenchel-binary"};

void check_name(const std::string& format) {
  if (format.empty() || format == "svmlight") return;
  if (std::find(std::begin(formats), std::end(formats), format) == std::end(formats)) {
    throw Error(Fault::usage,
                fmt::format("--format {}: no such format; this version reads svmlight", quote(format)));
  }
  throw Error(Fault::usage,
              fmt::format("--format {} is not available yet: this version reads svmlight only", format));
}

// The first line that says something.
std::string_view first_line(std::string_view text) {
  constexpr std::string_view whitespace = " \t\r";
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

// What the content surely is other than svmlight; empty if nothing speaks against svmlight.
std::string_view foreign_format(std::string_view text) {
  if (text.starts_with("\x93NUMPY")) return "NumPy's npy format";
  if (text.starts_with("%%MatrixMarket")) return "the MatrixMarket format";
  if (text.starts_with("fenchel") || text.starts_with("FENCHEL")) return "a model or binary file of fenchel";
  // A row with more than a label has a colon; one without it, but in cells, is a table.
  const std::string_view line = first_line(text);
  const bool cells = line.find_first_of(",;\t") != std::string_view::npos;
  if (cells && line.find_first_of(":#") == std::string_view::npos) return "CSV or TSV";
  return {};
}

}  // namespace

Dataset read(const std::string& path, const ReadOptions& options) {
  check_name(options.format);
  Source source(path);
  if (options.format.empty()) {
    const std::string_view other = foreign_format(source.head());
    if (!other.empty()) {
      throw Error(Fault::input, fmt::format("{}: looks like {}: this version reads svmlight text only "
                                            "(--format svmlight to try nevertheless)",
                                            source.name(), other));
    }
  }
  return read_svmlight(source, options);
}

}  // namespace fenchel::data
