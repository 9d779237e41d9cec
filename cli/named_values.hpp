// Values that users choose by name.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/arguments.hpp"

namespace fenchel::cli {

template <class T, std::size_t N>
using Names = std::array<std::pair<std::string_view, T>, N>;

// The value called `typed`; empty where nothing was typed.
template <class T, std::size_t N>
std::optional<T> value_of(std::string_view option, const std::string& typed, const Names<T, N>& names) {
  if (typed.empty()) return std::nullopt;
  std::array<std::string_view, N> known;
  for (std::size_t k = 0; k < N; ++k) {
    if (names[k].first == typed) return names[k].second;
    known[k] = names[k].first;
  }
  refuse_name(option, typed, known, {});
}

template <class T, std::size_t N>
std::string_view name_of(T value, const Names<T, N>& names) {
  for (const auto& [name, named] : names) {
    if (named == value) return name;
  }
  return "";
}

}  // namespace fenchel::cli
