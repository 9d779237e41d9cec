// Models of other tools, in our conventions.
#include "fenchel/model/foreign.hpp"

#include <string>

#include "fenchel/model/predict.hpp"
#include "tests/model/fixture.hpp"

namespace fenchel::model {
namespace {

using registry::Bias;
using Numbers = std::vector<double>;

std::string liblinear_refusal(const std::string& text) {
  return refusal(Fault::input, [&] { read_liblinear(text, "m"); });
}

TEST(Liblinear, TwoClassesLargerFirst) {
  // As liblinear-train -s 0 -B 1 writes it.
  const Foreign model = read_liblinear(
      "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias 1\nw\n"
      "0.76556645408206325 \n0.60499167877445359 \n-0.081409753174798552 \n0.065476638020597847 \n",
      "m");
  ASSERT_EQ(model.w.size(), 1U);
  EXPECT_EQ(model.w[0], (Numbers{0.76556645408206325, 0.60499167877445359, -0.081409753174798552}));
  EXPECT_EQ(model.bias, (Numbers{0.065476638020597847}));
  EXPECT_EQ(model.constant_weights, (Numbers{0.065476638020597847}));
  EXPECT_EQ(model.bias_value, 1.0);
  EXPECT_EQ(model.classes, (Numbers{-1, 1}));
  EXPECT_EQ(loss::name(model.loss.value()), "logistic");
  EXPECT_TRUE(std::holds_alternative<penalty::L2>(model.penalty.value()));
  EXPECT_EQ(model.solver_type, "L2R_LR");
}

TEST(Liblinear, TwoClassesSmallerFirst) {
  const Foreign model = read_liblinear(
      "solver_type L1R_L2LOSS_SVC\nnr_class 2\nlabel 0 5\nnr_feature 2\nbias 2\nw\n0.5\n-0.25\n3\n", "m");
  EXPECT_EQ(model.w[0], (Numbers{-0.5, 0.25}));
  EXPECT_EQ(model.bias, (Numbers{-6}));
  EXPECT_EQ(model.constant_weights, (Numbers{-3}));
  EXPECT_EQ(model.classes, (Numbers{0, 5}));
  EXPECT_EQ(loss::name(model.loss.value()), "squared-hinge");
  EXPECT_TRUE(std::holds_alternative<penalty::L1>(model.penalty.value()));
  // LIBLINEAR says the second label where the score is 0.
  EXPECT_EQ(labels(linear(model), {.rows = 3, .columns = 1, .values = {0.0, 1.0, -1.0}}), (Numbers{5, 5, 0}));
}

TEST(Liblinear, OneVersusRestIsSorted) {
  const Foreign model = read_liblinear(
      "solver_type L2R_L2LOSS_SVC\nnr_class 3\nlabel 3 1 2\nnr_feature 2\nbias -1\nw\n30 10 20 \n31 11 21 \n", "m");
  EXPECT_EQ(model.classes, (Numbers{1, 2, 3}));
  EXPECT_EQ(model.w, (std::vector<Numbers>{{10, 11}, {20, 21}, {30, 31}}));
  EXPECT_EQ(model.bias, (Numbers{0, 0, 0}));
  EXPECT_TRUE(model.constant_weights.empty());
  // Its first label wins ties: 3, then 1, then 2.
  EXPECT_EQ(labels(linear(model), {.rows = 2, .columns = 3, .values = {0, 0, 0, 1, 1, 0}}), (Numbers{3, 1}));
}

TEST(Liblinear, CrammerSingerHasAColumnAClass) {
  const Foreign model =
      read_liblinear("solver_type MCSVM_CS\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\n0.5 -0.5 \n", "m");
  EXPECT_EQ(model.w, (std::vector<Numbers>{{-0.5}, {0.5}}));
  EXPECT_EQ(loss::name(model.loss.value()), "multiclass-hinge");
  EXPECT_EQ(labels(linear(model), {.rows = 3, .columns = 2, .values = {-1, 1, 1, -1, 0, 0}}), (Numbers{1, -1, -1}));
}

TEST(Liblinear, RegressionAndOneClass) {
  const Foreign regression =
      read_liblinear("solver_type L2R_L2LOSS_SVR\nnr_class 2\nnr_feature 1\nbias 1\nw\n0.5\n0.25\n", "m");
  EXPECT_TRUE(regression.classes.empty());
  EXPECT_EQ(loss::name(regression.loss.value()), "squared-epsilon-insensitive");
  EXPECT_EQ(regression.bias, (Numbers{0.25}));
  const Foreign one_class =
      read_liblinear("solver_type ONECLASS_SVM\nnr_class 2\nnr_feature 1\nbias -1\nrho 0.75\nw\n0.5\n", "m");
  EXPECT_EQ(one_class.classes, (Numbers{-1, 1}));
  EXPECT_EQ(one_class.bias, (Numbers{-0.75}));
}

TEST(Liblinear, RefusalsNameThePlace) {
  EXPECT_EQ(liblinear_refusal("1 1:2\n"), "m:1:1: is not a LIBLINEAR model: it does not begin with 'solver_type'");
  EXPECT_EQ(liblinear_refusal("solver_type MAGIC\n"), "m:1:13: unknown solver_type 'MAGIC'");
  const std::string head = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n";
  EXPECT_EQ(liblinear_refusal(head + "1"), "m:6:1: the file is too short for 2 x 1 weights");
  EXPECT_EQ(liblinear_refusal(head + "1\nabc\n"), "m:8:1: 'abc' is not a number, where a weight should stand");
  EXPECT_EQ(liblinear_refusal(head + "1\nnan\n"), "m:8:1: 'nan' is not a number, where a weight should stand");
  EXPECT_EQ(liblinear_refusal(head + "1\n1e999\n"), "m:8:1: '1e999' overflows a double");
  EXPECT_EQ(liblinear_refusal(head + "1\n2\n3\n"), "m:9:1: '3' follows the last weight");
  EXPECT_EQ(liblinear_refusal(head + "100\n"), "m:8:1: the file ends where a weight should follow");
  EXPECT_EQ(liblinear_refusal("solver_type L2R_LR\nnr_class 2\nnr_feature 9\nbias -1\n"),
            "m:5:1: the file ends before the line 'w'");
  EXPECT_EQ(liblinear_refusal("solver_type L2R_LR\nlabel 1 2\n"), "m:2:1: 'label' stands before 'nr_class'");
  EXPECT_EQ(liblinear_refusal("solver_type L2R_LR\nnr_class 2.5\n"),
            "m:2:10: nr_class must be a whole number from 1 to 2147483647");
  EXPECT_EQ(liblinear_refusal("solver_type L2R_LR\ncolour red\n"),
            "m:2:1: 'colour' is no entry of a LIBLINEAR model");
}

TEST(Liblinear, HugeSizesAllocateNothing) {
  liblinear_refusal("solver_type L2R_LR\nnr_class 2147483647\nlabel 1 2\n");
  liblinear_refusal("solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 2147483647\nbias 1\nw\n1\n");
  liblinear_refusal("solver_type MCSVM_CS\nnr_class 3\nlabel 1 2 3\nnr_feature 2147483647\nbias 1\nw\n1\n");
}

TEST(Liblinear, LabelsMustFit) {
  const std::string tail = "nr_feature 1\nbias -1\nw\n1 1 1\n";
  liblinear_refusal("solver_type L2R_LR\nnr_class 3\nlabel 1 2 2\n" + tail);
  liblinear_refusal("solver_type L2R_LR\nnr_class 2\n" + tail);
  liblinear_refusal("solver_type L2R_LR\nnr_class 1\nlabel 1\n" + tail);
  liblinear_refusal("solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_class 3\n" + tail);
}

TEST(WeightList, WithAndWithoutBias) {
  const Foreign plain = read_weights("1\n2\n", "w", {.features = 2, .bias = Bias::free});
  EXPECT_EQ(plain.w[0], (Numbers{1, 2}));
  EXPECT_EQ(plain.bias, (Numbers{0}));
  const Numbers classes{-1, 1};
  const Foreign biased = read_weights(
      "1\n2\n3\n", "w", {.features = 2, .bias = Bias::regularized, .bias_value = 2.0, .classes = classes});
  EXPECT_EQ(biased.w[0], (Numbers{1, 2}));
  EXPECT_EQ(biased.bias, (Numbers{3}));
  EXPECT_EQ(biased.constant_weights, (Numbers{1.5}));
  EXPECT_EQ(biased.classes, classes);
}

TEST(WeightList, Refusals) {
  EXPECT_EQ(refusal(Fault::input, [] { read_weights("1\n2\n3\n", "w", {.features = 2, .bias = Bias::none}); }),
            "w: 3 numbers for 2 features: give one a feature and, without a bias, no more");
  EXPECT_EQ(refusal(Fault::input, [] { read_weights("1\n", "w", {.features = 2, .bias = Bias::free}); }),
            "w: 1 numbers for 2 features: give one a feature, and the bias as one more if it is not 0");
  EXPECT_EQ(refusal(Fault::input, [] { read_weights("1\nx\n", "w", {.features = 2}); }),
            "w:2:1: 'x' is not a decimal number");
  const Numbers classes{1, 2, 3};
  refusal(Fault::usage, [&] { read_weights("1\n2\n", "w", {.features = 2, .classes = classes}); });
}

}  // namespace
}  // namespace fenchel::model
