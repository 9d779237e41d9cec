#include "fenchel/model/predict.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "fenchel/base/error.hpp"
#include "fenchel/base/rounding.hpp"
#include "fenchel/base/sum.hpp"

namespace fenchel::model {

namespace {

// Calls visit(i, row) for every row, blocks of rows in parallel.
template <class Visit>
void for_each_row(const data::Matrix& matrix, Visit&& visit) {
  std::visit(
      [&](const auto& m) {
        for_each_block(m.rows(), [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) visit(i, m.row(i));
        });
      },
      matrix);
}

// The preferred one of the classes with the largest score.
std::size_t best_class(const Linear& model, std::span<const double> scores) {
  std::size_t best = model.preference.empty() ? 0 : model.preference.front();
  for (std::size_t k = 0; k < scores.size(); ++k) {
    const std::size_t candidate = model.preference.empty() ? k : model.preference[k];
    if (scores[candidate] > scores[best]) best = candidate;
  }
  return best;
}

double label_of(const Linear& model, std::span<const double> scores) {
  if (model.regression()) return scores.front();
  if (scores.size() > 1) return model.classes[best_class(model, scores)];
  if (scores.front() == 0.0) return model.classes[model.preference.empty() ? 0 : model.preference.front()];
  return model.classes[scores.front() > 0.0 ? 1 : 0];
}

// --- certified labels ---

// An interval that holds the score of a row under every optimal solution of one output.
class OptimalScore {
 public:
  OptimalScore(const Model& model, std::size_t output)
      : w_(model.w(output)),
        penalty_(model.strength, model.factors, model.scales),
        gap_(model.outputs[output].certificate.gap),
        bias_(model.bias(output)) {
    const Interval range = model.outputs[output].bias_range;
    switch (model.settings.bias) {
      case registry::Bias::none: break;
      case registry::Bias::free: below_ = bias_ - range.low, above_ = range.high - bias_; break;
      case registry::Bias::regularized:
        // The constant is one more coordinate, of penalty factor 1.
        constant_share_ = share_of(model.settings.bias_value, model.strength.l2);
    }
    below_ = widen(std::max(below_, 0.0));
    above_ = widen(std::max(above_, 0.0));
  }

  template <class Row>
  [[nodiscard]] Interval of(const Row& row) const {
    double score = 0.0;
    double magnitude = std::fabs(bias_);
    double spread = constant_share_;  // sum_j x_j^2 / sigma_j
    double terms = 2.0;
    row.for_each([&](std::size_t j, double x) {
      if (j >= w_.size() || x == 0.0) return;
      score += x * w_[j];
      magnitude += std::fabs(x * w_[j]);
      spread += share_of(x, penalty_[j].l2);
      terms += 1.0;
    });
    score += bias_;
    const double error =
        widen(gamma_bound(terms + 2) * magnitude * (1.0 + gamma_bound(terms + 2)), 4) + terms * smallest_double;
    const double radius = widen(std::sqrt(widen(2.0 * gap_ * widen(spread, terms + 4), 2)), 2);
    const Interval open{-infinity, infinity};
    const double down = widen(radius + error + below_, 3), up = widen(radius + error + above_, 3);
    if (!std::isfinite(score) || std::isnan(down) || std::isnan(up)) return open;
    return {.low = lower(score, down), .high = -lower(-score, up)};
  }

 private:
  // x^2 / sigma from above; what is not strongly convex is not bounded. In this order nothing underflows that matters.
  [[nodiscard]] static double share_of(double x, double sigma) {
    return sigma > 0.0 ? widen(std::fabs(x) * (std::fabs(x) / sigma), 3) : infinity;
  }
  // score - distance, rounded down.
  [[nodiscard]] static double lower(double score, double distance) {
    const double difference = score - distance;
    return difference - 2 * unit_roundoff * std::fabs(difference) - smallest_double;
  }

  std::span<const double> w_;
  penalty::Separable penalty_;
  double gap_;
  double bias_;
  double below_ = 0.0;  // how far an optimal bias may lie below the one that is added
  double above_ = 0.0;
  double constant_share_ = 0.0;
};

// Whether one label is right wherever in the intervals the scores lie.
bool settled(std::span<const Interval> scores) {
  if (scores.size() == 1) return scores.front().low > 0.0 || scores.front().high < 0.0;
  const auto best = std::ranges::max_element(scores, {}, &Interval::low);
  return std::ranges::all_of(scores,
                             [&](const Interval& other) { return &other == &*best || other.high < best->low; });
}

}  // namespace

Linear linear(const Model& model) {
  Linear view{.w = {}, .bias = {}, .classes = model.classes, .preference = {}, .loss = model.settings.loss};
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    view.w.push_back(model.w(k));
    view.bias.push_back(model.bias(k));
  }
  return view;
}

Linear linear(const Foreign& foreign) {
  return {.w = {foreign.w.begin(), foreign.w.end()},
          .bias = foreign.bias,
          .classes = foreign.classes,
          .preference = foreign.preference,
          .loss = foreign.loss};
}

