#include "fenchel/model/foreign.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/data/list.hpp"
#include "fenchel/data/source.hpp"

namespace fenchel::model {

namespace {

enum class Shape { one_versus_rest, joint, regression, one_class };

struct SolverType {
  std::string_view name;
  Shape shape;
  std::optional<loss::Chosen> loss;
  std::optional<penalty::Any> penalty;
};

const std::vector<SolverType>& solver_types() {
  using namespace loss;
  using penalty::L1;
  using penalty::L2;
  static const std::vector<SolverType> types{
      {"L2R_LR", Shape::one_versus_rest, Logistic{}, L2{}},
      {"L2R_L2LOSS_SVC_DUAL", Shape::one_versus_rest, SquaredHinge{}, L2{}},
      {"L2R_L2LOSS_SVC", Shape::one_versus_rest, SquaredHinge{}, L2{}},
      {"L2R_L1LOSS_SVC_DUAL", Shape::one_versus_rest, Hinge{}, L2{}},
      {"MCSVM_CS", Shape::joint, MulticlassHinge{}, L2{}},
      {"L1R_L2LOSS_SVC", Shape::one_versus_rest, SquaredHinge{}, L1{}},
      {"L1R_LR", Shape::one_versus_rest, Logistic{}, L1{}},
      {"L2R_LR_DUAL", Shape::one_versus_rest, Logistic{}, L2{}},
      {"L2R_L2LOSS_SVR", Shape::regression, SquaredEpsilonInsensitive{}, L2{}},
      {"L2R_L2LOSS_SVR_DUAL", Shape::regression, SquaredEpsilonInsensitive{}, L2{}},
      {"L2R_L1LOSS_SVR_DUAL", Shape::regression, EpsilonInsensitive{}, L2{}},
      {"ONECLASS_SVM", Shape::one_class, std::nullopt, std::nullopt},
  };
  return types;
}

// Blank-separated tokens of the file, each with its place for messages.
class Tokens {
 public:
  Tokens(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  // The next token, or an empty one at the end.
  std::string_view next() {
    constexpr std::string_view blanks = " \t\r\n";
    begin_ = std::min(text_.find_first_not_of(blanks, end_), text_.size());
    end_ = std::min(text_.find_first_of(blanks, begin_), text_.size());
    return text_.substr(begin_, end_ - begin_);
  }
  // About the token that was read last.
  [[noreturn]] void fail(const std::string& reason) const { data::reject(text_, name_, begin_, reason); }
  [[nodiscard]] std::size_t left() const { return text_.size() - end_; }

  double number(std::string_view what) {
    const std::string_view token = next();
    if (token.empty()) fail(fmt::format("the file ends where {} should follow", what));
    const data::ParsedNumber parsed = data::parse_number(token.data(), token.data() + token.size());
    if (parsed.fault == data::NumberFault::overflow) fail(fmt::format("{} overflows a double", data::quote(token)));
    if (parsed.fault != data::NumberFault::none || parsed.end != token.data() + token.size()) {
      fail(fmt::format("{} is not a number, where {} should stand", data::quote(token), what));
    }
    return parsed.value;
  }
  // A whole number of a range that LIBLINEAR's int holds.
  double whole(std::string_view what, double low) {
    const double value = number(what);
    constexpr double high = std::numeric_limits<std::int32_t>::max();
    if (std::trunc(value) != value || value < low || value > high) {
      fail(fmt::format("{} must be a whole number from {} to {}", what, low, high));
    }
    return value;
  }

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

struct Preamble {
  const SolverType* type = nullptr;
  std::optional<std::uint64_t> classes;
  std::optional<std::uint64_t> features;
  std::optional<double> bias;
  double rho = 0.0;
  std::vector<double> labels;  // in the order of the file
};

void read_labels(Tokens& tokens, Preamble& preamble) {
  if (!preamble.classes) tokens.fail("'label' stands before 'nr_class'");
  // A label takes a blank and a digit at least.
  if (*preamble.classes > tokens.left() / 2)
    tokens.fail(fmt::format("the file is too short for {} labels", *preamble.classes));
  preamble.labels.clear();
  constexpr double lowest = std::numeric_limits<std::int32_t>::min();
  for (std::uint64_t k = 0; k < *preamble.classes; ++k) {
    const double label = tokens.whole("a label", lowest);
    preamble.labels.push_back(label + 0.0);  // -0 is 0
  }
}

Preamble read_preamble(Tokens& tokens) {
  Preamble preamble;
  for (;;) {
    const std::string_view key = tokens.next();
    if (key.empty()) tokens.fail("the file ends before the line 'w'");
    if (key == "w") break;
    if (key == "solver_type") {
      const std::string_view wanted = tokens.next();
      const auto& types = solver_types();
      const auto found = std::ranges::find(types, wanted, &SolverType::name);
      if (found == types.end()) tokens.fail(fmt::format("unknown solver_type {}", data::quote(wanted)));
      preamble.type = &*found;
    } else if (key == "nr_class") {
      preamble.classes = static_cast<std::uint64_t>(tokens.whole("nr_class", 1));
    } else if (key == "nr_feature") {
      preamble.features = static_cast<std::uint64_t>(tokens.whole("nr_feature", 0));
    } else if (key == "bias") {
      preamble.bias = tokens.number("bias");
    } else if (key == "rho") {
      preamble.rho = tokens.number("rho");
    } else if (key == "label") {
      read_labels(tokens, preamble);
    } else {
      tokens.fail(fmt::format("{} is no entry of a LIBLINEAR model", data::quote(key)));
    }
  }
  if (preamble.type == nullptr) tokens.fail("'w' stands before 'solver_type'");
  if (!preamble.classes) tokens.fail("'w' stands before 'nr_class'");
  if (!preamble.features) tokens.fail("'w' stands before 'nr_feature'");
  if (!preamble.bias) tokens.fail("'w' stands before 'bias'");
  return preamble;
}

bool takes_classes(Shape shape) { return shape == Shape::one_versus_rest || shape == Shape::joint; }

void check_labels(const Tokens& tokens, const Preamble& preamble) {
  if (!takes_classes(preamble.type->shape)) return;
  if (preamble.labels.empty())
    tokens.fail(fmt::format("a model of {} needs the entry 'label'", preamble.type->name));
  if (preamble.labels.size() < 2) tokens.fail("a model of one class only has nothing to predict");
  std::vector<double> sorted = preamble.labels;
  std::ranges::sort(sorted);
  if (preamble.labels.size() != *preamble.classes || std::ranges::adjacent_find(sorted) != sorted.end()) {
    tokens.fail("'label' does not hold nr_class different labels");
  }
}

// One vector a column of the file, bias row included.
std::vector<std::vector<double>> read_columns(Tokens& tokens, const Preamble& preamble) {
  const bool single = !takes_classes(preamble.type->shape) ||
                      (preamble.type->shape == Shape::one_versus_rest && *preamble.classes == 2);
  const std::uint64_t columns = single ? 1 : *preamble.classes;
  const std::uint64_t rows = *preamble.features + (*preamble.bias >= 0.0 ? 1 : 0);
  // Both are below 2^32, so the product fits; a number takes a digit and a blank, which the last may lack.
  if (rows * columns > (tokens.left() + 1) / 2) {
    tokens.fail(fmt::format("the file is too short for {} x {} weights", rows, columns));
  }
  std::vector<std::vector<double>> result(columns, std::vector<double>(rows));
  for (std::uint64_t j = 0; j < rows; ++j) {
    for (std::uint64_t k = 0; k < columns; ++k) result[k][j] = tokens.number("a weight");
  }
  if (const std::string_view more = tokens.next(); !more.empty()) {
    tokens.fail(fmt::format("{} follows the last weight", data::quote(more)));
  }
  return result;
}

void flip(std::vector<double>& values) {
  for (double& value : values) value = -value + 0.0;
}

}  // namespace

bool is_liblinear(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(first).starts_with("solver_type");
}

Foreign read_liblinear(std::string_view text, const std::string& name) {
  if (!is_liblinear(text)) {
    throw Error(Fault::input,
                fmt::format("{}:1:1: is not a LIBLINEAR model: it does not begin with 'solver_type'", name));
  }
  Tokens tokens(text, name);
  const Preamble preamble = read_preamble(tokens);
  check_labels(tokens, preamble);
  std::vector<std::vector<double>> columns = read_columns(tokens, preamble);

  Foreign result;
  result.solver_type = preamble.type->name;
  result.loss = preamble.type->loss;
  result.penalty = preamble.type->penalty;
  result.classes = preamble.type->shape == Shape::one_class ? std::vector<double>{-1.0, 1.0} : preamble.labels;
  if (!takes_classes(preamble.type->shape)) {
    if (preamble.type->shape == Shape::regression) result.classes.clear();
  } else if (columns.size() == 1) {
    // LIBLINEAR's positive score means its first label, and 0 the second one.
    if (preamble.labels[0] < preamble.labels[1]) flip(columns.front());
    std::ranges::sort(result.classes);
    result.preference =
        preamble.labels[1] == result.classes[0] ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{1, 0};
  } else {
    std::vector<std::size_t> order(columns.size());  // ascending classes -> columns of the file
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t k) { return preamble.labels[k]; });
    std::vector<std::vector<double>> sorted;
    result.preference.resize(order.size());  // its first label wins ties
    for (std::size_t k = 0; k < order.size(); ++k) {
      result.classes[k] = preamble.labels[order[k]];
      result.preference[order[k]] = k;
      sorted.push_back(std::move(columns[order[k]]));
    }
    columns = std::move(sorted);
    if (order.size() == 2) std::ranges::reverse(result.preference);  // of two, the second one wins ties here too
  }
  for (std::vector<double>& column : columns) {
    double bias = preamble.type->shape == Shape::one_class ? -preamble.rho : 0.0;
    if (*preamble.bias >= 0.0) {
      result.bias_value = *preamble.bias;
      result.constant_weights.push_back(column.back());
      bias += *preamble.bias * column.back();
      column.pop_back();
    }
    if (!std::isfinite(bias)) tokens.fail("the bias overflows a double");
    result.bias.push_back(bias);
  }
  result.w = std::move(columns);
  return result;
}

Foreign read_weights(std::string_view text, const std::string& name, const ListShape& shape) {
  if (shape.classes.size() > 2) {
    throw Error(Fault::usage,
                fmt::format("a plain list of weights holds one output, but the data have {} classes: use a "
                            "LIBLINEAR model file",
                            shape.classes.size()));
  }
  std::vector<double> numbers = data::read_numbers(text, name);
  const bool has_bias = shape.bias != registry::Bias::none;
  const bool with_bias = has_bias && numbers.size() == shape.features + 1;
  if (numbers.size() != shape.features && !with_bias) {
    throw Error(
        Fault::input,
        fmt::format("{}: {} numbers for {} features: give one a feature{}", name, numbers.size(), shape.features,
                    has_bias ? ", and the bias as one more if it is not 0" : " and, without a bias, no more"));
  }
  Foreign result;
  if (with_bias) {
    result.bias_value = shape.bias == registry::Bias::regularized ? shape.bias_value : 1.0;
    result.constant_weights.push_back(numbers.back() / result.bias_value);
    result.bias.push_back(numbers.back());
    numbers.pop_back();
  } else {
    result.bias.push_back(0.0);
  }
  result.w.push_back(std::move(numbers));
  result.classes.assign(shape.classes.begin(), shape.classes.end());
  return result;
}

}  // namespace fenchel::model
