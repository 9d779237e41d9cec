// Any bytes at all: a list of numbers is refused with an Error, or every number is finite and obeys the rules.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fenchel/base/error.hpp"
#include "fenchel/data/list.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(std::string_view text, const fenchel::data::NumberRules& rules) {
  try {
    const auto numbers = fenchel::data::read_numbers(text, "fuzz", rules);
    require(!numbers.empty());
    for (const double number : numbers) require(std::isfinite(number) && (!rules.non_negative || number >= 0));
  } catch (const fenchel::Error& error) {
    require(error.fault() == fenchel::Fault::input && std::string_view(error.what()).starts_with("fuzz:"));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check(text, {});
  check(text, {.non_negative = true});
  return 0;
}
