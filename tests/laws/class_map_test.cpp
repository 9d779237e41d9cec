// Products with the weights of all classes: the exact ones are within the errors that are claimed.
#include "fenchel/data/class_map.hpp"

#include <cmath>
#include <cstdint>
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

// A product that underflows is not 0; an entry of 0 is.
TEST(ClassMap, AdjointErrorsKnowProductsThatUnderflow) {
  const std::vector<std::uint64_t> offsets{0, 2};
  const std::vector<std::uint32_t> columns{0, 1};
  const std::vector<double> values{1e-200, 0.0}, a{1e-200, 0.0};
  const data::CsrRows<double> rows{.offsets = offsets, .columns = columns, .values = values, .column_count = 2};
  std::vector<double> u(4, -1.0), error(2, -1.0);
  data::ClassMap({.matrix = rows}, 2).adjoint(a, u, error);
  EXPECT_EQ(u, std::vector<double>(4, 0.0));
  EXPECT_GT(error[0], 0.0);
  EXPECT_EQ(error[1], 0.0);
}

// So many entries that their rows are cut, and columns are in several bands: each is summed in the order of the rows.
TEST(ClassMap, AdjointsOfLargeDataAreSummedInTheOrderOfTheRows) {
  constexpr std::size_t n = (1 << 20) + 77, d = 8, k = 2;
  Random random(3);
  std::vector<double> some(1021);
  for (double& number : some) number = random.normal();
  std::vector<float> values(n * d);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = static_cast<float>(some[e % some.size()]);
  std::vector<double> a(n * k), u(d * k, -1.0), expected(d * k);
  for (std::size_t e = 0; e < a.size(); ++e) a[e] = some[(7 * e) % some.size()];
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      for (std::size_t l = 0; l < k; ++l)
        expected[j * k + l] += static_cast<double>(values[i * d + j]) * a[i * k + l];
    }
  }
  const data::DenseRows<float> rows{.values = values, .row_count = n, .column_count = d};
  data::ClassMap({.matrix = rows}, k).adjoint(a, u);
  EXPECT_EQ(u, expected);
}

}  // namespace
}  // namespace fenchel::test
