// The empirical risk as an oracle: state and gradient at once are state and gradient one after the other.
#include <gtest/gtest.h>

#include <vector>

#include "fenchel/risk/pointwise.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

TEST(Pointwise, StateAndGradientAtOnce) {
  const Case setup = random_setup(loss::Logistic{}, 800, 6, Storage::csr64, 21);
  const data::Dataset dataset = dataset_of(setup);
  std::vector<double> weights(800, 1.0);
  weights[3] = 0.0, weights[5] = 2.5;
  const risk::Sample sample{setup.labels, weights, 800.5};
  for (const bool free_bias : {false, true}) {
    risk::Pointwise risk({.matrix = dataset.matrix(), .constant = 0.0}, sample, loss::Logistic{}, free_bias);
    std::vector<double> w(risk.dimension()), apart(w.size()), together(w.size());
    for (std::size_t j = 0; j < w.size(); ++j) w[j] = 0.3 * static_cast<double>(j) - 0.5;
    risk::Pointwise::State first, second;
    risk.locate(w, 0.25, first);
    risk.gradient(first, apart);
    const std::vector<double> dual(risk.dual().begin(), risk.dual().end());
    EXPECT_EQ(risk.locate_with_gradient(w, 0.25, second, together), free_bias ? 2.0 : 1.0);
    EXPECT_EQ(first.z, second.z);
    EXPECT_EQ(first.b, second.b);
    EXPECT_EQ(apart, together);
    EXPECT_EQ(dual, std::vector<double>(risk.dual().begin(), risk.dual().end()));
  }
}

}  // namespace
}  // namespace fenchel::test
