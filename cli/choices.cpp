#include "cli/choices.hpp"

#include <array>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arguments.hpp"
#include "fenchel/base/error.hpp"
#include "fenchel/penalty/constraint.hpp"

namespace fenchel::cli {
namespace {

// Names of the contract that later versions will know.
constexpr std::array<std::string_view, 5> later_penalties{"group-lasso", "trace", "tv", "fused-lasso",
                                                          "trace-ball"};

// Losses and penalties look the same from here: types with a name, a formula and fields. `List` says which.
struct Losses {
  using Any = loss::Chosen;
  static constexpr std::string_view option = "--loss";
  static constexpr std::span<const std::string_view> later{};
  template <class Visitor>
  static void for_each(Visitor visitor) {
    loss::for_each_chosen_type(visitor);
  }
};

struct Penalties {
  using Any = penalty::Any;
  static constexpr std::string_view option = "--penalty";
  static constexpr std::span<const std::string_view> later = later_penalties;
  template <class Visitor>
  static void for_each(Visitor visitor) {
    for_each_penalty(visitor);
  }
};

template <class List>
std::vector<std::string_view> names() {
  std::vector<std::string_view> list;
  List::for_each([&]<class T>(std::type_identity<T>) { list.push_back(T::name); });
  return list;
}

// The names of those that have such a parameter.
template <class List>
std::vector<std::string_view> owners(std::string_view parameter) {
  std::vector<std::string_view> list;
  List::for_each([&]<class T>(std::type_identity<T>) {
    for (const auto& field : T::fields) {
      if (field.name == parameter) list.push_back(T::name);
    }
  });
  return list;
}

template <class List>
std::map<std::string, std::string> offered() {
  std::map<std::string, std::string> options;
  List::for_each([&]<class T>(std::type_identity<T>) {
    for (const auto& field : T::fields) {
      std::string& help = options[std::string(field.name)];
      if (help.empty()) {
        help = fmt::format("{} (default {}); for {}", field.help, T{}.*field.member,
                           fmt::join(owners<List>(field.name), ", "));
      }
    }
  });
  return options;
}

template <class T, class List>
void set_parameter(T& chosen, std::string_view name, double value) {
  for (const auto& field : T::fields) {
    if (field.name != name) continue;
    const Range range{.low = field.low, .high = field.high, .open = field.open};
    if (!range.contains(value)) {
      throw Error(Fault::usage, fmt::format("--{} {}: {} is needed", name, value, range.text()));
    }
    chosen.*field.member = value;
    return;
  }
  throw Error(Fault::usage, fmt::format("--{} does not go with {} {}; it belongs to: {}", name, List::option,
                                        T::name, fmt::join(owners<List>(name), ", ")));
}

template <class List>
typename List::Any make(std::string_view name, const Parameters& parameters) {
  std::optional<typename List::Any> made;
  List::for_each([&]<class T>(std::type_identity<T>) {
    if (T::name != name) return;
    T chosen{};
    for (const auto& [parameter, value] : parameters) set_parameter<T, List>(chosen, parameter, value);
    made = chosen;
  });
  if (!made) refuse_name(List::option, name, names<List>(), List::later);
  return *made;
}

template <class Any>
Parameters values(const Any& any) {
  Parameters list;
  std::visit(
      [&](const auto& chosen) {
        using T = std::decay_t<decltype(chosen)>;
        for (const auto& field : T::fields) list.emplace(field.name, chosen.*field.member);
      },
      any);
  return list;
}

template <class T>
std::string table_line() {
  std::string parameters;
  for (const auto& field : T::fields) parameters += fmt::format("  (--{} {})", field.name, T{}.*field.member);
  return fmt::format("  {:<28} {}{}\n", T::name, T::formula, parameters);
}

std::string loss_lines(loss::Task task) {
  std::string text;
  loss::for_each_type([&]<class L>(std::type_identity<L>) {
    if (L::task == task) text += table_line<L>();
  });
  return text;
}

std::string multiclass_lines() {
  std::string text;
  loss::for_each_vector_type([&]<class L>(std::type_identity<L>) { text += table_line<L>(); });
  return text;
}

}  // namespace

std::map<std::string, std::string> loss_parameters() { return offered<Losses>(); }
std::map<std::string, std::string> penalty_parameters() { return offered<Penalties>(); }

loss::Chosen make_loss(std::string_view name, const Parameters& parameters) {
  return make<Losses>(name, parameters);
}
penalty::Any make_penalty(std::string_view name, const Parameters& parameters) {
  return make<Penalties>(name, parameters);
}

std::string_view penalty_name(const penalty::Any& penalty) {
  return std::visit([](const auto& chosen) { return std::string_view(chosen.name); }, penalty);
}

Parameters parameters_of(const loss::Chosen& loss) {
  return values(static_cast<const loss::Chosen::Variant&>(loss));
}
Parameters parameters_of(const penalty::Any& penalty) { return values(penalty); }

std::string loss_table() {
  return "Losses (--loss) phi for classes, y in {-1, +1}, m = y (x.w + b); more than two classes train one against "
         "the "
         "rest:\n" +
         loss_lines(loss::Task::classification) +
         "Losses of all classes in one problem, with a score z_j = x.w_j + b_j for each (y: the row's class):\n" +
         multiclass_lines() + "Losses for numbers, z = x.w + b:\n" + loss_lines(loss::Task::regression);
}

std::string penalty_table() {
  std::string penalties = "Penalties (--penalty) Omega:\n",
              constraints = "Constraints (--penalty), without lambda:\n";
  for_each_penalty([&]<class P>(std::type_identity<P>) {
    (penalty::constraint_of(P{}) ? constraints : penalties) += table_line<P>();
  });
  return penalties + constraints;
}

}  // namespace fenchel::cli
