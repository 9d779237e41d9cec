// The registry of scalar losses: a type list. A new loss is a header and one more name here.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/epsilon_insensitive.hpp"
#include "fenchel/loss/hinge.hpp"
#include "fenchel/loss/huber.hpp"
#include "fenchel/loss/logistic.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/loss/quantile.hpp"
#include "fenchel/loss/smooth_hinge.hpp"
#include "fenchel/loss/squared.hpp"
#include "fenchel/loss/squared_epsilon_insensitive.hpp"
#include "fenchel/loss/squared_hinge.hpp"

namespace fenchel::loss {

using Any = std::variant<Hinge, SquaredHinge, SmoothHinge, Logistic, Squared, Absolute, Huber, EpsilonInsensitive,
                         SquaredEpsilonInsensitive, Quantile>;

inline std::string_view name(const Any& any) {
  return std::visit([](const auto& loss) { return std::string_view(loss.name); }, any);
}
inline Task task(const Any& any) {
  return std::visit([](const auto& loss) { return loss.task; }, any);
}
inline double smoothness(const Any& any) {
  return std::visit([](const auto& loss) { return loss.smoothness(); }, any);
}

// Calls visitor(std::type_identity<L>{}) for every loss L, in the order of the list.
template <class Visitor>
void for_each_type(Visitor visitor) {
  [&]<class... L>(std::type_identity<std::variant<L...>>) {
    static_assert((Loss<L> && ...));
    (visitor(std::type_identity<L>{}), ...);
  }(std::type_identity<Any>{});
}

// The loss of that name, with its default parameters.
inline std::optional<Any> by_name(std::string_view wanted) {
  std::optional<Any> found;
  for_each_type([&]<class L>(std::type_identity<L>) {
    if (L::name == wanted) found = L{};
  });
  return found;
}

inline std::vector<std::string_view> names() {
  std::vector<std::string_view> list;
  for_each_type([&]<class L>(std::type_identity<L>) { list.push_back(L::name); });
  return list;
}

}  // namespace fenchel::loss