Table scores(const Linear& model, const data::Matrix& matrix) {
  const std::size_t outputs = model.outputs();
  Table table{.rows = data::rows(matrix), .columns = outputs, .values = {}};
  table.values.resize(table.rows * outputs);
  for_each_row(matrix, [&](std::size_t i, const auto& row) {
    for (std::size_t k = 0; k < outputs; ++k) {
      const std::span<const double> w = model.w[k];
      double sum = 0.0;
      row.for_each([&](std::size_t j, double x) { sum += j < w.size() ? x * w[j] : 0.0; });
      table.values[i * outputs + k] = sum + model.bias[k];
    }
  });
  return table;
}

std::vector<double> labels(const Linear& model, const Table& scores) {
  std::vector<double> result(scores.rows);
  for_each_block(scores.rows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) result[i] = label_of(model, scores.row(i));
  });
  return result;
}

Table probabilities(const Linear& model, const Table& scores) {
  const bool softmax = model.loss && std::holds_alternative<loss::Softmax>(*model.loss);
  if (!softmax && (!model.loss || !std::holds_alternative<loss::Logistic>(*model.loss))) {
    throw Error(Fault::usage, fmt::format("--probabilities needs a model of --loss logistic or softmax, not {}",
                                          model.loss ? loss::name(*model.loss) : "this one"));
  }
  const std::size_t classes = model.classes.size();
  Table table{.rows = scores.rows, .columns = classes, .values = std::vector<double>(scores.rows * classes)};
  for_each_block(scores.rows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::span<const double> z = scores.row(i);
      const std::span<double> p = std::span(table.values).subspan(i * classes, classes);
      if (softmax) {
        const double top = *std::ranges::max_element(z);
        double sum = 0.0;
        for (std::size_t k = 0; k < classes; ++k) sum += p[k] = std::exp(z[k] - top);
        for (double& share : p) share /= sum;
        continue;
      }
      if (z.size() == 1) {
        p[0] = loss::sigmoid(-z[0]);
        p[1] = loss::sigmoid(z[0]);
        continue;
      }
      double sum = 0.0;
      for (std::size_t k = 0; k < classes; ++k) sum += p[k] = loss::sigmoid(z[k]);
      // All scores so low that every value vanishes: nothing tells the classes apart any more.
      for (double& share : p) share = sum > 0.0 ? share / sum : 1.0 / static_cast<double>(classes);
    }
  });
  return table;
}

Metrics metrics(const Linear& model, std::span<const double> predicted, std::span<const double> targets) {
  Metrics result{.rows = targets.size()};
  if (targets.empty()) return result;
  const auto n = static_cast<double>(targets.size());
  if (!model.regression()) {
    for (std::size_t i = 0; i < targets.size(); ++i) result.correct += predicted[i] == targets[i] ? 1 : 0;
    result.accuracy = static_cast<double>(result.correct) / n;
    return result;
  }
  CompensatedSum errors, sum_p, sum_y;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    errors.add((predicted[i] - targets[i]) * (predicted[i] - targets[i]));
    sum_p.add(predicted[i]);
    sum_y.add(targets[i]);
  }
  result.mean_squared_error = errors.total() / n;
  // Centred first: the textbook formula with raw moments cancels.
  const double mean_p = sum_p.total() / n, mean_y = sum_y.total() / n;
  CompensatedSum cross, square_p, square_y;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double p = predicted[i] - mean_p, y = targets[i] - mean_y;
    cross.add(p * y);
    square_p.add(p * p);
    square_y.add(y * y);
  }
  const double correlation = cross.total() / std::sqrt(square_p.total()) / std::sqrt(square_y.total());
  if (std::isfinite(correlation)) result.squared_correlation = correlation * correlation;
  return result;
}

bool certifies_labels(const Model& model) {
  if (model.classes.empty() || !(model.strength.l2 > 0.0)) return false;
  return std::ranges::all_of(model.outputs, [&](const registry::Output& output) {
    const bool range_known = std::isfinite(output.bias_range.low) && std::isfinite(output.bias_range.high);
    return output.certificate.valid() && (model.settings.bias != registry::Bias::free || range_known);
  });
}

std::vector<std::uint8_t> certified_labels(const Model& model, const data::Matrix& matrix) {
  std::vector<std::uint8_t> result(data::rows(matrix), 0);
  if (!certifies_labels(model)) return result;
  std::vector<OptimalScore> outputs;
  for (std::size_t k = 0; k < model.outputs.size(); ++k) outputs.emplace_back(model, k);
  for_each_row(matrix, [&](std::size_t i, const auto& row) {
    std::vector<Interval> scores;
    scores.reserve(outputs.size());
    for (const OptimalScore& output : outputs) scores.push_back(output.of(row));
    result[i] = settled(scores) ? 1 : 0;
  });
  return result;
}

}  // namespace fenchel::model
