// Exported weights keep their meaning and their bits.
#include "fenchel/model/export.hpp"

#include <cstring>
#include <string>

#include <nlohmann/json.hpp>

#include "fenchel/model/foreign.hpp"
#include "fenchel/model/predict.hpp"
#include "tests/model/fixture.hpp"

namespace fenchel::model {
namespace {

using registry::Bias;

Model hand_made() {
  Model model;
  model.settings = settings_for(loss::Logistic{}, 0.5);
  model.lambda = 0.5;
  model.strength = {.l1 = 0.0, .l2 = 0.5};
  model.classes = {-1.0, 1.0};
  model.features = 3;
  registry::Output output;
  output.w = {0.1, 0.0, -2.0};
  output.b = 0.3;
  model.outputs = {output};
  return model;
}

Model three_classes() {
  Model model = hand_made();
  model.classes = {0.0, 4.0, 9.0};
  model.outputs.resize(3, model.outputs[0]);
  model.outputs[1].w = {1.0, 2.0, 3.0};
  model.outputs[2].b = -1.0;
  return model;
}

TEST(Export, Liblinear) {
  EXPECT_EQ(export_bytes(hand_made(), "liblinear"),
            "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias 1\nw\n"
            "0.10000000000000001 \n0 \n-2 \n0.29999999999999999 \n");
  Model model = hand_made();
  model.settings.bias = Bias::none;
  model.outputs[0].b = 0.0;
  model.settings.loss = loss::Hinge{};
  EXPECT_EQ(export_bytes(model, "liblinear"),
            "solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias -1\nw\n"
            "0.10000000000000001 \n0 \n-2 \n");
  model = hand_made();
  model.settings.loss = loss::Huber{};
  model.classes.clear();
  EXPECT_EQ(export_bytes(model, "liblinear"),
            "solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 3\nbias 1\nw\n"
            "0.10000000000000001 \n0 \n-2 \n0.29999999999999999 \n");
  model = hand_made();
  model.classes = {0.5, 1.0};
  refusal(Fault::usage, [&] { export_bytes(model, "liblinear"); });
  model.classes = {1.0, 1e10};
  refusal(Fault::usage, [&] { export_bytes(model, "liblinear"); });
}

TEST(Export, LiblinearRegularizedBias) {
  Model model = hand_made();
  model.settings.bias = Bias::regularized;
  model.settings.bias_value = 2.0;
  model.outputs[0].b = 0.0;
  model.outputs[0].w.push_back(0.25);
  EXPECT_TRUE(export_bytes(model, "liblinear").ends_with("bias 1\nw\n0.10000000000000001 \n0 \n-2 \n0.5 \n"));
}

TEST(Export, LiblinearReadsBack) {
  for (const int classes : {0, 2, 3}) {
    for (const Bias bias : {Bias::none, Bias::free, Bias::regularized}) {
      const data::Dataset dataset = random_data({.classes = classes});
      const loss::Any loss = classes == 0 ? loss::Any(loss::Squared{}) : loss::Any(loss::SquaredHinge{});
      const Model model = fitted(dataset, settings_for(loss, 0.05, bias));
      const Foreign again = read_liblinear(export_bytes(model, "liblinear"), "m");
      EXPECT_EQ(again.classes, model.classes);
      EXPECT_EQ(scores(linear(again), dataset.matrix()).values, scores(linear(model), dataset.matrix()).values);
      EXPECT_EQ(labels(linear(again), scores(linear(again), dataset.matrix())),
                labels(linear(model), scores(linear(model), dataset.matrix())));
    }
  }
}

TEST(Export, Csv) {
  EXPECT_EQ(export_bytes(hand_made(), "csv"), "feature,weight\n1,0.1\n2,0\n3,-2\nbias,0.3\n");
  Model model = three_classes();
  model.index_base = 0;
  EXPECT_EQ(export_bytes(model, "csv"), "feature,0,4,9\n0,0.1,1,0.1\n1,0,2,0\n2,-2,3,-2\nbias,0.3,0.3,-1\n");
}

TEST(Export, Json) {
  const auto single = nlohmann::json::parse(export_bytes(hand_made(), "json"));
  EXPECT_EQ(single["weights"], (nlohmann::json{0.1, 0, -2}));
  EXPECT_EQ(single["bias"], 0.3);
  EXPECT_EQ(single["classes"], (nlohmann::json{-1, 1}));
  EXPECT_EQ(single["loss"], "logistic");
  EXPECT_EQ(single["penalty"], "l2");
  EXPECT_EQ(single["lambda"], 0.5);
  EXPECT_EQ(single.size(), 8U);

  const auto several = nlohmann::json::parse(export_bytes(three_classes(), "json"));
  EXPECT_EQ(several["weights"].size(), 3U);
  EXPECT_EQ(several["weights"][1], (nlohmann::json{1, 2, 3}));
  EXPECT_EQ(several["bias"], (nlohmann::json{0.3, 0.3, -1}));

  Model sparse = hand_made();
  sparse.features = 1000;
  sparse.outputs[0].w.assign(1000, 0.0);
  sparse.outputs[0].w[17] = 1.0 / 3.0;
  sparse.settings.bias = Bias::none;
  sparse.outputs[0].b = 0.0;
  const auto object = nlohmann::json::parse(export_bytes(sparse, "json"));
  EXPECT_EQ(object["weights"]["indices"], (nlohmann::json::array({17})));
  EXPECT_EQ(object["weights"]["values"][0].get<double>(), 1.0 / 3.0);
  EXPECT_EQ(object["bias"], 0);
}

TEST(Export, JsonNamesDirectStrengths) {
  Model model = hand_made();
  const auto named = [&](double l1, double l2) {
    model.settings.direct = penalty::Strength{.l1 = l1, .l2 = l2};
    return nlohmann::json::parse(export_bytes(model, "json"))["penalty"].get<std::string>();
  };
  EXPECT_EQ(named(1, 1), "elastic-net");
  EXPECT_EQ(named(1, 0), "l1");
  EXPECT_EQ(named(0, 1), "l2");
  EXPECT_EQ(named(0, 0), "none");
}

TEST(Export, Npy) {
  const std::string bytes = export_bytes(three_classes(), "npy");
  ASSERT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t header = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + header) % 64, 0U);
  EXPECT_EQ(bytes[10 + header - 1], '\n');
  EXPECT_NE(bytes.find("'shape': (3, 3)"), std::string::npos);
  ASSERT_EQ(bytes.size(), 10 + header + 9 * sizeof(double));
  double value = 0.0;
  std::memcpy(&value, bytes.data() + 10 + header + 4 * sizeof(double), sizeof value);
  EXPECT_EQ(value, 2.0);
  EXPECT_NE(export_bytes(hand_made(), "npy").find("'shape': (3,)"), std::string::npos);
}

TEST(Export, UnknownFormat) {
  EXPECT_EQ(refusal(Fault::usage, [] { export_bytes(hand_made(), "xml"); }),
            "unknown export format 'xml': use one of liblinear, csv, json, npy");
  EXPECT_EQ(refusal(Fault::failure, [] { export_file(hand_made(), "csv", "/dev/full"); }),
            "/dev/full: cannot write: No space left on device");
}

}  // namespace
}  // namespace fenchel::model
