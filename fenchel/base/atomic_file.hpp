// Writes whole files so that a crash or a full disk never leaves half a file, nor destroys the one that was there.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fenchel/base/sink.hpp"

namespace fenchel {

// Puts `content` under `path`: into a temporary file of the same directory, synchronised, then renamed into place.
// A symbolic link is followed. What exists and is no regular file (a pipe, a device) is written to as it is.
// Throws Error(Fault::failure, "PATH: cannot write: reason"); the temporary is gone and the old file untouched then.
void write_file(const std::string& path, std::string_view content);

std::unique_ptr<Sink> file_sink(const std::string& path);

}  // namespace fenchel
