// Audits: an honest model certifies, whatever the storage of its data; nothing that was changed does.
#include "fenchel/model/audit.hpp"

#include <functional>
#include <limits>
#include <string>

#include "fenchel/model/file.hpp"
#include "tests/model/fixture.hpp"

namespace fenchel::model {
namespace {

using registry::Bias;

// As an attacker would: with a checksum that fits.
Model forged(const Model& model) { return deserialize(serialize(model), "m"); }

data::CsrStorage& csr(data::Dataset& dataset) { return std::get<data::CsrStorage>(dataset.storage); }

data::Array<double>& values(data::Dataset& dataset) { return std::get<data::Array<double>>(csr(dataset).values); }

template <class T>
void set(data::Array<T>& array, std::size_t i, T number) {
  std::vector<T> numbers = array.vector();
  numbers[i] = number;
  array = std::move(numbers);
}

data::Dataset dense(const data::Dataset& dataset) {
  const auto matrix = std::get<data::CsrRows<double>>(dataset.matrix());
  std::vector<double> entries(matrix.rows() * matrix.cols(), 0.0);
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    matrix.row(i).for_each([&](std::size_t j, double x) { entries[i * matrix.cols() + j] = x; });
  }
  data::Dataset result = dataset;
  result.storage =
      data::DenseStorage{.values = std::move(entries), .row_count = matrix.rows(), .column_count = matrix.cols()};
  return result;
}

struct AuditCase {
  std::string name;
  loss::Any loss;
  penalty::Any penalty;
  Bias bias;
  int classes;
};

std::vector<AuditCase> cases() {
  using namespace loss;
  return {{"hinge", Hinge{}, penalty::L2{}, Bias::free, 2},
          {"hinge_none", Hinge{}, penalty::L2{}, Bias::none, 2},
          {"hinge_regularized", Hinge{}, penalty::L2{}, Bias::regularized, 2},
          {"logistic_l1", Logistic{}, penalty::L1{}, Bias::free, 2},
          {"squared_hinge_ovr", SquaredHinge{}, penalty::L2{}, Bias::free, 3},
          {"logistic_ovr", Logistic{}, penalty::ElasticNet{}, Bias::regularized, 3},
          {"squared", Squared{}, penalty::L2{}, Bias::free, 0},
          {"huber_elastic_net", Huber{}, penalty::ElasticNet{}, Bias::free, 0},
          {"absolute", Absolute{}, penalty::L2{}, Bias::free, 0}};
}

class AuditOf : public testing::TestWithParam<AuditCase> {
 protected:
  AuditOf() : dataset(random_data({.classes = GetParam().classes})), model(fitted(dataset, settings())) {}

  static registry::Settings settings() {
    registry::Settings result = settings_for(GetParam().loss, 0.02, GetParam().bias);
    result.penalty = GetParam().penalty;
    return result;
  }
  void expect_refuted(const Model& changed, const data::Dataset& data, const std::string& what) const {
    const Audit result = audit(forged(changed), data);
    EXPECT_FALSE(result.certified) << what;
    EXPECT_FALSE(result.reason.empty()) << what;
  }

  data::Dataset dataset;
  Model model;
};

TEST_P(AuditOf, HonestModelCertifies) {
  const Audit result = audit(forged(model), dataset);
  EXPECT_TRUE(result.certified) << result.reason;
  EXPECT_TRUE(result.reason.empty());
  ASSERT_EQ(result.outputs.size(), model.outputs.size());
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    EXPECT_EQ(result.outputs[k].gap, model.outputs[k].certificate.gap);
    EXPECT_EQ(result.outputs[k].primal, model.outputs[k].certificate.primal);
    EXPECT_EQ(result.outputs[k].dual, model.outputs[k].certificate.dual);
  }
  EXPECT_EQ(result.total.gap, registry::total_of(model.outputs).gap);
}

TEST_P(AuditOf, StorageAndEmptyColumnsDoNotMatter) {
  EXPECT_TRUE(audit(model, dense(dataset)).certified) << audit(model, dense(dataset)).reason;
  EXPECT_TRUE(audit(model, with_columns(dataset, 12)).certified);
  EXPECT_TRUE(audit(model, with_columns(dense(dataset), 12)).certified);
  const data::Dataset wider = with_columns(dataset, 12);
  const Model wide_model = fitted(wider, settings());
  EXPECT_EQ(wide_model.features, 12U);
  EXPECT_TRUE(audit(wide_model, dataset).certified) << audit(wide_model, dataset).reason;
  EXPECT_TRUE(audit(wide_model, dense(dataset)).certified);
}

