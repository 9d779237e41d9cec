#include "cli/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/list.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::cli {
namespace {

// The number of letters to insert, drop or change.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string Range::text() const {
  if (low == -infinity && high == infinity) return "a number";
  if (high == infinity || high >= 1e300) return fmt::format("a number {} {}", open ? ">" : ">=", low);
  return fmt::format("a number {}between {} and {}", open ? "strictly " : "", low, high);
}

double parse_number(std::string_view text, std::string_view what, const Range& range) {
  const data::ParsedNumber number = data::parse_number(text.data(), text.data() + text.size());
  const bool whole = number.fault == data::NumberFault::none && number.end == text.data() + text.size();
  if (!whole || !range.contains(number.value)) {
    throw Error(Fault::usage, fmt::format("{} {}: {} is needed", what, data::quote(text), range.text()));
  }
  return number.value;
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<double>& target, const Range& range,
                        const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [&target, name, range](const std::string& text) { target = parse_number(text, name, range); }, help)
      ->type_name("X");
}

CLI::Option* add_number(CLI::App& app, const std::string& name, double& target, const Range& range,
                        const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [&target, name, range](const std::string& text) { target = parse_number(text, name, range); }, help)
      ->type_name("X");
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::uint64_t& target, std::uint64_t least,
                       const std::string& help) {
  const auto take = [&target, name, least](const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size() || value < least) {
      throw Error(Fault::usage,
                  fmt::format("{} {}: a whole number >= {} is needed", name, data::quote(text), least));
    }
    target = value;
  };
  return app.add_option_function<std::string>(name, take, help)->type_name("N");
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target, const std::string& metavar,
                      const std::string& help) {
  return app.add_option(name, target, help)->type_name(metavar);
}

CLI::Option* add_file(CLI::App& app, const std::string& name, std::string& target, const std::string& help) {
  return add_text(app, name, target, "FILE", help);
}

CLI::Option* add_positional(CLI::App& app, const std::string& name, std::string& target, const std::string& help) {
  return app.add_option(name, target, help)->type_name("");
}

std::optional<std::string_view> closest(std::string_view wanted, std::span<const std::string_view> names) {
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(2, wanted.size() / 3) + 1;  // farther is no likeness
  for (const std::string_view name : names) {
    const std::size_t d = distance(wanted, name);
    const bool begins = wanted.size() >= 3 && name.starts_with(wanted);
    if (begins || d < least) {
      best = name;
      least = begins ? 0 : d;
    }
  }
  return best;
}

void refuse_name(std::string_view option, std::string_view name, std::span<const std::string_view> available,
                 std::span<const std::string_view> later) {
  if (std::find(later.begin(), later.end(), name) != later.end()) {
    throw Error(Fault::usage, fmt::format("{} {} is not part of this version; it has: {}", option, name,
                                          fmt::join(available, ", ")));
  }
  const auto like = closest(name, available);
  throw Error(Fault::usage,
              fmt::format("{} {} is unknown{}; choose one of: {}", option, data::quote(name),
                          like ? fmt::format(" (did you mean {}?)", *like) : "", fmt::join(available, ", ")));
}

bool given(const CLI::App& app, std::string_view option) {
  const CLI::Option* found = app.get_option_no_throw(std::string(option));
  return found != nullptr && found->count() > 0;
}

void exclude(const CLI::App& app, std::string_view option, std::initializer_list<std::string_view> others) {
  if (!given(app, option)) return;
  for (const std::string_view other : others) {
    if (given(app, other)) {
      throw Error(Fault::usage, fmt::format("{} and {} exclude each other: give only one of them", option, other));
    }
  }
}

}  // namespace fenchel::cli
