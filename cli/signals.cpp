#include "cli/signals.hpp"

#include <unistd.h>
#include <csignal>
#include <string_view>

#include "cli/command.hpp"
#include "fenchel/base/error.hpp"

namespace fenchel::cli::signals {
namespace {

// Read and written by a signal handler: only lock-free atomics may be.
std::atomic<bool> deferred{false};
std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// Only async-signal-safe calls are allowed.
[[noreturn]] void leave(std::string_view sentence, int code) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, sentence.data(), sentence.size());
  ::_exit(code);
}

extern "C" void handle(int number) {
  const bool repeated = stop.exchange(true) && number == SIGINT;
  if (repeated) leave("fenchel: interrupted again; left at once\n", exit_interrupted);
  if (!deferred.load()) leave("fenchel: interrupted before there was anything to keep\n", exit_interrupted);
}

// A mapped file that others cut short while we read it: its pages are gone.
extern "C" void lost_pages(int /*number*/) {
  leave("fenchel: a file became shorter while it was read, or its disk failed\n", static_cast<int>(Fault::input));
}

}  // namespace

void install() {
  struct sigaction action = {};
  action.sa_handler = handle;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = lost_pages;
  sigaction(SIGBUS, &action, nullptr);
  // A reader that goes away early makes writes fail, which is reported; the default would end the process silently.
  std::signal(SIGPIPE, SIG_IGN);
}

void defer() { deferred.store(true); }
const std::atomic<bool>& interrupted() { return stop; }

}  // namespace fenchel::cli::signals
