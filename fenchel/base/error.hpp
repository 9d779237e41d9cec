// The one exception type of the library. What went wrong is a kind and one sentence that names the cure.
#pragma once

#include <stdexcept>
#include <string>

namespace fenchel {

// The kinds map one to one onto the exit codes of the command line.
enum class Fault {
  failure = 1,  // out of memory, cannot write, a claim refuted
  usage = 2,    // an option or argument is wrong
  input = 3,    // data or model file is bad
};

class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& sentence) : std::runtime_error(sentence), fault_(fault) {}
  [[nodiscard]] Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

}  // namespace fenchel
