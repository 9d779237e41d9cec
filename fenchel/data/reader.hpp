// Reads data of any format the library knows: named, or recognised by its content.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fenchel/data/dataset.hpp"

namespace fenchel::data {

struct ReadOptions {
  std::string format = {};             // as for --format; empty: recognise the content
  std::optional<int> index_base = {};  // of the file, 0 or 1; empty: 0 if index 0 occurs, else 1
  bool index_base_demanded = false;    // formats whose columns have no written indexes refuse it then
  Precision precision = Precision::f64;
  std::optional<double> positive = {};  // targets become 1 where the label (one of the labels) is this, else -1
  std::string label = {};               // csv, tsv: the label's column, by name or position; "none": there is none
  std::vector<std::string> drop = {};   // csv, tsv: columns to leave out, by name or position
  std::string labels_path = {};         // a second file with one label a row: npy or a number a line
  std::string spill = {};               // a directory for arrays that may not fit into memory; empty: memory
};

// The name of the format that a file beginning so has; svmlight where nothing speaks for another one.
// Error(Fault::input) where it is no data at all but a model; `name` is for that message.
std::string_view recognized(std::string_view head, const std::string& name);

// `path` may be "-" for standard input. Bad content is Error(Fault::input), a bad format name or an option that the
// format has no use for Error(Fault::usage).
Dataset read(const std::string& path, const ReadOptions& options = {});

}  // namespace fenchel::data
