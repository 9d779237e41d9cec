// Products with the weights of all classes: the exact ones are within the errors that are claimed.
#include "fenchel/data/class_map.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "fenchel/base/random.hpp"
#include "fenchel/problem/multiclass.hpp"
#include "fenchel/registry/plan.hpp"
#include "tests/support/multiclass.hpp"
#include "tests/support/quad.hpp"

namespace fenchel::test {
namespace {

// As many classes as any of the widths in which they are taken together, and of all remainders.
TEST(ClassMap, ErrorsEncloseTheExactProducts) {
  for (std::size_t classes = 2; classes <= 19; ++classes) {
    for (const Storage storage : {Storage::csr64, Storage::dense64}) {
      for (const registry::Bias bias : {registry::Bias::none, registry::Bias::regularized}) {
        Case setup = multiclass_case(every_vector_loss().front(), 40, 23, classes, storage, classes);
        setup.settings.bias = bias;
        const data::Dataset dataset = dataset_of(setup);
        const registry::Plan plan(dataset, setup.settings);
        const problem::MulticlassProblem problem = plan.multiclass();
        const std::size_t k = problem.classes(), d = problem.dimension(), n = problem.rows();
        const data::ClassMap map(problem.design, k);
        Random random(classes);
        std::vector<double> w(d * k), z(n * k), same(n * k), error(n);
        for (double& weight : w) weight = random.normal() * std::exp(10 * random.normal());
        map.margins(w, z, error);
        map.margins(w, same);
        EXPECT_EQ(z, same);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t l = 0; l < k; ++l) {
            Quad exact = 0;
            for (std::size_t j = 0; j < setup.rows[i].size(); ++j) exact += Quad(setup.rows[i][j]) * w[j * k + l];
            if (problem.design.constant != 0.0) exact += Quad(problem.design.constant) * w[(d - 1) * k + l];
            EXPECT_LE(static_cast<double>(magnitude(exact - Quad(z[i * k + l]))), error[i])
                << classes << " classes, row " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
