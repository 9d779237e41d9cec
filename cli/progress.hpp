// What is shown and written while a fit runs: a line on the terminal, every certificate under --verbose, the trace
// file.
#pragma once

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/options.hpp"
#include "fenchel/base/clock.hpp"
#include "fenchel/run/run.hpp"

namespace fenchel::cli {

// One JSON object a line, flushed as it comes, so that others can follow.
class Trace {
 public:
  // Opens the file at once: Error(Fault::failure) if it cannot be written.
  explicit Trace(const std::string& path);
  void write(const run::Progress& progress);

 private:
  std::string path_;
  std::ofstream file_;
};

// One line on standard error, rewritten in place from the first second on, whether or not there is news.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // takes the line away again
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const run::Progress& progress);

 private:
  void work();

  Stopwatch clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<run::Progress> latest_;
  bool done_ = false;
  bool shown_ = false;
  std::thread worker_;
};

class Monitor {
 public:
  Monitor(const OutputOptions& output, const std::string& trace_path);

  // Makes a run report to this monitor, which has to outlive it.
  void attach(run::Options& options);

 private:
  void observe(const run::Progress& progress);

  bool verbose_;
  std::optional<Trace> trace_;
  std::optional<ProgressLine> line_;
};

}  // namespace fenchel::cli
