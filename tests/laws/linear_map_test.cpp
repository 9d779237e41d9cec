// The two products with the data: enclosures against 113 bits, one answer for all storages, one for all thread
// counts.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <vector>

#include "fenchel/data/linear_map.hpp"
#include "tests/support/setup.hpp"

namespace fenchel::test {
namespace {

std::vector<std::vector<double>> random_rows(std::size_t n, std::size_t d, double density, double decades,
                                             std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<double>> rows(n, std::vector<double>(d, 0.0));
  for (auto& row : rows) {
    for (double& x : row) {
      if (random.uniform() > density) continue;
      x = random.normal() * std::pow(10.0, decades * (random.uniform() - 0.5));
    }
  }
  return rows;
}

std::vector<double> random_vector(std::size_t n, double decades, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> v(n);
  for (double& x : v) x = random.normal() * std::pow(10.0, decades * (random.uniform() - 0.5));
  return v;
}

data::Dataset held(std::vector<std::vector<double>> rows, Storage storage) {
  Case setup{.rows = std::move(rows), .labels = {}, .storage = storage};
  setup.labels.assign(setup.rows.size(), 1.0);
  return dataset_of(setup);
}

void expect_enclosed(const std::vector<std::vector<double>>& rows, Storage storage, double constant,
                     double decades) {
  const data::Dataset dataset = held(rows, storage);
  const data::LinearMap map({.matrix = dataset.matrix(), .constant = constant});
  const std::size_t n = map.rows(), d = map.cols();
  const std::vector<double> w = random_vector(d, decades, 3), beta = random_vector(n, decades, 4);
  std::vector<double> z(n), error(n), plain(n);
  map.margins(w, z, error);
  map.margins(w, plain);
  const auto entry = [&](std::size_t i, std::size_t j) { return Quad(j < rows[i].size() ? rows[i][j] : constant); };
  for (std::size_t i = 0; i < n; ++i) {
    Quad exact = 0;
    for (std::size_t j = 0; j < d; ++j) exact += entry(i, j) * Quad(w[j]);
    EXPECT_LE(magnitude(exact - Quad(z[i])), Quad(error[i]));
    EXPECT_LE(magnitude(exact - Quad(plain[i])), 2 * Quad(error[i]));
  }
  std::vector<double> u(d), size(d), simple(d);
  map.adjoint(beta, u, size);
  data::LinearMap(map).adjoint(beta, simple);
  for (std::size_t j = 0; j < d; ++j) {
    Quad exact = 0;
    for (std::size_t i = 0; i < n; ++i) exact += entry(i, j) * Quad(beta[i]);
    EXPECT_LE(magnitude(exact - Quad(u[j])), Quad(map.adjoint_error(size[j])));
    EXPECT_LE(magnitude(exact - Quad(simple[j])), 2 * Quad(map.adjoint_error(size[j])));
  }
}

TEST(LinearMap, EnclosesTheExactProducts) {
  for (const double constant : {0.0, 1.0, 2.5}) {
    for (const double decades : {0.0, 10.0, 200.0}) {
      for (const Storage storage : {Storage::csr64, Storage::dense64}) {
        expect_enclosed(random_rows(300, 7, 0.6, decades, 1), storage, constant, decades);
        expect_enclosed(random_rows(5, 200, 0.3, decades, 2), storage, constant, decades);
      }
    }
  }
}

// So wide that X' beta is summed in bands of columns; in the third case plainly, too.
TEST(LinearMap, EnclosesTheProductsOfBands) {
  for (const double constant : {0.0, 2.5}) {
    expect_enclosed(random_rows(9, 17000, 0.01, 10.0, 13), Storage::csr64, constant, 10.0);
    expect_enclosed(random_rows(5, 66000, 0.01, 200.0, 14), Storage::csr64, constant, 200.0);
    expect_enclosed(random_rows(5, 140000, 0.005, 10.0, 26), Storage::csr64, constant, 10.0);
    expect_enclosed(random_rows(5, 17000, 0.01, 0.0, 16), Storage::csr64, constant, 10.0);
    std::vector<std::vector<double>> floats = random_rows(9, 17000, 0.01, 0.0, 18);
    for (auto& row : floats) {
      for (double& x : row) x = static_cast<double>(static_cast<float>(x));
    }
    expect_enclosed(floats, Storage::csr32, constant, 10.0);
  }
  // A column of a band is summed over all rows, not over a slab of them.
  const std::size_t n = 400;
  const data::Dataset dataset = held(random_rows(n, 16400, 0.03, 0.0, 17), Storage::csr64);
  EXPECT_GE(data::LinearMap({.matrix = dataset.matrix()}).adjoint_error(1.0), static_cast<double>(n) * 0x1p-53);
}

// Sums that cancel to nothing, empty rows and products that underflow.
TEST(LinearMap, EnclosesCancellationAndUnderflow) {
  const std::vector<std::vector<double>> rows{
      {1e16, 1.0, -1e16}, {0.0, 0.0, 0.0}, {1e-200, 1e-300, 1e-200}, {1e300, -1e300, 1e-10}};
  for (const Storage storage : {Storage::csr64, Storage::dense64}) {
    for (const double decades : {0.0, 250.0}) expect_enclosed(rows, storage, 0.0, decades);
    const data::Dataset dataset = held(rows, storage);
    const data::LinearMap map({.matrix = dataset.matrix(), .constant = 0.0});
    std::vector<double> z(4), error(4);
    map.margins(std::vector<double>{1e-200, 1e-300, -1e-200}, z, error);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isfinite(z[i]) && error[i] >= 0.0);
    EXPECT_GT(error[2], 0.0);
  }
}

TEST(LinearMap, StoragesAgree) {
  Case setup = random_setup(loss::Squared{}, 500, 9, Storage::csr32, 3);
  const std::vector<double> w = random_vector(10, 2.0, 5), beta = random_vector(500, 2.0, 6);
  std::vector<std::vector<double>> products;
  for (const Storage storage : {Storage::csr64, Storage::dense64, Storage::csr32, Storage::dense32}) {
    setup.storage = storage;
    const data::Dataset dataset = dataset_of(setup);
    data::LinearMap map({.matrix = dataset.matrix(), .constant = 1.0});
    std::vector<double> all(500), u(10);
    map.margins(w, all);
    map.adjoint(beta, u);
    all.insert(all.end(), u.begin(), u.end());
    const LargeVector norms = map.row_square_norms({});
    all.insert(all.end(), norms.begin(), norms.end());
    products.push_back(all);
  }
  for (std::size_t k = 0; k < products[0].size(); ++k) {
    EXPECT_EQ(products[0][k], products[2][k]);  // the width of exact values changes nothing
    EXPECT_EQ(products[1][k], products[3][k]);
    EXPECT_NEAR(products[0][k], products[1][k], 1e-12 * (1 + std::fabs(products[0][k])) * 500);
  }
}

// Four sums, entry k of a whole four in sum k modulo 4 and what is left over in the first one: on every processor.
double norm_in_fours(const std::vector<double>& entries) {
  double s[4] = {};
  const std::size_t whole = entries.size() / 4 * 4;
  for (std::size_t k = 0; k < entries.size(); ++k) s[k < whole ? k % 4 : 0] += entries[k] * entries[k];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

TEST(LinearMap, NormsOfRowsOfEveryLengthHaveTheBitsOfOneOrder) {
  Random random(31);
  for (const Storage storage : {Storage::csr64, Storage::csr32}) {
    std::vector<std::vector<double>> rows;
    LargeVector expected;
    for (std::size_t length = 0; length < 23; ++length) {
      std::vector<double> entries(length);
      for (double& x : entries) x = static_cast<double>(static_cast<float>(random.normal()));
      expected.push_back(norm_in_fours(entries) + 0.25);
      entries.resize(23);
      rows.push_back(entries);
    }
    const data::Dataset dataset = held(rows, storage);
    EXPECT_EQ(data::LinearMap({.matrix = dataset.matrix(), .constant = 0.5}).row_square_norms({}), expected);
  }
}

void expect_same_bits(const std::vector<std::vector<double>>& rows, Storage storage) {
  const data::Dataset dataset = held(rows, storage);
  const std::size_t n = rows.size(), d = rows.front().size() + 1;
  const std::vector<double> w = random_vector(d, 4.0, 9), beta = random_vector(n, 4.0, 10);
  std::vector<std::vector<double>> products;
  for (const std::size_t threads : {1, 2, 4, 2}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    data::LinearMap map({.matrix = dataset.matrix(), .constant = 1.0});
    std::vector<double> z(n), error(n), u(d), size(d), simple(d), plain(n);
    map.margins(w, z, error);
    map.margins(w, plain);
    map.adjoint(beta, u, size);
    map.adjoint(beta, simple);
    for (const auto& part : {error, plain, u, size, simple}) z.insert(z.end(), part.begin(), part.end());
    products.push_back(z);
  }
  for (const auto& other : products) EXPECT_EQ(products[0], other);
}

// Rows of one value each, which need not be read but once a row: no bit of a result may tell.
// The second size has X'a in bands of columns.
class UniformRows : public testing::TestWithParam<std::pair<std::size_t, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(Sizes, UniformRows, testing::Values(std::pair{400, 300}, std::pair{60, 140000}));
TEST_P(UniformRows, HaveTheSameBits) {
  const auto [n, d] = GetParam();
  std::vector<std::vector<double>> rows = random_rows(n, d, d > 1000 ? 0.002 : 0.2, 0.0, 21);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (double& x : rows[i]) x = x == 0.0 || i % 50 == 7 ? 0.0 : 1.0 / static_cast<double>(1 + i);
  }
  for (const Storage storage : {Storage::csr64, Storage::csr32}) {
    data::Dataset dataset = held(rows, storage);
    auto& csr = std::get<data::CsrStorage>(dataset.storage);
    ASSERT_TRUE(data::rows_are_uniform(csr));
    const auto results = [&](bool told) {
      csr.uniform = told;
      data::LinearMap map({.matrix = dataset.matrix()});
      const std::vector<double> w = random_vector(map.cols(), 3.0, 22), beta = random_vector(map.rows(), 3.0, 23);
      std::vector<double> z(map.rows()), enclosed(z), error(z), u(map.cols()), sum(u), magnitude(u);
      map.margins(w, z);
      map.margins(w, enclosed, error);
      map.adjoint(beta, u);
      map.adjoint(beta, sum, magnitude);
      std::vector<double> made(z), both(u);
      map.margins_and_adjoint(
          w, z, [&](std::size_t begin, std::size_t end) { std::copy_n(&beta[begin], end - begin, &made[begin]); },
          made, both);
      const LargeVector squares = map.row_square_norms({}), absolute = map.row_absolute_sums();
      return std::vector<std::vector<double>>{z,
                                              enclosed,
                                              error,
                                              u,
                                              sum,
                                              magnitude,
                                              both,
                                              {squares.begin(), squares.end()},
                                              {absolute.begin(), absolute.end()}};
    };
    EXPECT_EQ(results(true), results(false));
  }
}

TEST(LinearMap, OneOtherValueMakesRowsNotUniform) {
  std::vector<std::vector<double>> rows = random_rows(9000, 3, 0.7, 0.0, 24);
  for (auto& row : rows) {
    for (double& x : row) x = x == 0.0 ? 0.0 : 2.0;
  }
  rows.push_back({2.0, 2.0, 2.0});
  const auto uniform = [&] {
    return data::rows_are_uniform(std::get<data::CsrStorage>(held(rows, Storage::csr64).storage));
  };
  EXPECT_TRUE(uniform());
  rows.back()[2] = 2.5;
  EXPECT_FALSE(uniform());
  rows.back() = {0.0, 0.0, 2.5};
  EXPECT_TRUE(uniform());
}

TEST(LinearMapParallel, SameBitsForAnyThreadCount) {
  for (const Storage storage : {Storage::csr64, Storage::dense64}) {
    expect_same_bits(random_rows(3 * 4096 + 17, 6, 0.5, 4.0, 8), storage);
  }
  expect_same_bits(random_rows(20, 66000, 0.01, 4.0, 15), Storage::csr64);    // in bands of columns
  expect_same_bits(random_rows(20, 140000, 0.005, 4.0, 25), Storage::csr64);  // without magnitudes, too
  // Many pieces of rows of very different lengths, with empty ones at both ends.
  std::vector<std::vector<double>> ragged = random_rows(900, 1200, 0.6, 4.0, 19);
  for (std::size_t i = 0; i < ragged.size(); ++i) {
    const std::size_t kept = i < 40 || i >= 850 ? 0 : i % 7 == 0 ? 1200 : 20 * (i % 11);
    std::fill(ragged[i].begin() + static_cast<std::ptrdiff_t>(kept), ragged[i].end(), 0.0);
  }
  expect_same_bits(ragged, Storage::csr64);
}

// One pass or two, with any number of threads: the same bits. The third and fourth are too wide for one pass, the fifth too small.
TEST(LinearMapParallel, OnePassHasTheBitsOfTwo) {
  struct Size {
    std::size_t rows, columns;
    double density, passes;
  };
  for (const Size& size : {Size{5003, 7, 0.5, 1.0}, Size{301, 90, 0.9, 1.0}, Size{12, 70000, 0.25, 2.0},
                           Size{12, 140000, 0.01, 2.0}, Size{3, 9, 1.0, 2.0}}) {
    const auto rows = random_rows(size.rows, size.columns, size.density, 4.0, 11);
    for (const Storage storage : {Storage::csr64, Storage::dense64}) {
      const data::Dataset dataset = held(rows, storage);
      data::LinearMap map({.matrix = dataset.matrix(), .constant = 1.5});
      const std::vector<double> w = random_vector(map.cols(), 4.0, 12);
      std::vector<double> expected(map.rows()), beta(map.rows()), z(map.rows()), u(map.cols()), g(map.cols());
      const auto entry = [](double margin) { return margin > 0.0 ? 0.0 : std::exp(0.1 * margin); };
      map.margins(w, expected);
      for (std::size_t i = 0; i < map.rows(); ++i) beta[i] = entry(expected[i]);
      map.adjoint(beta, u);
      for (const std::size_t threads : {1, 2, 4}) {
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        std::fill(beta.begin(), beta.end(), std::nan(""));
        const auto make = [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) beta[i] = entry(z[i]);
        };
        EXPECT_EQ(map.margins_and_adjoint(w, z, make, beta, g), size.passes);
        EXPECT_EQ(z, expected);
        EXPECT_EQ(g, u);
      }
    }
  }
}

}  // namespace
}  // namespace fenchel::test
