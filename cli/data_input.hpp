// Data and files as commands take them.
#pragma once

#include <initializer_list>
#include <string>

#include "cli/options.hpp"
#include "fenchel/data/reader.hpp"

namespace fenchel::cli {

// Reads data and shows what their reader had to guess, unless nothing is to be printed.
data::Dataset read_data(const std::string& path, const data::ReadOptions& options, const OutputOptions& output);
// The same for commands that learn from labels: data without them are bad input.
data::Dataset read_labeled_data(const std::string& path, const data::ReadOptions& options,
                                const OutputOptions& output);

// Long work must not end at a place that cannot be written, nor replace what it read. Empty names in `used` are none.
void check_writable(const std::string& path, std::initializer_list<std::string> used);

}  // namespace fenchel::cli
