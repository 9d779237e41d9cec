#include "cli/progress.hpp"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/report.hpp"
#include "fenchel/base/error.hpp"

namespace fenchel::cli {
namespace {

using namespace std::chrono_literals;

std::string describe(const run::Progress& progress) {
  const problem::Certificate& c = progress.certificate;
  return fmt::format("{:.0f} passes, primal {:.8g}, dual {:.8g}, gap {} ({} relative)", progress.passes, c.primal,
                     c.dual, upward(c.gap), upward(c.relative_gap()));
}

}  // namespace

Trace::Trace(const std::string& path) : path_(path), file_(path) {
  if (!file_) throw Error(Fault::failure, fmt::format("{}: the trace cannot be written", path));
}

void Trace::write(const run::Progress& progress) {
  const problem::Certificate& c = progress.certificate;
  if (!c.valid()) return;  // no bound, nothing true to say
  nlohmann::ordered_json line{{"seconds", progress.seconds},
                              {"passes", progress.passes},
                              {"primal", c.primal},
                              {"dual", c.dual},
                              {"gap", c.gap}};
  if (progress.outputs > 1) line["output"] = progress.output;  // the place of its class in `classes`
  file_ << line.dump() << '\n' << std::flush;
  if (!file_) throw Error(Fault::failure, fmt::format("{}: the trace cannot be written (disk full?)", path_));
}

ProgressLine::ProgressLine() : worker_([this] { work(); }) {}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  worker_.join();
  if (shown_) note("\r\033[K");
}

void ProgressLine::update(const run::Progress& progress) {
  const std::lock_guard lock(mutex_);
  latest_ = progress;
}

void ProgressLine::work() {
  std::unique_lock lock(mutex_);
  if (wake_.wait_for(lock, 1s, [this] { return done_; })) return;
  do {
    const std::string news = latest_ ? describe(*latest_) : "no certificate yet";
    note(fmt::format("\r\033[K{:.1f} s: {}", clock_.seconds(), news));
    shown_ = true;
  } while (!wake_.wait_for(lock, 250ms, [this] { return done_; }));
}

Monitor::Monitor(const OutputOptions& output, const std::string& trace_path) : verbose_(output.verbose) {
  if (!trace_path.empty()) trace_.emplace(trace_path);
  if (!output.quiet && !output.verbose && on_terminal()) line_.emplace();
}

void Monitor::attach(run::Options& options) {
  options.certify_often = trace_.has_value();
  options.observe = [this](const run::Progress& progress) { observe(progress); };
}

void Monitor::observe(const run::Progress& progress) {
  if (trace_) trace_->write(progress);
  if (line_) line_->update(progress);
  if (verbose_) note(fmt::format("{:.2f} s: {}\n", progress.seconds, describe(progress)));
}

}  // namespace fenchel::cli
