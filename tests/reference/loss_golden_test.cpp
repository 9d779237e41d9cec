// Losses against golden vectors (values, derivatives, conjugates and dual steps) and against the contract's names.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "fenchel/loss/any.hpp"
#include "tests/support/golden.hpp"

namespace fenchel::loss {
namespace {

using nlohmann::json;

std::string contract_name(const std::string& golden_name) {
  const std::map<std::string, std::string> renamed{{"eps_insensitive", "epsilon-insensitive"},
                                                   {"squared_eps_insensitive", "squared-epsilon-insensitive"}};
  if (const auto found = renamed.find(golden_name); found != renamed.end()) return found->second;
  std::string name = golden_name;
  for (char& c : name) c = c == '_' ? '-' : c;
  return name;
}

// The golden squared epsilon-insensitive loss carries a factor 1/2 that ours has not. With phi = 2 phi_g:
// alpha = 2 alpha_g, conjugate(alpha) = 2 conjugate_g(alpha / 2), and the step has q = q_g / 2.
double golden_scale(const std::string& golden_name) { return golden_name == "squared_eps_insensitive" ? 2.0 : 1.0; }

template <class L>
void check(L loss, const json& c) {
  for (const auto& field : L::fields)
    loss.*field.member = c["params"].at(std::string(field.name)).template get<double>();
  const double scale = golden_scale(c["loss"]);
  const double y = c["y"];
  const double z = c["a"];
  const double alpha = scale * c["alpha"].get<double>();
  EXPECT_NEAR(loss.value(y, z), scale * c["value"].get<double>(), 1e-10);
  EXPECT_NEAR(loss.derivative(y, z), scale * c["derivative"].get<double>(), 1e-10);
  EXPECT_NEAR(loss.conjugate(y, alpha), scale * c["conj_neg_alpha"].get<double>(), 1e-10);
  const double step = loss.dual_step(y, alpha, z, c["q"].get<double>() / scale);
  EXPECT_NEAR(step, scale * c["alpha_new"].get<double>(), 1e-10);
}

TEST(LossGolden, EveryCase) {
  const json file = test::golden("sdca-losses.json");
  ASSERT_FALSE(file["cases"].empty());
  for (const json& c : file["cases"]) {
    SCOPED_TRACE(c.dump());
    ASSERT_TRUE(c["loss"] != "squared_hinge" || c["params"]["gamma"] == 0.5);  // ours: no factor 1/2
    const std::optional<Any> loss = by_name(contract_name(c["loss"]));
    ASSERT_TRUE(loss);
    std::visit([&](const auto& concrete) { check(concrete, c); }, *loss);
  }
}

TEST(LossGolden, LogisticExtremes) {
  const json file = test::golden("sdca-logistic-extreme.json");
  ASSERT_FALSE(file["cases"].empty());
  for (const json& c : file["cases"]) {
    SCOPED_TRACE(c.dump());
    const double expected = c["alpha_new"];
    EXPECT_NEAR(Logistic{}.dual_step(c["y"], c["alpha"], c["a"], c["q"]), expected, 1e-10 * std::fabs(expected));
  }
}

TEST(LossRegistry, KnowsTheContractsNames) {
  const std::vector<std::string_view> contract{"hinge",
                                               "squared-hinge",
                                               "smooth-hinge",
                                               "logistic",
                                               "squared",
                                               "absolute",
                                               "huber",
                                               "epsilon-insensitive",
                                               "squared-epsilon-insensitive",
                                               "quantile"};
  EXPECT_EQ(names(), contract);
  for (const std::string_view wanted : contract) {
    const std::optional<Any> loss = by_name(wanted);
    ASSERT_TRUE(loss) << wanted;
    EXPECT_EQ(name(*loss), wanted);
    EXPECT_GE(smoothness(*loss), 0.0);
  }
  EXPECT_FALSE(by_name("hing"));
  EXPECT_EQ(task(*by_name("logistic")), Task::classification);
  EXPECT_EQ(task(*by_name("huber")), Task::regression);
}

TEST(LossRegistry, DefaultsLieInTheirFields) {
  for_each_type([]<class L>(std::type_identity<L>) {
    for (const auto& field : L::fields) {
      EXPECT_GT(L{}.*field.member, field.low) << L::name;
      EXPECT_LT(L{}.*field.member, field.high) << L::name;
      EXPECT_FALSE(field.help.empty()) << L::name;
    }
  });
}

}  // namespace
}  // namespace fenchel::loss
