// Ctrl-C and SIGTERM. Until `defer` is called there is nothing to keep, and either ends the process at once with
// exit code 130; afterwards they ask the fit to stop at its next check. A second Ctrl-C always ends at once.
#pragma once

#include <atomic>

namespace fenchel::cli::signals {

void install();
void defer();
const std::atomic<bool>& interrupted();

}  // namespace fenchel::cli::signals
