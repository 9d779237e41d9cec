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

// Rows of the other factor without a number, with a few and with many; columns in one band and in several.
TEST(ClassMap, AdjointErrorsEncloseTheExactSums) {
  for (const std::size_t features : {3U, 16U, 23U, 100U}) {
    for (const Storage storage : {Storage::csr64, Storage::dense64}) {
      for (const registry::Bias bias : {registry::Bias::none, registry::Bias::regularized}) {
        Case setup = multiclass_case(every_vector_loss().front(), 60, features, 9, storage, features);
        for (std::vector<double>& row : setup.rows) row[features / 2] = 0.0;
        setup.settings.bias = bias;
        const data::Dataset dataset = dataset_of(setup);
        const registry::Plan plan(dataset, setup.settings);
        const problem::MulticlassProblem problem = plan.multiclass();
        const std::size_t k = problem.classes(), d = problem.dimension(), n = problem.rows();
        const data::ClassMap map(problem.design, k);
        Random random(features);
        std::vector<double> a(n * k), u(d * k, -1.0), same(d * k, -1.0), error(d, -1.0);
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t l = 0; l < i % (k + 1); ++l)
            a[i * k + l] = random.normal() * std::exp(10 * random.normal());
        }
        map.adjoint(a, u, error);
        map.adjoint(a, same);
        EXPECT_EQ(u, same);
        for (std::size_t j = 0; j < d; ++j) {
          for (std::size_t l = 0; l < k; ++l) {
            Quad exact = 0;
            for (std::size_t i = 0; i < n; ++i) {
              const double x = j < features ? setup.rows[i][j] : problem.design.constant;
              exact += Quad(x) * a[i * k + l];
            }
            EXPECT_LE(static_cast<double>(magnitude(exact - Quad(u[j * k + l]))), error[j]) << "column " << j;
          }
          EXPECT_EQ(error[j] == 0.0, j == features / 2);
        }
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
