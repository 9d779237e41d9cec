// Writes data sets in any format the library knows.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "fenchel/base/sink.hpp"
#include "fenchel/data/dataset.hpp"

namespace fenchel::data {

// svmlight text, a row a line, with the shortest numbers that read back as the same doubles, and indexes counted
// from `data.index_base`. Where no row has an entry in the last column, the first row gets an explicit 0 there, so
// that the number of columns survives; likewise for column 0 of 0-based data, so that a reader guesses the base
// right. Data without targets cannot be written so: Error(Fault::usage).
void write_svmlight(Sink& out, const Dataset& data);

// What a file is: names as for --format and --compress; no compression where the name is empty.
struct FileKind {
  std::string format;
  std::string compression;
};
// What a path's extensions say; a format is empty where they say nothing about it.
FileKind kind_of(std::string_view path);
// Error(Fault::usage) for a name that is neither empty nor a format or compression.
void check_kind(const FileKind& kind);
// Whether a file of the format has a place for the labels; otherwise they go into a file of their own.
bool holds_labels(std::string_view format);
// The usual name of that file: the path without its extensions + .labels.npy for npy and .labels.txt for others.
std::string labels_path_for(std::string_view path, std::string_view format);

struct WriteOptions {
  FileKind kind;            // a format must be named
  std::string labels_path;  // for formats that do not hold them; empty: labels_path_for
  bool columns = false;     // fenchel-binary: store the columns' form, too
};

// Writes to a temporary name first, then renames: a file appears whole or not at all. "-" is standard output. What
// the format cannot hold is Error(Fault::usage), and nothing is written then. Gives the bytes of the file.
std::size_t write(const std::string& path, const Dataset& data, const WriteOptions& options);

}  // namespace fenchel::data
