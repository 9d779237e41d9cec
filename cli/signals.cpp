#include "cli/signals.hpp"

#include <unistd.h>
#include <csignal>

#include "cli/command.hpp"

namespace fenchel::cli::signals {
namespace {

// Read and written by a signal handler: only lock-free atomics may be.
std::atomic<bool> deferred{false};
std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void handle(int number) {
  const bool repeated = stop.exchange(true) && number == SIGINT;
  if (repeated || !deferred.load()) ::_exit(exit_interrupted);
}

}  // namespace

void install() {
  struct sigaction action = {};
  action.sa_handler = handle;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader that goes away early makes writes fail, which is reported; the default would end the process silently.
  std::signal(SIGPIPE, SIG_IGN);
}

void defer() { deferred.store(true); }
const std::atomic<bool>& interrupted() { return stop; }

}  // namespace fenchel::cli::signals
