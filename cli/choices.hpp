// Losses and penalties by name, with their parameters; everything comes from the type lists of the library.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "fenchel/loss/any_vector.hpp"
#include "fenchel/penalty/any.hpp"

namespace fenchel::cli {

using Parameters = std::map<std::string, double, std::less<>>;  // name as on the command line, without the dashes

// Calls visitor(std::type_identity<P>{}) for every penalty P, in the order of the list.
template <class Visitor>
void for_each_penalty(Visitor visitor) {
  [&]<class... P>(std::type_identity<std::variant<P...>>) {
    (visitor(std::type_identity<P>{}), ...);
  }(std::type_identity<penalty::Any>{});
}

// What the command line offers: every parameter once, with help that names its owners and their defaults.
std::map<std::string, std::string> loss_parameters();
std::map<std::string, std::string> penalty_parameters();

// Usage errors: a name this version lacks, a parameter the chosen one does not have, a value out of its range.
loss::Chosen make_loss(std::string_view name, const Parameters& parameters);
penalty::Any make_penalty(std::string_view name, const Parameters& parameters);

std::string_view penalty_name(const penalty::Any& penalty);
Parameters parameters_of(const loss::Chosen& loss);
Parameters parameters_of(const penalty::Any& penalty);

// The tables of `--help`: name, formula, parameters.
std::string loss_table();
std::string penalty_table();

}  // namespace fenchel::cli
