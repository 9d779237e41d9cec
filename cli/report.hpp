// What the commands print. The only code that writes to standard output and standard error.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "fenchel/model/model.hpp"
#include "fenchel/problem/certificate.hpp"
#include "fenchel/registry/plan.hpp"

namespace fenchel::cli {

using Json = nlohmann::ordered_json;

// To standard output; Error(Fault::failure) if it does not take all of it.
void print(std::string_view text);
void print_json(const Json& object);
// To standard error.
void note(std::string_view text);
void warn(std::string_view sentence);
bool on_terminal();  // whether standard error is one

// Three digits, rounded up: a bound stays one when it is printed.
std::string upward(double bound);
// A JSON number: never infinite, never NaN.
Json finite(double value);
// Whole numbers without a fraction, as users wrote them.
Json label(double value);
Json labels(std::span<const double> values);
std::string label_list(std::span<const double> values);  // at most ten of them

// "mean hinge, max(0, 1 - m) + 0.001 * 1/2 ||w||^2, free bias"
std::string formula(const registry::Settings& settings, double lambda, bool weighted);

// loss, penalty, lambda, l1, l2, bias and their parameters, as the contract names them.
void put_problem(Json& object, const registry::Settings& settings, double lambda,
                 const penalty::Strength& strength);
// primal, dual, gap, relative_gap and rounding.
void put_certificate(Json& object, const problem::Certificate& certificate);
// The same for people, a line each.
std::string certificate_lines(const problem::Certificate& certificate);

}  // namespace fenchel::cli
