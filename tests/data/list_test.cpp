// Lists of numbers: one a line, every fault with its place; and how faults are quoted.
#include "fenchel/data/list.hpp"

#include <cfloat>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/source.hpp"
#include "tests/support/refusal.hpp"

namespace fenchel::data::list_test {
namespace {

using Numbers = std::vector<double>;

std::string refusal(const std::string& text, const NumberRules& rules = {}) {
  return test::refusal(Fault::input, [&] { read_numbers(text, "w", rules); });
}

TEST(List, OneNumberALine) {
  EXPECT_EQ(read_numbers("1\n-2.5\n+3e2\n.5\n0.1\n1e-999\n", "w"), (Numbers{1, -2.5, 300, 0.5, 0.1, 0}));
  EXPECT_EQ(read_numbers("1", "w"), (Numbers{1}));
  EXPECT_EQ(read_numbers("1\r\n2\r\n", "w"), (Numbers{1, 2}));
  EXPECT_EQ(read_numbers(" 1\t\n\t2 \n", "w"), (Numbers{1, 2}));
  EXPECT_EQ(read_numbers("1\n2\n\n \r\n\t", "w"), (Numbers{1, 2}));  // empty lines at the end
  EXPECT_EQ(read_numbers("1.7976931348623157e308", "w"), (Numbers{DBL_MAX}));
}

TEST(List, EmptyLinesAreRefusedElsewhere) {
  EXPECT_EQ(refusal("1\n\n2\n"), "w:2:1: empty line: one number a line is needed");
  EXPECT_EQ(refusal("\n1\n"), "w:1:1: empty line: one number a line is needed");
  EXPECT_EQ(refusal("1\n2\n \r\n3"), "w:3:1: empty line: one number a line is needed");
}

TEST(List, NothingIsNoList) {
  EXPECT_EQ(refusal(""), "w: holds no numbers: one a line is needed");
  EXPECT_EQ(refusal("\n \n"), "w: holds no numbers: one a line is needed");
}

TEST(List, OnlyDecimalNumbers) {
  for (const std::string word :
       {"nan", "-inf", "Infinity", "0x10", "1e", "+", "+-1", "x", "1,2", "1:2", "#", "."}) {
    EXPECT_EQ(refusal("1\n " + word + "\n"), "w:2:2: '" + word + "' is not a decimal number");
  }
  EXPECT_EQ(refusal("1\n1e400\n"), "w:2:1: '1e400' overflows a double");
  EXPECT_EQ(refusal(std::string("1\n\0002\n", 5)), "w:2:1: '\\x002' is not a decimal number");
  EXPECT_EQ(refusal("1\n2 3 4\n"), "w:2:3: '3 4' follows a number: one number a line is needed");
  EXPECT_EQ(refusal("1\r2\n"), "w:1:3: '2' follows a number: one number a line is needed");
}

TEST(List, NonNegative) {
  EXPECT_EQ(read_numbers("0\n-0\n2\n", "w", {.non_negative = true}), (Numbers{0, 0, 2}));
  EXPECT_EQ(refusal("1\n 2\n  -0.5\n", {.non_negative = true}), "w:3:3: '-0.5' is negative");
}

TEST(Number, EndsWhereTheNumberEnds) {
  const std::string text = "-1.5e3x";
  const ParsedNumber number = parse_number(text.data(), text.data() + text.size());
  EXPECT_EQ(number.fault, NumberFault::none);
  EXPECT_EQ(number.value, -1500);
  EXPECT_EQ(*number.end, 'x');
  EXPECT_EQ(parse_number(text.data(), text.data()).fault, NumberFault::malformed);
}

TEST(Quote, AtMostFortyCharacters) {
  EXPECT_EQ(quote(std::string(40, 'x')), "'" + std::string(40, 'x') + "'");
  EXPECT_EQ(quote(std::string(41, 'x')), "'" + std::string(37, 'x') + "...'");
  EXPECT_EQ(quote(std::string(10, '\1')),
            "'"
            R"(\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01)"
            "'");
  EXPECT_EQ(quote(std::string(11, '\1')),
            "'"
            R"(\x01\x01\x01\x01\x01\x01\x01\x01\x01...)"
            "'");
  EXPECT_EQ(quote("a\\b'"), R"('a\x5cb'')");
}

}  // namespace
}  // namespace fenchel::data::list_test
