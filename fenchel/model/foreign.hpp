// Answers of other tools: LIBLINEAR model files and plain lists of weights, turned into the project's conventions
// (classes ascending; with two classes a positive score means the larger one).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fenchel/loss/any_vector.hpp"
#include "fenchel/penalty/any.hpp"
#include "fenchel/registry/settings.hpp"

namespace fenchel::model {

struct Foreign {
  std::vector<std::vector<double>> w;    // one an output, one number a feature, without the constant
  std::vector<double> constant_weights;  // one an output; empty: no bias
  double bias_value = 0.0;               // the constant feature's value; 0: no bias
  std::vector<double> bias;              // one an output: what is added to a score
  std::vector<double> classes;           // ascending; empty for a regression or where nothing says it
  // Indexes into `classes`: where scores tie, the class that comes first is predicted, as the other tool would.
  std::vector<std::size_t> preference;
  std::optional<loss::Chosen> loss;     // where the file implies one
  std::optional<penalty::Any> penalty;  // likewise
  std::string solver_type;              // LIBLINEAR's name; empty for a plain list

  [[nodiscard]] std::size_t features() const { return w.front().size(); }
};

// Whether the text begins like a LIBLINEAR model file.
bool is_liblinear(std::string_view text);

// Every problem is Error(Fault::input, "NAME:LINE:COLUMN: reason").
Foreign read_liblinear(std::string_view text, const std::string& name);

// What a plain list is taken for.
struct ListShape {
  std::size_t features = 0;
  registry::Bias bias = registry::Bias::free;
  double bias_value = 1.0;               // of a regularized bias
  std::span<const double> classes = {};  // more than two are refused: a list holds one output
};

// One number a line: `features` of them, or one more, which is the bias as it is added to scores, if there is one.
Foreign read_weights(std::string_view text, const std::string& name, const ListShape& shape);

}  // namespace fenchel::model