TEST_P(AuditOf, ChangedWeightsAndDualsNeverCertify) {
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    for (std::size_t j = 0; j < model.outputs[k].w.size(); ++j) {
      for (const double change : {0.01, -0.01, 1e3}) {
        Model changed = model;
        changed.outputs[k].w[j] += change;
        expect_refuted(changed, dataset, "weight " + std::to_string(j));
      }
    }
    for (std::size_t i = 0; i < model.rows; ++i) {
      for (const double change : {0.05, -0.05, 10.0}) {
        Model changed = model;
        changed.outputs[k].beta[i] += change;
        expect_refuted(changed, dataset, "dual " + std::to_string(i));
      }
    }
  }
}

TEST_P(AuditOf, ChangedBiasNeverCertifies) {
  Model changed = model;
  changed.outputs[0].b += 0.05;  // not even a model any more where the bias is not free
  EXPECT_FALSE(audit(changed, dataset).certified);
}

TEST_P(AuditOf, NarrowedBiasRangeNeverCertifies) {
  if (model.settings.bias != Bias::free || !std::isfinite(model.outputs.front().bias_range.low)) return;
  for (registry::Output& output : model.outputs) {
    const double middle = output.b;
    output.bias_range = {middle + 0.5 * (output.bias_range.low - middle), output.bias_range.high};
  }
  EXPECT_FALSE(audit(model, dataset).certified);
}

TEST_P(AuditOf, ChangedSettingsNeverCertify) {
  const std::vector<std::function<void(Model&)>> changes{
      [](Model& m) { m.lambda *= 1.01; },
      [](Model& m) { m.lambda = std::nextafter(m.lambda, 1.0); },
      [](Model& m) { m.strength.l1 += 1e-3; },
      [](Model& m) { m.strength.l2 += 1e-3; },
      [](Model& m) { m.settings.lambda = 0.03; },
      [](Model& m) { m.settings.lambda = 0.03, m.lambda = 0.03; },
      [](Model& m) {  // all of it, consistently
        m.settings.lambda = 0.03, m.lambda = 0.03;
        m.strength = std::visit([](const auto& p) { return p.strength(0.03); }, m.settings.penalty);
      }};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    Model changed = model;
    changes[k](changed);
    expect_refuted(changed, dataset, "setting " + std::to_string(k));
  }
}

TEST_P(AuditOf, ForgedClaimsNeverCertify) {
  const std::vector<std::function<void(problem::Certificate&)>> changes{
      [](problem::Certificate& c) { c.gap *= 0.5, c.rounding *= 0.5; },
      [](problem::Certificate& c) { c.gap = 0.0, c.rounding = 0.0; },
      [](problem::Certificate& c) { c.primal *= 1.001; },
      [](problem::Certificate& c) { c.dual += 0.001 * std::fabs(c.primal); },
      [](problem::Certificate& c) { c.dual -= 0.001 * std::fabs(c.primal); }};
  for (std::size_t k = 0; k < changes.size(); ++k) {
    Model changed = model;
    changes[k](changed.outputs.back().certificate);
    expect_refuted(changed, dataset, "claim " + std::to_string(k));
  }
}

TEST_P(AuditOf, OtherDataNeverCertify) {
  data::Dataset changed = dataset;
  set(values(changed), 5, std::nextafter(values(changed)[5], 10.0));
  expect_refuted(model, changed, "value");

  changed = dataset;
  set(changed.targets, 3, changed.targets[3] == 1.0 ? changed.targets[4] + 1.0 : 1.0);
  expect_refuted(model, changed, "label");

  changed = dataset;
  const std::size_t last = csr(changed).offsets[8] - 1;
  set(csr(changed).columns, last, csr(changed).columns[last] + 1);
  csr(changed).column_count = 9;
  expect_refuted(model, changed, "column");

  changed = random_data({.rows = 59, .classes = GetParam().classes});
  expect_refuted(model, changed, "one row less");
  EXPECT_NE(audit(model, changed).reason.find("59 rows instead of 60"), std::string::npos);

  // Two dense rows change places.
  changed = dense(dataset);
  auto& held = std::get<data::DenseStorage>(changed.storage).values;
  std::vector<double> entries = std::get<data::Array<double>>(held).vector();
  std::swap_ranges(entries.begin(), entries.begin() + 8, entries.begin() + 8);
  held = std::move(entries);
  std::vector<double> targets = changed.targets.vector();
  std::swap(targets[0], targets[1]);
  changed.targets = std::move(targets);
  expect_refuted(model, changed, "rows");
}

TEST_P(AuditOf, NanNeverCertifies) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::function<void(Model&)>> changes{
      [&](Model& m) { m.outputs[0].w[0] = nan; },
      [&](Model& m) { m.outputs[0].beta[0] = nan; },
      [&](Model& m) { m.outputs[0].b = nan; },
      [&](Model& m) { m.outputs[0].certificate.gap = nan; },
      [&](Model& m) { m.outputs[0].certificate.gap = infinity; },
      [&](Model& m) { m.outputs[0].certificate.rounding = infinity; },
      [&](Model& m) { m.lambda = nan; }};
  for (const auto& change : changes) {
    Model changed = model;
    change(changed);
    EXPECT_FALSE(audit(changed, dataset).certified);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, AuditOf, testing::ValuesIn(cases()),
                         [](const auto& chosen) { return chosen.param.name; });

