// Prediction: scores, labels, probabilities, and which labels provably equal those of the exact optimum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fenchel/data/matrix.hpp"
#include "fenchel/model/foreign.hpp"
#include "fenchel/model/model.hpp"

namespace fenchel::model {

// What prediction needs of a model, whatever file it came from. A view: the model must outlive it.
struct Linear {
  std::vector<std::span<const double>> w;   // one an output; columns beyond have weight 0
  std::vector<double> bias;                 // one an output
  std::span<const double> classes;          // ascending; empty for a regression
  std::span<const std::size_t> preference;  // as in Foreign; empty: ascending
  std::optional<loss::Chosen> loss;

  [[nodiscard]] std::size_t outputs() const { return w.size(); }
  [[nodiscard]] bool regression() const { return classes.empty(); }
};
Linear linear(const Model& model);
Linear linear(const Foreign& foreign);

struct Table {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;  // row by row

  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
};

// x_i.w + b, one column an output.
Table scores(const Linear& model, const data::Matrix& matrix);

// The values of a regression; of two classes with one score the larger one where it is positive; else the class with the
// largest score. Ties go to the preferred class, which is the smallest one for our own models.
std::vector<double> labels(const Linear& model, const Table& scores);

// One column a class. logistic: 1 / (1 + exp(-z)) for two, these values scaled to the sum 1 for more (as LIBLINEAR does);
// softmax: exp(z_j) / sum_l exp(z_l). A usage Error for other losses.
Table probabilities(const Linear& model, const Table& scores);

struct Metrics {
  std::size_t rows = 0;
  std::size_t correct = 0;                      // classification
  double accuracy = 0.0;                        // classification: correct / rows
  double mean_squared_error = 0.0;              // regression
  std::optional<double> squared_correlation{};  // regression; nothing where one side is constant
};
Metrics metrics(const Linear& model, std::span<const double> predicted, std::span<const double> targets);

// Whether labels can be certified at all: classes, strong convexity in at least one coordinate, a finite gap and, under a
// free bias, a finite range of optimal biases for every output.
bool certifies_labels(const Model& model);

// 1 for each row whose predicted label provably equals that of the exact optimum, else 0. With sigma_j the strength of the
// squared penalty on coordinate j,  |x.w* - x.w| <= sqrt(2 gap sum_j x_j^2 / sigma_j);  columns that the training data
// did not have are not part of the problem and count 0 on both sides.
std::vector<std::uint8_t> certified_labels(const Model& model, const data::Matrix& matrix);

}  // namespace fenchel::model
