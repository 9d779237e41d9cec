// Any bytes at all: a list of numbers is refused with an Error, or every number is finite and obeys the rules.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fenchel/base/error.hpp"
#include "fenchel/data/list.hpp"
#include "tests/fuzz/support.hpp"

namespace {

using fenchel::fuzz::require;

void check(std::string_view text, const fenchel::data::NumberRules& rules) {
  fenchel::fuzz::refused([&] {
    const auto numbers = fenchel::data::read_numbers(text, "fuzz", rules);
    require(!numbers.empty());
    for (const double number : numbers) require(std::isfinite(number) && (!rules.non_negative || number >= 0));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  check(text, {});
  check(text, {.non_negative = true});
  return 0;
}