TEST(Audit, WeightsFactorsAndClassWeights) {
  registry::Settings settings = settings_for(loss::Logistic{}, 0.02);
  settings.lambda.reset();
  settings.C = 0.7;
  settings.class_weight.balanced = true;
  const data::Dataset dataset = random_data({.classes = 3});
  Extras extras;
  for (std::size_t i = 0; i < dataset.rows(); ++i) extras.weights.push_back(0.1 * static_cast<double>(i % 7));
  extras.factors = {1.0, 0.1, 2.0, 0.5, 3.0, 1.0, 1.0, 0.3};
  Model model = fitted(dataset, settings, extras);
  EXPECT_TRUE(audit(forged(model), dataset).certified) << audit(model, dataset).reason;
  EXPECT_TRUE(audit(forged(model), with_columns(dataset, 10)).certified);
  Model changed = model;
  changed.weights[4] *= 2.0;
  EXPECT_FALSE(audit(changed, dataset).certified);
  changed = model;
  changed.factors[2] = 0.1;
  EXPECT_FALSE(audit(changed, dataset).certified);
  changed = model;
  changed.settings.class_weight.balanced = false;
  EXPECT_FALSE(audit(changed, dataset).certified);
}

TEST(Audit, PointsWithoutAClaim) {
  const data::Dataset dataset = random_data({});
  const registry::Settings settings = settings_for(loss::Logistic{}, 0.02);
  const Model model = fitted(dataset, settings, {.tolerance = 1e-8, .weights = {}, .factors = {}});
  const registry::Plan plan(dataset, settings);
  const double primal = model.outputs[0].certificate.primal, dual = model.outputs[0].certificate.dual;

  Point point{.w = model.outputs[0].w, .b = model.outputs[0].b, .alpha = {}, .beta = {}};
  EXPECT_LT(audit_point(plan, 0, point).gap, 1e-5 * primal);

  // Further away the bound grows but stays a bound, and a good dual point makes it tight.
  point.w[0] += 0.5;
  const problem::Certificate alone = audit_point(plan, 0, point);
  EXPECT_GE(alone.gap, alone.primal - primal);
  point.beta = model.outputs[0].beta;
  const problem::Certificate helped = audit_point(plan, 0, point);
  EXPECT_LE(helped.gap, alone.gap);
  EXPECT_NEAR(helped.gap, helped.primal - dual, 1e-9);

  const Point far{.w = std::vector<double>(8, 1e6), .b = 0.0, .alpha = {}, .beta = {}};
  EXPECT_TRUE(audit_point(plan, 0, far).valid());
}

TEST(Audit, ForeignPointsMustFit) {
  const data::Dataset dataset = random_data({.columns = 2});
  Foreign foreign;
  foreign.w = {{1.0, 2.0}};
  foreign.constant_weights = {0.5};
  foreign.bias_value = 2.0;
  foreign.bias = {1.0};
  foreign.classes = {-1.0, 1.0};

  const registry::Plan free(dataset, settings_for(loss::Hinge{}));
  EXPECT_EQ(point_of(foreign, free, 0).b, 1.0);
  EXPECT_EQ(point_of(foreign, free, 0).w, (std::vector<double>{1.0, 2.0}));

  registry::Settings settings = settings_for(loss::Hinge{}, 0.1, Bias::regularized);
  const registry::Plan by_one(dataset, settings);
  EXPECT_EQ(point_of(foreign, by_one, 0).w, (std::vector<double>{1.0, 2.0, 1.0}));
  settings.bias_value = 2.0;
  const registry::Plan by_two(dataset, settings);
  EXPECT_EQ(point_of(foreign, by_two, 0).w, (std::vector<double>{1.0, 2.0, 0.5}));

  const registry::Plan without(dataset, settings_for(loss::Hinge{}, 0.1, Bias::none));
  refusal(Fault::usage, [&] { point_of(foreign, without, 0); });
  const registry::Plan regression(dataset, settings_for(loss::Squared{}));
  refusal(Fault::input, [&] { point_of(foreign, regression, 0); });
  foreign.classes = {0.0, 1.0};
  refusal(Fault::input, [&] { point_of(foreign, free, 0); });
  foreign.classes = {-1.0, 1.0};
  foreign.w[0] = {1.0, 2.0, 3.0};
  refusal(Fault::input, [&] { point_of(foreign, free, 0); });
  const data::Dataset wider = with_columns(dataset, 3);
  EXPECT_EQ(point_of(foreign, registry::Plan(wider, settings_for(loss::Hinge{})), 0).w.size(), 3U);
}

}  // namespace
}  // namespace fenchel::model
