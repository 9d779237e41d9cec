// Writes whole files so that a crash or a full disk never leaves half a file, nor destroys the one that was there.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fenchel/base/sink.hpp"

namespace fenchel {

// Writes under `path` what it is given: into a nameless (else a temporary) file of the same directory, which is
// synchronised and renamed into place by finish(). A symbolic link is followed. What exists and is no regular file (a
// pipe, a device) is written to as it is, and so is standard output for the path "-". Throws
// Error(Fault::failure, "PATH: cannot write: reason"); the temporary is gone and the old file untouched then.
std::unique_ptr<Sink> file_sink(const std::string& path);

// Puts `content` under `path`, in the same way, except that "-" is a file of that name.
void write_file(const std::string& path, std::string_view content);

}  // namespace fenchel
