// Numbers in text: the one grammar of a number that every text reader shares, and lists of one number a line
// (sample weights, penalty factors, plain weight vectors).
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fast_float/fast_float.h>

namespace fenchel::data {

enum class NumberFault { none, malformed, overflow };

struct ParsedNumber {
  double value = 0.0;
  const char* end = nullptr;  // one behind the number; meaningless if malformed
  NumberFault fault = NumberFault::none;
};

// The longest decimal number at the front of [first, last), rounded correctly and independent of the locale: an
// optional sign, digits with an optional point, an optional exponent. No nan, no inf, no hexadecimal. Too large
// for a double is a fault; too small is not, and gives the nearest double, 0 included.
inline ParsedNumber parse_number(const char* first, const char* last) {
  const char* digits = first;
  if (digits != last && (*digits == '+' || *digits == '-')) ++digits;
  // fast_float itself would take the words nan and inf, and refuses a plus sign.
  const bool starts = digits != last && ((*digits >= '0' && *digits <= '9') || *digits == '.');
  if (!starts) return {0.0, first, NumberFault::malformed};
  ParsedNumber number;
  const auto [end, code] = fast_float::from_chars(*first == '+' ? digits : first, last, number.value);
  number.end = end;
  // The code for "out of range" is no help: versions differ on whether underflow has it, and overflow lacks it.
  if (code == std::errc::invalid_argument) {
    number.fault = NumberFault::malformed;
  } else if (!std::isfinite(number.value)) {
    number.fault = NumberFault::overflow;
  }
  return number;
}

struct NumberRules {
  bool non_negative = false;
};

// One number a line, at least one; blanks around it and CRLF are accepted, an empty line is not, except at the end.
// Anything else is Error(Fault::input, "NAME:LINE:COLUMN: reason").
std::vector<double> read_numbers(std::string_view text, const std::string& name, const NumberRules& rules = {});

}  // namespace fenchel::data
