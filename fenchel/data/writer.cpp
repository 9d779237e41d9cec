#include "fenchel/data/writer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/atomic_file.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/data/binary.hpp"
#include "fenchel/data/compress.hpp"
#include "fenchel/data/csv.hpp"
#include "fenchel/data/matrix_market.hpp"
#include "fenchel/data/npy.hpp"
#include "fenchel/data/source.hpp"
#include "fenchel/data/text_block.hpp"

namespace fenchel::data {

namespace {

struct Extension {
  std::string_view text;
  std::string_view meaning;
};

constexpr Extension format_extensions[] = {
    {".svm", "svmlight"}, {".svmlight", "svmlight"}, {".libsvm", "svmlight"},
    {".txt", "svmlight"}, {".csv", "csv"},           {".tsv", "tsv"},
    {".npy", "npy"},      {".mtx", "mtx"},           {".fbin", "fenchel-binary"}};
constexpr Extension compression_extensions[] = {
    {".gz", "gzip"}, {".zst", "zstd"}, {".bz2", "bzip2"}, {".xz", "xz"}};

// The extension that the path ends with; one without text where it is none of them, or the whole name.
template <std::size_t Count>
Extension find_extension(std::string_view path, const Extension (&known)[Count]) {
  for (const Extension& extension : known) {
    if (!path.ends_with(extension.text)) continue;
    const std::string_view stem = path.substr(0, path.size() - extension.text.size());
    if (!stem.empty() && stem.back() != '/') return extension;
  }
  return {};
}

template <std::size_t Count>
void check_meaning(std::string_view option, const std::string& name, const Extension (&known)[Count]) {
  if (name.empty()) return;
  std::string names;
  for (const Extension& extension : known) {
    if (name == extension.meaning) return;
    if (names.find(extension.meaning) == std::string::npos) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", extension.meaning);
    }
  }
  throw Error(Fault::usage, fmt::format("{} {} is unknown; choose one of: {}", option, quote(name), names));
}

// Counts what reaches the file.
class CountingSink final : public Sink {
 public:
  CountingSink(std::unique_ptr<Sink> out, std::size_t& bytes) : out_(std::move(out)), bytes_(bytes) {}
  void write(std::string_view bytes) override {
    out_->write(bytes);
    bytes_ += bytes.size();
  }
  void finish() override { out_->finish(); }

 private:
  std::unique_ptr<Sink> out_;
  std::size_t& bytes_;
};

void check_holdable(const Dataset& data, const WriteOptions& options) {
  const std::string& format = options.kind.format;
  const bool svmlight = format == "svmlight", binary = format == "fenchel-binary";
  if (!data.query.empty() && !svmlight && !binary) {
    throw Error(Fault::usage, fmt::format("{} has no place for the qid of the rows: write svmlight or "
                                          "fenchel-binary (.fbin) instead",
                                          format));
  }
  if (options.columns && !binary) {
    throw Error(Fault::usage, fmt::format("--columns is for fenchel-binary (.fbin) only, not for {}", format));
  }
}

void write_matrix(Sink& out, const Dataset& data, const WriteOptions& options) {
  const std::string& format = options.kind.format;
  if (format == "svmlight") return write_svmlight(out, data);
  if (format == "csv") return write_csv(out, data, ',');
  if (format == "tsv") return write_csv(out, data, '\t');
  if (format == "npy") return write_npy(out, data);
  if (format == "mtx") return write_matrix_market(out, data);
  write_binary(out, data, {.columns = options.columns});
}

void write_label_lines(Sink& out, std::span<const double> labels) {
  write_in_order(out, labels.size(), items_in_block(labels.size(), labels.size()),
                 [&](TextBlock& block, std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) {
                     block.add(labels[i]);
                     block.add('\n');
                   }
                 });
}

std::unique_ptr<Sink> open_labels(const std::string& path, std::span<const double> labels) {
  const FileKind kind = kind_of(path);
  std::unique_ptr<Sink> out = file_sink(path);
  if (!kind.compression.empty()) out = compressed(std::move(out), kind.compression);
  if (kind.format == "npy") {
    write_npy_vector(*out, labels);
  } else {
    write_label_lines(*out, labels);
  }
  return out;
}

}  // namespace

FileKind kind_of(std::string_view path) {
  const Extension compression = find_extension(path, compression_extensions);
  path.remove_suffix(compression.text.size());
  const Extension format = find_extension(path, format_extensions);
  return {std::string(format.meaning), std::string(compression.meaning)};
}

void check_kind(const FileKind& kind) {
  check_meaning("--to", kind.format, format_extensions);
  check_meaning("--compress", kind.compression, compression_extensions);
}

bool holds_labels(std::string_view format) { return format != "npy" && format != "mtx"; }

std::string labels_path_for(std::string_view path, std::string_view format) {
  path.remove_suffix(find_extension(path, compression_extensions).text.size());
  path.remove_suffix(find_extension(path, format_extensions).text.size());
  return std::string(path) + (format == "npy" ? ".labels.npy" : ".labels.txt");
}

std::size_t write(const std::string& path, const Dataset& data, const WriteOptions& options) {
  check_kind(options.kind);
  if (options.kind.format.empty()) throw Error(Fault::usage, "a format to write must be named");
  check_holdable(data, options);
  const bool apart = !holds_labels(options.kind.format) && !data.targets.empty();
  if (apart && path == "-" && options.labels_path.empty()) {
    throw Error(Fault::usage, fmt::format("{} has no place for the labels: give them a file of their own with "
                                          "--labels-out",
                                          options.kind.format));
  }
  std::size_t bytes = 0;
  std::unique_ptr<Sink> out = std::make_unique<CountingSink>(file_sink(path), bytes);
  if (!options.kind.compression.empty()) out = compressed(std::move(out), options.kind.compression);
  write_matrix(*out, data, options);
  std::unique_ptr<Sink> labels;
  if (apart) {
    const bool named = !options.labels_path.empty();
    labels = open_labels(named ? options.labels_path : labels_path_for(path, options.kind.format), data.targets);
  }
  // Both are complete now: nothing but the disk can keep one of them from appearing.
  if (labels) labels->finish();
  out->finish();
  return bytes;
}

}  // namespace fenchel::data
