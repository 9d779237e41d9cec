// Prediction, and labels that are certain although the fit is not exact.
#include "fenchel/model/predict.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "tests/model/fixture.hpp"

namespace fenchel::model {
namespace {

using registry::Bias;
using Numbers = std::vector<double>;

data::Dataset rows_of(std::size_t columns, std::vector<double> values) {
  data::Dataset dataset;
  dataset.targets = Numbers(values.size() / columns, 0.0);
  const std::size_t rows = values.size() / columns;
  dataset.storage = data::DenseStorage{.values = std::move(values), .row_count = rows, .column_count = columns};
  return dataset;
}

TEST(Predict, TwoClasses) {
  Foreign foreign;
  foreign.w = {{2.0, -1.0}};
  foreign.bias = {0.5};
  foreign.classes = {3.0, 7.0};
  foreign.loss = loss::Logistic{};
  const Linear model = linear(foreign);
  const data::Dataset dataset = rows_of(3, {1, 0, 9, 0, 1, 9, -0.25, 0, 9});  // the last column is unknown
  const Table z = scores(model, dataset.matrix());
  EXPECT_EQ(z.values, (Numbers{2.5, -0.5, 0.0}));
  EXPECT_EQ(labels(model, z), (Numbers{7, 3, 3}));
  const Table p = probabilities(model, z);
  EXPECT_EQ(p.columns, 2U);
  EXPECT_DOUBLE_EQ(p.row(0)[1], 1.0 / (1.0 + std::exp(-2.5)));
  EXPECT_DOUBLE_EQ(p.row(0)[0] + p.row(0)[1], 1.0);
  EXPECT_EQ(p.row(2)[0], 0.5);
  const Metrics m = metrics(model, labels(model, z), Numbers{7, 7, 3});
  EXPECT_EQ(m.correct, 2U);
  EXPECT_DOUBLE_EQ(m.accuracy, 2.0 / 3.0);
}

TEST(Predict, MoreClassesAndTies) {
  Foreign foreign;
  foreign.w = {{1.0}, {2.0}, {-1.0}};
  foreign.bias = {0.0, 0.0, 0.0};
  foreign.classes = {1.0, 2.0, 3.0};
  foreign.loss = loss::Logistic{};
  const data::Dataset dataset = rows_of(1, {1.0, -1.0, 0.0});
  const Table z = scores(linear(foreign), dataset.matrix());
  EXPECT_EQ(labels(linear(foreign), z), (Numbers{2, 3, 1}));
  const Table p = probabilities(linear(foreign), z);
  EXPECT_DOUBLE_EQ(std::accumulate(p.values.begin(), p.values.begin() + 3, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(p.row(2)[1], 1.0 / 3.0);
  foreign.preference = {2, 0, 1};
  EXPECT_EQ(labels(linear(foreign), z), (Numbers{2, 3, 3}));
}

TEST(Predict, VanishingProbabilitiesStayNumbers) {
  Foreign foreign;
  foreign.w = {{-1.0}, {-1.0}, {-1.0}};
  foreign.bias = {0.0, 0.0, 0.0};
  foreign.classes = {1.0, 2.0, 3.0};
  foreign.loss = loss::Logistic{};
  const data::Dataset dataset = rows_of(1, {1e6});
  EXPECT_DOUBLE_EQ(probabilities(linear(foreign), scores(linear(foreign), dataset.matrix())).row(0)[0], 1.0 / 3.0);
}

TEST(Predict, ProbabilitiesNeedLogistic) {
  Foreign foreign;
  foreign.w = {{1.0}};
  foreign.bias = {0.0};
  foreign.classes = {-1.0, 1.0};
  foreign.loss = loss::Hinge{};
  const std::string reason = refusal(Fault::usage, [&] { probabilities(linear(foreign), {}); });
  EXPECT_NE(reason.find("logistic"), std::string::npos);
  EXPECT_NE(reason.find("hinge"), std::string::npos);
  foreign.loss.reset();
  refusal(Fault::usage, [&] { probabilities(linear(foreign), {}); });
}

TEST(Predict, Regression) {
  const Foreign foreign{.w = {{1.0}},
                        .constant_weights = {},
                        .bias = {1.0},
                        .classes = {},
                        .preference = {},
                        .loss = {},
                        .penalty = {},
                        .solver_type = {}};
  const data::Dataset dataset = rows_of(1, {1.0, 2.0, 3.0});
  const Linear model = linear(foreign);
  const std::vector<double> values = labels(model, scores(model, dataset.matrix()));
  EXPECT_EQ(values, (Numbers{2, 3, 4}));
  const Metrics m = metrics(model, values, Numbers{1, 3, 5});
  EXPECT_DOUBLE_EQ(m.mean_squared_error, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(m.squared_correlation.value(), 1.0);
  EXPECT_FALSE(metrics(model, values, Numbers{1, 1, 1}).squared_correlation);
}

TEST(PredictParallel, ScoresDoNotDependOnTheBlock) {
  const data::Dataset dataset = random_data({.rows = 10000, .columns = 5});
  const Foreign foreign{.w = {{1.0, 0.1, -0.3, 0.7, 2.0}},
                        .constant_weights = {},
                        .bias = {0.1},
                        .classes = {-1.0, 1.0},
                        .preference = {},
                        .loss = {},
                        .penalty = {},
                        .solver_type = {}};
  const Table z = scores(linear(foreign), dataset.matrix());
  const auto matrix = std::get<data::CsrRows<double>>(dataset.matrix());
  for (const std::size_t i : {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, std::size_t{9999}}) {
    double sum = 0.0;
    matrix.row(i).for_each([&](std::size_t j, double x) { sum += x * foreign.w[0][j]; });
    EXPECT_EQ(z.values[i], sum + 0.1);
  }
}

// --- certified labels ---

struct Case {
  std::string name;
  Bias bias;
  int classes;
  penalty::Any penalty;
};

class CertifiedLabels : public testing::TestWithParam<Case> {};

TEST_P(CertifiedLabels, AgreeWithAnAccurateFit) {
  const data::Dataset train = random_data({.rows = 200, .columns = 6, .classes = GetParam().classes, .seed = 3});
  const data::Dataset fresh = random_data({.rows = 2000, .columns = 6, .classes = GetParam().classes, .seed = 4});
  for (const loss::Any& loss : {loss::Any(loss::SquaredHinge{}), loss::Any(loss::Logistic{})}) {
    registry::Settings settings = settings_for(loss, 0.05, GetParam().bias);
    settings.penalty = GetParam().penalty;
    const Model accurate = fitted(train, settings, {.tolerance = 1e-12, .weights = {}, .factors = {}});
    const Numbers truth = labels(linear(accurate), scores(linear(accurate), fresh.matrix()));
    std::size_t count = 0;
    for (const double tolerance : {1e-1, 1e-2, 1e-4, 1e-8}) {
      const Model model = fitted(train, settings, {.tolerance = tolerance, .weights = {}, .factors = {}});
      const Numbers predicted = labels(linear(model), scores(linear(model), fresh.matrix()));
      const std::vector<std::uint8_t> certain = certified_labels(model, fresh.matrix());
      count = 0;
      for (std::size_t i = 0; i < certain.size(); ++i) {
        count += certain[i];
        if (certain[i] != 0) {
          EXPECT_EQ(predicted[i], truth[i]) << i;
        }
      }
    }
    EXPECT_GT(count, 1900U);  // in the end nearly all are certain
  }
}

INSTANTIATE_TEST_SUITE_P(Models, CertifiedLabels,
                         testing::Values(Case{"none", Bias::none, 2, penalty::L2{}},
                                         Case{"free", Bias::free, 2, penalty::L2{}},
                                         Case{"regularized", Bias::regularized, 2, penalty::L2{}},
                                         Case{"elastic_net", Bias::free, 2, penalty::ElasticNet{}},
                                         Case{"one_versus_rest", Bias::free, 3, penalty::L2{}},
                                         Case{"one_versus_rest_none", Bias::none, 4, penalty::L2{}}),
                         [](const auto& chosen) { return chosen.param.name; });

Model hand_made(double gap) {
  Model model;
  model.settings = settings_for(loss::Hinge{}, 0.5, Bias::none);
  model.lambda = 0.5;
  model.strength = {.l1 = 0.0, .l2 = 0.5};
  model.classes = {-1.0, 1.0};
  model.features = 2;
  model.rows = 1;
  registry::Output output;
  output.w = {1.0, 2.0};
  output.beta = {0.0};
  output.certificate = {.primal = 1.0, .dual = 1.0 - gap, .gap = gap, .rounding = 0.0};
  model.outputs = {output};
  return model;
}

TEST(CertifiedLabelsOf, TheRadius) {
  // sqrt(2 G x^2 / sigma) = 2 |x| for G = 1, sigma = 1/2: the first column never suffices alone.
  const Model model = hand_made(1.0);
  const data::Dataset dataset = rows_of(3, {1, 0, 0, 0, 1, 0, 2, 2, 0, 0, 0, 5, 1, 10, 7});
  // radii 2, 2, 5.66, 0, 20.1 against scores 1, 2, 6, 0, 21; the third column was not in the training data
  EXPECT_EQ(certified_labels(model, dataset.matrix()), (std::vector<std::uint8_t>{0, 0, 1, 0, 1}));
}

TEST(CertifiedLabelsOf, ABiasWidens) {
  Model model = hand_made(0.0);
  const data::Dataset dataset = rows_of(2, {1, 0, 3, 0});
  EXPECT_EQ(certified_labels(model, dataset.matrix()), (std::vector<std::uint8_t>{1, 1}));
  model.settings.bias = Bias::free;
  model.outputs[0].b = 0.5;
  model.outputs[0].bias_range = {.low = -1.5, .high = 1.0};  // scores from -0.5 and from 1.5
  EXPECT_EQ(certified_labels(model, dataset.matrix()), (std::vector<std::uint8_t>{0, 1}));
  model.outputs[0].bias_range = {.low = -1.5, .high = infinity};
  EXPECT_FALSE(certifies_labels(model));
  EXPECT_EQ(certified_labels(model, dataset.matrix()), (std::vector<std::uint8_t>{0, 0}));

  model = hand_made(1.0);
  model.settings.bias = Bias::regularized;
  model.settings.bias_value = 3.0;
  model.outputs[0].w = {1.0, 2.0, 0.5};
  // Scores 1.5 + x; radius 2 sqrt(x^2 + 9): 6.3 and 8.5; the penalty factor of the constant is 1.
  EXPECT_EQ(certified_labels(model, rows_of(2, {1, 0, 3, 0}).matrix()), (std::vector<std::uint8_t>{0, 0}));
  model.outputs[0].w = {1.0, 2.0, 2.5};
  EXPECT_EQ(certified_labels(model, rows_of(2, {1, 0, 3, 0}).matrix()), (std::vector<std::uint8_t>{1, 1}));
}

TEST(CertifiedLabelsOf, UnpenalizedCoordinatesCertifyNothing) {
  Model model = hand_made(1e-20);
  model.factors = {0.0, 1.0};
  EXPECT_EQ(certified_labels(model, rows_of(2, {1, 0, 0, 1, 1, 1}).matrix()), (std::vector<std::uint8_t>{0, 1, 0}));
  model = hand_made(1e-20);
  model.strength = {.l1 = 0.5, .l2 = 0.0};
  EXPECT_FALSE(certifies_labels(model));
  EXPECT_EQ(certified_labels(model, rows_of(2, {1, 0}).matrix()), (std::vector<std::uint8_t>{0}));
}

TEST(CertifiedLabelsOf, RoundingIsCounted) {
  // The exact score is 1e-17 > 0 or so, the computed one 0 or of either sign: nothing is certain.
  Model model = hand_made(0.0);
  model.outputs[0].w = {0.1, -0.3};
  EXPECT_EQ(certified_labels(model, rows_of(2, {3.0, 1.0}).matrix()), (std::vector<std::uint8_t>{0}));
  model = hand_made(1.0);
  EXPECT_EQ(certified_labels(model, rows_of(2, {1e308, 1e308}).matrix()), (std::vector<std::uint8_t>{0}));
}

}  // namespace
}  // namespace fenchel::model
