#include "fenchel/data/list.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::data {

namespace {

constexpr std::string_view blanks = " \t\r";

// The lines that count: whatever is blank at the end of the text is no line.
std::string_view without_blank_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

}  // namespace

std::vector<double> read_numbers(std::string_view text, const std::string& name, const NumberRules& rules) {
  const std::string_view body = without_blank_end(text);
  if (body.empty()) throw Error(Fault::input, fmt::format("{}: holds no numbers: one a line is needed", name));

  std::vector<double> numbers;
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = std::min(body.find('\n', begin), body.size());
    const std::string_view line = body.substr(begin, end - begin);
    const auto fail = [&](std::size_t at, const std::string& reason) { reject(text, name, begin + at, reason); };

    const std::size_t first = line.find_first_not_of(blanks);
    if (first == std::string_view::npos) fail(0, "empty line: one number a line is needed");
    const std::string_view token = line.substr(first, line.find_first_of(blanks, first) - first);
    const ParsedNumber number = parse_number(token.data(), token.data() + token.size());
    if (number.fault == NumberFault::malformed || number.end != token.data() + token.size()) {
      fail(first, fmt::format("{} is not a decimal number", quote(token)));
    }
    if (number.fault == NumberFault::overflow) fail(first, fmt::format("{} overflows a double", quote(token)));
    if (rules.non_negative && number.value < 0) fail(first, fmt::format("{} is negative", quote(token)));
    const std::size_t more = line.find_first_not_of(blanks, first + token.size());
    if (more != std::string_view::npos) {
      fail(more, fmt::format("{} follows a number: one number a line is needed", quote(line.substr(more))));
    }
    numbers.push_back(number.value);
    begin = end + 1;
  }
  return numbers;
}

}  // namespace fenchel::data
