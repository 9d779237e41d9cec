// Arguments of the command line as typed values: numbers in one grammar (no nan, no inf, no hexadecimal), names out
// of a list. Whatever does not fit is Error(Fault::usage) in one sentence that says what would be right.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "fenchel/base/interval.hpp"

namespace fenchel::cli {

struct Range {
  double low = -infinity;
  double high = infinity;
  bool open = false;  // excludes the ends

  [[nodiscard]] bool contains(double x) const { return open ? low < x && x < high : low <= x && x <= high; }
  [[nodiscard]] std::string text() const;  // "a number >= 0"
};

inline constexpr Range any_number{};
inline constexpr Range non_negative{.low = 0.0, .high = infinity, .open = false};
inline constexpr Range positive{.low = 0.0, .high = infinity, .open = true};

// The number that `text` is, whole; `what` names it in the message.
double parse_number(std::string_view text, std::string_view what, const Range& range);

// Options that take a number, a whole number, or text; `target` keeps its value where the option is absent.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<double>& target, const Range& range,
                        const std::string& help);
CLI::Option* add_number(CLI::App& app, const std::string& name, double& target, const Range& range,
                        const std::string& help);
CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& target, std::uint64_t least,
                       const std::string& help);
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target, const std::string& metavar,
                      const std::string& help);
CLI::Option* add_file(CLI::App& app, const std::string& name, std::string& target, const std::string& help);

// An argument without dashes.
CLI::Option* add_positional(CLI::App& app, const std::string& name, std::string& target, const std::string& help);

// The name out of `names` that is most like `wanted`, if any is like it.
std::optional<std::string_view> closest(std::string_view wanted, std::span<const std::string_view> names);

// Throws the refusal of a name: one that belongs to later versions, or one that never was. `option` as typed by
// users.
[[noreturn]] void refuse_name(std::string_view option, std::string_view name,
                              std::span<const std::string_view> available, std::span<const std::string_view> later);

// Throws where two options that exclude each other were both given.
void exclude(const CLI::App& app, std::string_view option, std::initializer_list<std::string_view> others);
bool given(const CLI::App& app, std::string_view option);

}  // namespace fenchel::cli
